import { randomUUID } from 'node:crypto'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SQS } from '@aws-sdk/client-sqs'
import { afterEach, expect, test } from '@jest/globals'
import type { FeedError } from '@order-relay/lib/feeds/deliver.ts'
import { verify } from '@order-relay/lib/protocol/signature.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { createQueue, startParts } from '@order-relay/test-support/parts.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { listening } from '@order-relay/test-support/server.ts'
import { until } from '@order-relay/test-support/until.ts'
import { conformance } from '../conformance/conformance.ts'
import { httpFeed, type Target } from '../conformance/http-feed.ts'
import { faultIn } from '../conformance/log.ts'
import { type Playing, play } from '../conformance/play.ts'
import { sqsFeed } from '../conformance/sqs-feed.ts'
import { storeProcess } from '../conformance/store-process.ts'
import { textOf } from '../core/coded.ts'
import { type Context, createContext } from '../core/context.ts'
import { endpointRemedy } from '../model/remedies.ts'
import { messageMaker } from '../model/sample-messages.ts'

const folder = useFolder()
const secret = 'secret of the store'
const remedyOf = (error: FeedError) =>
  endpointRemedy({ flags: ' --local' }, { source: 'old-shop', feed: { disable_after: 60 } }, error)
const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
const terminal = { stdin, stdout, stderr, environment: {} }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Tests a receiver written from the interface document, which handles a delivery once. */
const findingsOf = async ({ verifies = true, answer = 200, notes = true } = {}) => {
  const handled = new Set<string>()
  const received: { names: string; headers: string[]; signature: string }[] = []
  const { url, close } = await listening(async (request, response) => {
    const body = await buffer(request)
    const signature = String(request.headers['x-service-signature'])
    const now = Math.floor(Date.now() / 1000)
    if (verifies && !verify({ secrets: [secret], header: signature, body, now }).valid) {
      response.writeHead(401).end()
      return
    }
    const { event, data, delivery, ...more } = JSON.parse(body.toString())
    if (data === undefined) response.writeHead(500).end()
    else {
      if (notes) handled.add(delivery)
      received.push({
        names: [event, ...Object.keys(more)].join(),
        headers: Object.keys(request.headers).filter(name => /^(relay|webhook)-/.test(name)),
        signature,
      })
      response.writeHead(answer).end()
    }
  })
  closing.push(close)
  const findings = await play({
    source: 'old-shop',
    exact: true,
    ...httpFeed({ target: async () => ({ url, secret }), remedyOf, wait: 5 }),
    wait: notes ? 5 : 1,
    handled: async () => [...handled].join('\n'),
    terminal,
  })
  return { findings, received }
}

test('sends an exact store only what the service sends, and skips the checks of versions', async () => {
  const { findings, received } = await findingsOf()
  expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
  expect(findings).toContainEqual(
    expect.objectContaining({
      check: 'same version, old versions, reordering, test message',
      found: 'not applicable',
    }),
  )
  for (const { names, headers, signature } of received) {
    expect([names, headers]).toEqual(['order.updated', ['relay-version', 'relay-cause']])
    expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  }
})

test.each([
  [{ answer: 401 }, /answered 401/, /the secret of its feed/],
  [{ answer: 404 }, /answered 404/, /check the path of the URL that the store registers/],
  [{ answer: 307 }, /answered 307/, /does not follow redirects/],
  [{ answer: 500 }, /answered 500/, /find the error in the output of the store/],
  [{ notes: false }, /acknowledged version 1/, /log the delivery/],
])('the remedy of the first message depends on what the store did: %j', async (options, found, remedy) => {
  const { findings } = await findingsOf(options)
  expect(findings[0]).toMatchObject({ check: 'delivery', found: expect.stringMatching(found) })
  expect(textOf(findings[0]?.remedy ?? '')).toMatch(remedy)
})

test('reports an exact store that verifies no signature', async () => {
  const { findings } = await findingsOf({ verifies: false })
  const problems = findings.filter(({ level }) => level === 'problem')
  expect(problems).toMatchObject([{ check: 'signatures' }])
})

