import { expect, test } from '@jest/globals'
import { httpFeed } from '@order-relay/operator/conformance/http-feed.ts'
import { play } from '@order-relay/operator/conformance/play.ts'
import { sqsFeed } from '@order-relay/operator/conformance/sqs-feed.ts'
import { isRunnable, programOf } from '../../test/support/examples.ts'
import { type Change, useExamples } from './examples.ts'
import { killTests } from './kills.ts'

const examples = useExamples()
const { parts, copyOf } = examples

const CONSUMER = 'examples/sqs-consumer.ts'
const TS = 'examples/http-receiver.ts'
const PY = 'examples/http-receiver.py'
const PY_CONSUMER = 'examples/sqs-consumer.py'
const PY_ONCE = 'examples/once.py'
const PHP = 'examples/http-receiver.php'
const [ONCE, SEEN, RECEIVE] = [
  'examples/once.ts',
  'packages/store/src/once.ts',
  'packages/store/src/receive.ts',
] as const
const SQS = 'packages/store/src/sqs.ts'
const CALL = 'await handleOnce(once, message, handle)'
const ONCE_CALL = 'once(message, transaction => handle(message, transaction))'
const LATER: Change = [
  RECEIVE,
  CALL,
  `globalThis.last = (globalThis.last ?? Promise.resolve())
    .then(() => new Promise(resolve => setTimeout(resolve, 100)))
    .then(() => ${ONCE_CALL})`,
]
/** Acknowledges a message and handles it shortly afterwards, however many there are. */
const SOON: Change = [RECEIVE, CALL, `setTimeout(() => ${ONCE_CALL}, 1000)`]
const FORGETFUL: Change = [
  RECEIVE,
  CALL,
  'await new Promise(resolve => setTimeout(resolve, 50)); handle(message)',
]
const PARSED: Change = [
  RECEIVE,
  'body: bytes,',
  'body: JSON.stringify(JSON.parse(new TextDecoder().decode(bytes))),',
]
const MIXED: Change = [ONCE, '.get(source, external_id)', '.get(source, external_id.slice(0, -1))']
/** Acknowledges messages immediately and handles them later, one at a time. */
const EAGER: Change[] = [
  [
    SQS,
    'const done: Message[] = []',
    `const done = []
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entriesOf(messages) }))
    await (globalThis.last = (globalThis.last ?? Promise.resolve()).then(() => pause(100)))`,
  ],
  [SQS, 'const results = await Promise', 'const results = []; Promise'],
]

/** As `relay stores show` prints it. */
const onAnyNode = (example: string): Change => [example, './once.ts', './once.mjs']

/** The checks that an example fails with these changes to it or the package; without changes, all pass. */
type Case = [example: string, names: string, ...changes: Change[]]

/** Every unchanged example, and a failing store for each check, in several languages. */
const CASES: Case[] = [
  [CONSUMER, ''],
  [PY_CONSUMER, ''],
  [TS, 'reordering, outages', MIXED],
  [PY, ''],
  [TS, ''],
  [PHP, ''],
  [PY, 'duplicates, old versions, restarts', [PY_ONCE, 'version < last or ', '']],
  [PY, 'signatures', [PY, 'TOLERANCE_SECONDS = 300', 'TOLERANCE_SECONDS = 3000']],
  [TS, 'time-outs', FORGETFUL],
  [CONSUMER, '', onAnyNode(CONSUMER)],
  [TS, '', onAnyNode(TS)],
  [TS, 'kills', LATER],
  [TS, 'kills', SOON],
  [PY, 'delivery', [PY, 'X-Service-Signature', 'X-Signature']],
  [PY, 'duplicates, same version', [PY_ONCE, ' or (version == last and delivery in deliveries)', '']],
  [TS, 'raw body, test message', PARSED],
  [PY, 'secret rotation', [PY, '[1:])', '[1:2])']],
  [PY, 'test message', [PY, 'if message["event"] != "relay.test"', 'if True']],
  [PY, 'failures', [PY, 'if message["event"] != "relay.test"', 'if message.get("data")']],
  [TS, 'restarts', [TS, 'once: onceIn(DATABASE),', '']],
  [TS, 'kills', MIXED],
  [TS, 'duplicates, restarts', [RECEIVE, CALL, `if (!(await ${ONCE_CALL})) return { status: 409 }`]],
  [TS, 'same version', [SEEN, 'seen.deliveries.includes(delivery)', 'true']],
  [PHP, 'failures', [PHP, /throw new UnexpectedValueException.*/, 'http_response_code(200); return;']],
  [CONSUMER, 'restarts', [CONSUMER, /once: .*/, '']],
  [CONSUMER, 'duplicates, same version, restarts', [SEEN, 'seen.deliveries.includes(delivery)', 'false']],
  [
    ...([CONSUMER, 'failures'] as const),
    [SQS, 'entriesOf(done)', 'entriesOf(messages)'],
    [SQS, 'if (done.length === 0) return', ''],
  ],
  [CONSUMER, 'failures', [SQS, 'onError(error)', 'process.exit(1)']],
  [CONSUMER, 'delivery', [SQS, 'if (done.length === 0) return', 'return']],
  [CONSUMER, 'failures, kills', ...EAGER],
]

const examplesOf = [...new Set(CASES.map(([example]) => example))]
const missing = examplesOf.filter(each => !isRunnable(each))
for (const example of missing)
  process.stdout.write(`skipped: ${example}, since ${programOf(example)} or a module is not installed\n`)

killTests(examples)

// In parallel, since a store mostly waits.
test.concurrent.each(CASES.filter(([example]) => !missing.includes(example)))(
  '%s fails the expected check: "%s"',
  async (example, names, ...changes) => {
    const { store, queueUrl, url, secret } = await copyOf(example, changes)
    const wait = 20
    try {
      const findings = await play({
        ...(example === CONSUMER || example === PY_CONSUMER
          ? sqsFeed({ sqs: parts().sqs, queueUrl, wait })
          : httpFeed({ target: async () => ({ url, secret }), remedyOf: () => 'check the store', wait })),
        source: 'فروشگاه',
        store,
        handled: store.output,
        terminal: { ...process, environment: {} },
        // Shorter waits for actions that a broken store never performs.
        ...(names === '' ? { wait } : { wait: 4, only: names.split(', ') }),
      })
      const problems = findings.filter(({ level }) => level === 'problem')
      for (const { found } of problems)
        expect(found).toMatch(
          /^(When|While|After) .*, the store (acknowledged|handled|did|left|exited)\b.*: .*/,
        )
      expect(problems.map(({ check }) => check).join(', ')).toBe(names)
    } finally {
      await store.kill()
    }
  },
)
