import { spawnSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { httpFeed, sqsFeed } from '../../cli/conformance/feeds.ts'
import { type Options, play } from '../../cli/conformance/play.ts'
import type { StoreProcess } from '../../cli/conformance/store.ts'
import { eachWithFolder } from '../support/folder.ts'
import { type Change, httpStore, sqsStore, useQueues } from './stores.ts'

const folder = eachWithFolder()
const parts = useQueues()

/** The names of the checks that a store fails; what is said of each names the consequence. */
const problemsOf = async (
  store: StoreProcess,
  options: Pick<Options, 'feed' | 'http' | 'wait'>,
  names: string,
) => {
  try {
    const findings = await play({
      ...{ ...options, source: 'فروشگاه', store, handled: store.output },
      ...(names !== '' && { only: names.split(', ') }),
    })
    const problems = findings.filter(({ level }) => level === 'problem')
    for (const { found } of problems)
      expect(found).toMatch(/^(When|While|After) .*, the store (acknowledged|handled|did|left|ended) .*: .*/)
    return problems.map(({ check }) => check).join(', ')
  } finally {
    await store.kill()
  }
}

const [TS, PY] = ['examples/http-receiver.ts', 'examples/http-receiver.py'] as const
const [ONCE, SEEN, RECEIVE] = ['examples/once.ts', 'kit/src/once.ts', 'kit/src/receive.ts'] as const
const CALL = 'await once(message, transaction => handle(message, transaction))'
const LATER = `
  globalThis.last = (globalThis.last ?? Promise.resolve())
    .then(() => new Promise(resolve => setTimeout(resolve, 20)))
    .then(() => once(message, transaction => handle(message, transaction)))`

/** What each check names: one change to an example or to the package. The first is none. */
type Broken = [names: string, ...changes: Change[]]

const BROKEN_TS: Broken[] = [
  [''],
  ['restarts', [TS, 'once: onceIn(DATABASE),', '']],
  ['kills', [RECEIVE, CALL, LATER]],
  ['time-outs', [RECEIVE, CALL, `await new Promise(resolve => setTimeout(resolve, 50)); handle(message)`]],
  ['duplicates, restarts', [RECEIVE, CALL, `if (!(${CALL})) return { status: 409 }`]],
  ['same version', [SEEN, 'seen.deliveries.includes(delivery)', 'true']],
  [
    'reordering, outages, kills',
    [ONCE, '.get(source, external_id)', '.get(source, external_id.slice(0, -1))'],
  ],
]
const BROKEN_PY: Broken[] = [
  [''],
  ['duplicates, same version', [PY, ' or (version == last and delivery in deliveries)', '']],
  ['duplicates, old versions, restarts', [PY, 'version < last or ', '']],
  ['signatures', [PY, 'TOLERANCE_SECONDS = 300', 'TOLERANCE_SECONDS = 3000']],
  ['secret exchange', [PY, '[1:])', '[1:2])']],
  ['test message', [PY, 'if message["event"] != "relay.test"', 'if True']],
  ['failures', [PY, 'if message["event"] != "relay.test"', 'if message.get("data")']],
]
const BROKEN_PHP: Broken[] = [
  [''],
  [
    'failures',
    [
      'examples/http-receiver.php',
      /throw new UnexpectedValueException.*/,
      'http_response_code(200); return;',
    ],
  ],
]

describe.each<[string, Broken[], (port: number) => string[]]>([
  [process.execPath, BROKEN_TS, () => [TS]],
  ['python3', BROKEN_PY, () => [PY]],
  // PHP's own default, with which it answers 200 to an exception.
  [
    'php',
    BROKEN_PHP,
    port => ['-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, 'examples/http-receiver.php'],
  ],
])('the receiver by %s', (program, broken, argsFor) => {
  const isInstalled = spawnSync(program, ['--version']).status === 0
  if (!isInstalled) process.stdout.write(`skipped: the example for ${program}, which is not installed\n`)
  const here = isInstalled ? test : test.skip
  here.each(broken)('fails what is broken: "%s"', async (names, ...changes) => {
    const { url, secret, store } = await httpStore(folder(), changes, program, argsFor)
    const { feed, send } = httpFeed({ url, secret, wait: 20 })
    expect(await problemsOf(store, { feed, http: { send, secret }, wait: 4 }, names)).toBe(names)
  })
})

const [SQS, CONSUMER] = ['kit/src/sqs.ts', 'examples/sqs-consumer.ts']
const DELETE =
  'await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entriesOf(messages) }))'

test.each<Broken>([
  [''],
  ['restarts', [CONSUMER, /once: .*/, '']],
  ['duplicates, same version, restarts', [SEEN, 'seen.deliveries.includes(delivery)', 'false']],
  ['failures', [SQS, 'entriesOf(done)', 'entriesOf(messages)'], [SQS, 'if (done.length === 0) return', '']],
  ['failures', [SQS, 'onError(error)', 'process.exit(1)']],
  ['delivery', [SQS, 'if (done.length === 0) return', 'return']],
  ['failures, kills', [SQS, 'const done: Message[] = []', `const done = []; ${DELETE}; await pause(300)`]],
])('the consumer fails what is broken: "%s"', async (names, ...changes) => {
  const { sqs, queueUrl, store } = await sqsStore(parts(), folder(), changes)
  expect(await problemsOf(store, { feed: sqsFeed({ sqs, queueUrl, wait: 20 }), wait: 4 }, names)).toBe(names)
})