test("runs the user's own program, and immediately reports its exit with the last lines of output", async () => {
  const program = folder('node')
  await writeFile(program, '#!/bin/sh\nfor line in $(seq 25); do echo "line $line"; done\nexit 3\n')
  await chmod(program, 0o700)
  // As npx sets it.
  const PATH = [join(ROOT, 'node_modules/.bin'), folder(), process.env.PATH].join(':')
  const store = storeProcess(['node', 'store.mjs'], { PATH })
  const { relay: port } = await freePorts()
  const patience = { wait: 600, assertUseful: store.assertAlive }
  const findings = await play({
    source: 'shop',
    store,
    handled: store.output,
    terminal,
    ...patience,
    ...httpFeed({
      target: async () => ({ url: `http://127.0.0.1:${port}/`, secret }),
      remedyOf,
      ...patience,
    }),
  })
  const printed = Array.from({ length: 20 }, (_, index) => `\n        line ${index + 6}`).join('')
  expect(findings[0]).toMatchObject({
    check: 'delivery',
    level: 'problem',
    found: `When the first message arrived, the store exited with code 3: nothing is handled until it is restarted; its last output:${printed}`,
    remedy: 'find the reason for its exit in its output',
  })
})

test("keeps the AWS SDK's warning about old versions of Node out of a store's output", async () => {
  const program = `
    Object.defineProperty(process, 'version', { value: 'v20.0.0' })
    const { SQSClient } = require('@aws-sdk/client-sqs')
    new SQSClient({ region: 'eu-central-1' })
    console.log('started')`
  const store = storeProcess([process.execPath, '-e', program], process.env)
  await store.start()
  await until(() => !store.isRunning())
  expect(await store.output()).toBe('started\n')
})

test('distinguishes a queue that nothing reads from a store that does not delete a message in time', async () => {
  const parts = await startParts()
  closing.push(parts.close)
  const queueUrl = await createQueue(parts.sqs, 'feed-shop.fifo')
  const { feed } = sqsFeed({ sqs: parts.sqs, queueUrl, wait: 1 })
  const message = messageMaker({ source: 'shop' }, 'slow')
  const [sent, behind] = [message('1', 1), message('1', 2)]
  await feed.publish([sent])
  const left = /^left 1 message in the queue for 1 s/
  expect(await feed.settle()).toEqual({ wrong: expect.stringMatching(left) })
  await parts.sqs.receiveMessage({ QueueUrl: queueUrl, VisibilityTimeout: 30 })
  const slow = expect.stringContaining('the store is slower than --wait')
  expect(await feed.settle()).toEqual({ wrong: expect.stringMatching(left), remedy: slow })
  expect(await feed.takeBack(sent, behind)).toEqual({
    wrong: expect.stringContaining('invisible for more than 1 s'),
    remedy: expect.stringContaining('visibility timeout'),
  })
})

test('does not report "No problems" about checks that it cannot judge, and refuses names of no check', async () => {
  const { url, close } = await listening((_request, response) => response.end())
  closing.push(close)
  const context = {
    ...createContext({ local: true }, terminal),
    stores: () => [{ source: 'shop', feed: { http: url, disable_after: 60 } }],
    parameters: {
      ...createContext({ local: true }, terminal).parameters,
      below: async () => [{ name: 'shop', value: secret, modified: new Date() }],
    },
  }
  const run = (only: string, handled?: string) =>
    conformance(context, 'shop', { wait: 1, only, handled }, { args: ['shop'] })
  for (const only of ['duplicates', 'delivery,duplicates'])
    expect(await run(only)).toMatchObject({
      ok: false,
      data: { ok: false, problems: 0 },
      text: expect.stringMatching(/^Cannot judge "delivery", "duplicates" of the store "shop", /),
    })
  await expect(run('duplicates, raw-body')).rejects.toMatchObject({
    exit: 2,
    message: expect.stringMatching(
      /^Cannot test .*no check "raw-body"; the checks are delivery, .*raw body.*kills$/,
    ),
  })
})

test('without a log, does not state that a store that answers as expected handled nothing', async () => {
  const { url, close } = await listening(async (request, response) => {
    const body = await buffer(request)
    const header = String(request.headers['x-service-signature'])
    const now = Math.floor(Date.now() / 1000)
    response.writeHead(verify({ secrets: [secret], header, body, now }).valid ? 200 : 401).end()
  })
  closing.push(close)
  const only = ['signatures', 'test message']
  const feed = httpFeed({ target: async () => ({ url, secret }), remedyOf, wait: 1 })
  const findings = await play({ source: 'shop', ...feed, wait: 1, only, terminal })
  const remedy = expect.stringMatching(/^specify the log of handled messages/)
  expect(findings).toContainEqual({
    check: 'signatures',
    level: 'note',
    found:
      'When a signature was not valid, the store answered 401; whether it handled the message is unknown',
    remedy,
  })
  expect(findings).toContainEqual({
    check: 'test message',
    level: 'note',
    found: expect.stringMatching(
      /the store acknowledged relay\.test; whether it handled the message is unknown$/,
    ),
    remedy,
  })
})

test('shows how long it waits for a store that does not log a message', async () => {
  const { url, close } = await listening((_request, response) => response.end())
  closing.push(close)
  const shown: string[] = []
  const { parameters, ...context } = createContext(
    { local: true },
    { ...terminal, onProgress: text => void shown.push(text) },
  )
  const store = {
    ...context,
    stores: () => [{ source: 'shop', feed: { http: url, disable_after: 60 } }],
    parameters: { ...parameters, below: async () => [{ name: 'shop', value: secret, modified: new Date() }] },
  }
  const handled = folder('handled')
  await writeFile(handled, '')
  const options = { wait: 3, only: 'delivery', handled }
  expect((await conformance(store, 'shop', options, { args: ['shop'] })).ok).toBe(false)
  expect(shown).toContain('Waiting for the store (--wait): 2 of 3 s')
})

/** The finding "same version" of an HTTP store that handles each delivery once, and answers other events like this. */
const sameVersion = async (answer: number) => {
  const handled = new Set<string>()
  const { url, close } = await listening(async (request, response) => {
    const { event, delivery } = JSON.parse((await buffer(request)).toString())
    if (event !== 'order.updated') return response.writeHead(answer).end()
    handled.add(delivery)
    return response.end()
  })
  closing.push(close)
  const findings = await play({
    source: 'shop',
    ...httpFeed({ target: async () => ({ url, secret }), remedyOf, wait: 5 }),
    wait: 5,
    handled: async () => [...handled].join('\n'),
    only: ['same version'],
    terminal,
  })
  return findings.find(({ check }) => check === 'same version')
}

test('tells a store that refuses unknown events to acknowledge them, and accepts a store that ignores them', async () => {
  expect(await sameVersion(400)).toMatchObject({
    level: 'problem',
    found: expect.stringContaining(
      'the store did not acknowledge "order.rejected" of version 1 (it answered 400)',
    ),
    remedy: 'acknowledge events that the store does not know',
  })
  expect(await sameVersion(204)).toMatchObject({ level: 'ok' })
})

test('names another reader of the queue as the possible cause of a message that the store did not handle', () => {
  const message = messageMaker({ source: 'shop' }, 'lost')('1', 1)
  const { feed } = sqsFeed({ sqs: new SQS({ region: 'eu-central-1' }), queueUrl: '', wait: 1 })
  expect(faultIn(feed, '', { handled: [message] })).toMatchObject({
    wrong: expect.stringContaining('another program reads the queue'),
    remedy: expect.stringContaining('stop any other program that reads the queue'),
  })
})

test('does not blame another reader of the queue for a message whose version was handled with another delivery', () => {
  const message = messageMaker({ source: 'shop' }, 'same')
  const [first, second] = [message('1', 1), message('1', 1, 'order.rejected')]
  const { feed } = sqsFeed({ sqs: new SQS({ region: 'eu-central-1' }), queueUrl: '', wait: 1 })
  // The remedy is then the one of the check.
  expect(faultIn(feed, first.delivery, { handled: [first, second] })).toEqual({
    wrong: expect.stringMatching(
      /^did not handle "order\.rejected" of version 1 after it had handled the other message of this version: /,
    ),
  })
})

/** A store in this process that the checks may start and kill. */
const storeOf = (
  log: readonly string[],
  { started, killed }: { started?: () => unknown; killed?: () => Promise<unknown> },
): NonNullable<Playing['store']> => {
  let isRunning = false
  return {
    isRunning: () => isRunning,
    ends: () => 0,
    assertAlive: () => undefined,
    output: async () => log.join('\n'),
    start: async () => {
      isRunning = true
      started?.()
    },
    kill: async () => {
      await killed?.()
      isRunning = false
    },
  }
}

/**
 * The finding "kills" of a store that is killed before it answers one message.
 *
 * @param then how it handles this message after its restart: again, again after a newer version, or not, since the first
 * transaction was committed before the line of the log
 */
const killsOf = async (then: 'again' | 'late' | 'unlogged') => {
  const log: string[] = []
  let unanswered: { delivery: string; destroy: () => unknown } | undefined
  const { url, close } = await listening(async (request, response) => {
    const { data, delivery, version } = JSON.parse((await buffer(request)).toString())
    const isIt = /-kill-3$/.test(data?.external_id)
    const isUnlogged = isIt && version === 17 && then === 'unlogged'
    if (data !== undefined && unanswered?.delivery !== delivery && !isUnlogged) log.push(delivery)
    if (isIt && unanswered === undefined) unanswered = { delivery, destroy: () => response.destroy() }
    else {
      if (isIt && !isUnlogged && version === (then === 'late' ? 18 : 17)) log.push(unanswered?.delivery ?? '')
      response.end()
    }
  })
  closing.push(close)
  const store = storeOf(log, {
    killed: async () => {
      await until(() => unanswered !== undefined)
      unanswered?.destroy()
    },
  })
  const findings = await play({
    source: 'shop',
    ...httpFeed({ target: async () => ({ url, secret }), remedyOf, wait: 5 }),
    wait: 5,
    store,
    handled: store.output,
    only: ['kills'],
    terminal,
  })
  return findings.find(({ check }) => check === 'kills')
}

test('reports how many messages a killed store handled again, instead of stating that it handled each once', async () => {
  expect(await killsOf('again')).toEqual({
    check: 'kills',
    level: 'ok',
    found:
      'When it was killed while handling a message, the store handled each change at least once and in order; it handled 1 message again after it was killed and restarted',
    remedy: expect.stringMatching(/only if the kill rolled back the first transaction/),
  })
})

test('does not state that a change is lost if a killed store may have applied it without logging it', async () => {
  expect(await killsOf('unlogged')).toMatchObject({
    level: 'problem',
    found:
      'When it was killed while handling a message, the store acknowledged version 17, which its log does not have: either the change is lost, or the store was killed after it had applied the change and before it logged it',
    remedy: expect.stringMatching(/print the delivery before the commit/),
  })
})

test('reports a killed store that handles a message again after a newer version', async () => {
  expect(await killsOf('late')).toMatchObject({
    level: 'problem',
    found: expect.stringMatching(/handled version 17 again after version 18: the order reverts/),
  })
})

/**
 * Findings about a store that registers its URL this long after each start, with a new secret; without a time, it never
 * registers one.
 */
const findingsOfRegistering = async (afterMs: number | undefined) => {
  const log: string[] = []
  let own = ''
  let registered: Target | undefined
  const { url, close } = await listening(async (request, response) => {
    const body = await buffer(request)
    const header = String(request.headers['x-service-signature'])
    const now = Math.floor(Date.now() / 1000)
    if (!verify({ secrets: [own], header, body, now }).valid) return response.writeHead(401).end()
    const { delivery } = JSON.parse(body.toString())
    if (!log.includes(delivery)) log.push(delivery)
    return response.end()
  })
  closing.push(close)
  const store = storeOf(log, {
    // The process is running before it has registered its URL.
    started: async () => {
      own = randomUUID()
      if (afterMs === undefined) return
      await sleep(afterMs)
      registered = { url, secret: own }
    },
  })
  const patience = { wait: afterMs === undefined ? 1 : 5 }
  return play({
    source: 'shop',
    ...httpFeed({ target: async () => registered, registers: true, remedyOf, ...patience }),
    ...patience,
    store,
    handled: store.output,
    only: ['restarts', 'secret rotation'],
    terminal,
  })
}

test('tests a store that registers its URL at each start with the secret of that start, the first one included', async () => {
  const findings = await findingsOfRegistering(900)
  expect(findings.map(({ check, level }) => [check, level])).toEqual([
    ['delivery', 'ok'],
    ['secret rotation', 'ok'],
    ['restarts', 'ok'],
  ])
})

test('tells a store that registers no URL when it starts to register one', async () => {
  const [first] = await findingsOfRegistering(undefined)
  expect(first).toMatchObject({
    check: 'delivery',
    level: 'problem',
    found: expect.stringMatching(
      /^When the first message arrived, the store did not acknowledge version 1 \(it has registered no webhook URL\)/,
    ),
    remedy: 'register the URL when the store starts: PUT /api/v1/webhook/',
  })
})

test('reports that a store refuses the test event, without stating that the relay would retry the event', async () => {
  const { url, close } = await listening(async (request, response) => {
    const { event } = JSON.parse((await buffer(request)).toString())
    response.writeHead(event === 'relay.test' ? 422 : 200).end()
  })
  closing.push(close)
  const feed = httpFeed({ target: async () => ({ url, secret }), remedyOf, wait: 5 })
  const findings = await play({ source: 'shop', ...feed, wait: 5, only: ['test message'], terminal })
  expect(findings).toContainEqual({
    check: 'test message',
    level: 'problem',
    found:
      'When "relay stores test" sent relay.test, which has no order, the store did not acknowledge relay.test (it answered 422): the test of its endpoint fails',
    remedy: 'answer 2xx and do nothing',
  })
})

test('does not blame the verification of signatures for a message that the store acknowledged and did not handle', async () => {
  const handled: string[] = []
  const { url, close } = await listening(async (request, response) => {
    const { version, delivery } = JSON.parse((await buffer(request)).toString())
    // Compares the versions of different orders.
    if (version > handled.length) handled.push(delivery)
    response.end()
  })
  closing.push(close)
  const findings = await play({
    source: 'shop',
    ...httpFeed({ target: async () => ({ url, secret }), remedyOf, wait: 1 }),
    wait: 1,
    handled: async () => handled.join('\n'),
    only: ['raw body', 'secret rotation'],
    terminal,
  })
  const problems = findings.filter(({ level }) => level === 'problem')
  const remedy = expect.stringMatching(/^acknowledge a message only after it is handled/)
  expect(problems).toMatchObject([
    { check: 'raw body', remedy },
    { check: 'secret rotation', remedy },
  ])
})

test('tells a store that handles the test event like an order that it must do nothing', async () => {
  const handled: string[] = []
  const { url, close } = await listening(async (request, response) => {
    handled.push(JSON.parse((await buffer(request)).toString()).delivery)
    response.end()
  })
  closing.push(close)
  const findings = await play({
    source: 'shop',
    ...httpFeed({ target: async () => ({ url, secret }), remedyOf, wait: 5 }),
    wait: 5,
    handled: async () => handled.join('\n'),
    only: ['test message'],
    terminal,
  })
  expect(findings).toContainEqual({
    check: 'test message',
    level: 'problem',
    found:
      'When "relay stores test" sent relay.test, which has no order, the store handled it like a change of an order: a test of the connection must not change anything',
    remedy: 'answer 2xx and do nothing',
  })
})

test('does not blame a running store for refusing the earlier secret when it registers its URL again', async () => {
  let own = secret
  let requests = 0
  const { url, close } = await listening(async (request, response) => {
    const body = await buffer(request)
    requests += 1
    if (requests === 2) own = randomUUID()
    const header = String(request.headers['x-service-signature'])
    const { valid } = verify({ secrets: [own], header, body, now: Math.floor(Date.now() / 1000) })
    response.writeHead(valid ? 200 : 401).end()
  })
  closing.push(close)
  const context = {
    ...createContext({ local: true }, terminal),
    stores: () => [{ source: 'shop', feed: { disable_after: 60 } }],
    nameOf: (table: string) => table,
    dynamodb: { send: async () => ({ Item: { url: { S: url }, secret: { S: own } } }) },
  } as unknown as Context
  const { data } = await conformance(context, 'shop', { wait: 1, only: 'raw body' }, { args: ['shop'] })
  expect(requests).toBe(3)
  expect(data).toMatchObject({ problems: 0 })
})
