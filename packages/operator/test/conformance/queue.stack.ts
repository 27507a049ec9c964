import { randomUUID } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { sendInOrder } from '@order-relay/lib/platform/fifo.ts'
import { REGION } from '@order-relay/local/settings.ts'
import { CREDENTIALS, createQueue, type Parts, startParts } from '@order-relay/test-support/parts.ts'
import { until } from '@order-relay/test-support/until.ts'
import { consumeFeed } from 'order-relay-store/sqs'
import { orderUpdated } from 'order-relay-store/testing'
import { testStore } from '../../conformance/conformance.ts'
import { type Playing, PREFIX } from '../../conformance/play.ts'
import { storeProcess } from '../../conformance/store-process.ts'
import { createContext } from '../../core/context.ts'
import { cannot } from '../../core/errors.ts'
import { depthOf } from '../../core/queue.ts'

let parts: Parts
let url: string
beforeEach(async () => {
  parts = await startParts()
  url = await createQueue(parts.sqs, 'feed-shop.fifo')
})
const stop: AbortController[] = []
afterEach(async () => {
  for (const each of stop.splice(0)) each.abort()
  await parts.close()
})

const contextOf = () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const environment = {
    ...process.env,
    AWS_ENDPOINT_URL_SQS: parts.endpoints.sqs,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  }
  return {
    ...createContext({ local: true }, { stdin, stdout, stderr, environment }),
    sqs: parts.sqs,
    queueUrl: async () => url,
    stores: () => [{ source: 'shop', feed: 'sqs' as const }],
  }
}

const exiting = [process.execPath, '-e', 'process.exit(3)']
/** A store whose visibility timeout is two seconds, so that a restart takes no longer. */
const consumer = (handle = 'console.log(delivery)') => [
  process.execPath,
  '--input-type=module',
  '-e',
  `import { SQSClient } from '@aws-sdk/client-sqs'
  import { consumeFeed } from 'order-relay-store/sqs'
  await consumeFeed({
    sqs: new SQSClient(),
    queueUrl: '${url}',
    visibilityTimeout: 2,
    handle: ({ delivery }) => ${handle},
  })`,
]
const run = (
  command: readonly string[],
  options: { wait?: number; only?: string } = {},
  watched: Pick<Playing, 'signal' | 'onFinding'> = {},
) => testStore(contextOf(), 'shop', { wait: 5, ...options }, watched, command)

const send = async (external_id: string, json?: string) => {
  const order = { source: 'shop', external_id }
  const id = randomUUID()
  await sendInOrder(parts.sqs, url, order, { id, json: json ?? JSON.stringify({ data: order }) })
}
const depth = async () => (await depthOf(contextOf(), 'feed-shop.fifo')).all
/** Another consumer of the queue; returns the orders that it has handled. */
const consume = () => {
  const controller = new AbortController()
  const handled: string[] = []
  stop.push(controller)
  consumeFeed({
    sqs: parts.sqs,
    queueUrl: url,
    signal: controller.signal,
    onError: () => undefined,
    handle: ({ data }) => handled.push(data.external_id),
  })
  return handled
}
const receive = async (VisibilityTimeout: number) => {
  const { Messages: [message] = [] } = await parts.sqs.receiveMessage({ QueueUrl: url, VisibilityTimeout })
  return message?.ReceiptHandle
}

test('removes messages of an earlier run from the queue, and refuses to run while a message of a real order waits', async () => {
  await send(`${PREFIX}1`)
  expect((await run(exiting))[0]?.found).toMatch('the store exited with code 3')
  expect(await depth()).toBe(0)
  // The killed store had received the message.
  await send(`${PREFIX}1`)
  const ReceiptHandle = await receive(30)
  await expect(run(exiting, { wait: 1 })).rejects.toThrow(
    '1 message in feed-shop.fifo stayed invisible for 1 s (--wait)',
  )
  await parts.sqs.deleteMessage({ QueueUrl: url, ReceiptHandle })
  await send('1')
  await expect(run(exiting)).rejects.toThrow('1 message of real orders may wait in feed-shop.fifo')
})

test('refuses to start a store while another consumer reads its queue', async () => {
  const handled = consume()
  await expect(run(consumer(), { wait: 25 })).rejects.toThrow(
    /^Cannot test the store "shop": another program uses its queue, feed-shop\.fifo; stop it: .*consumer.* another run/,
  )
  expect(handled.filter(order => !/^relay-conformance-.*-probe$/.test(order))).toEqual([])
})

test('starts a store shortly after another consumer was killed while it waited for messages', async () => {
  const killed = storeProcess(consumer(), contextOf().terminal.environment)
  await killed.start()
  await send('1', JSON.stringify(orderUpdated({ external_id: '1' })))
  await until(async () => (await depth()) === 0)
  await killed.kill()
  expect((await run(exiting))[0]?.found).toMatch('the store exited with code 3')
})

test('tells a store whose handler throws to find the error in its output', async () => {
  const [first] = await run(consumer("Promise.reject(new Error('no table'))"))
  expect(first).toMatchObject({
    check: 'delivery',
    found: expect.stringMatching(/left 1 message in the queue for 5 s .*its last output:.*no table/s),
    remedy: expect.stringMatching(/^find the error in its output/),
  })
})

/** A store that handles the messages of each batch in reverse. */
const reversed = () => [
  process.execPath,
  '--input-type=module',
  '-e',
  `import { SQS } from '@aws-sdk/client-sqs'
  const sqs = new SQS()
  const QueueUrl = '${url}'
  for (;;) {
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 5 })
    for (const { Body, ReceiptHandle } of Messages.reverse()) {
      console.log(JSON.parse(Body).delivery)
      await sqs.deleteMessage({ QueueUrl, ReceiptHandle })
    }
  }`,
]

test('finds a store that handles the messages of a batch in reverse', async () => {
  const findings = await run(reversed(), { wait: 25, only: 'outages' })
  expect(findings).toContainEqual(
    expect.objectContaining({
      check: 'outages',
      found: expect.stringContaining('the order reverts to an older state'),
    }),
  )
})

test('a second run refuses to start, and does not change the verdicts of the first', async () => {
  const second = { started: false, error: '' }
  const onFinding = () => {
    if (second.started) return
    second.started = true
    run(['/nonexistent']).catch(({ message }) => {
      second.error = message
    })
  }
  const only = 'failures,outages'
  const findings = await run(consumer(), { wait: 25, only }, { onFinding })
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([])
  await until(() => second.error !== '')
  expect(second.error).toMatch('another program uses its queue')
})

test('an interrupted run removes its messages from the queue, including one that the store cannot read', async () => {
  const controller = new AbortController()
  const { signal } = controller
  let isDelivered = false
  const onFinding = () => {
    isDelivered = true
  }
  const running = run(consumer(), { wait: 25, only: 'failures' }, { signal, onFinding })
  const interrupted = expect(running).rejects.toThrow(/^Cannot finish: interrupted$/)
  await until(async () => isDelivered && (await depth()) > 0)
  controller.abort(cannot('finish', 'interrupted'))
  await interrupted
  expect(await depth()).toBe(0)
})

test('a test of a running store neither removes messages of another test nor ignores them', async () => {
  await send(`${PREFIX}1`)
  await expect(run([], { wait: 1 })).rejects.toThrow(
    '1 message of another test stayed in feed-shop.fifo for 1 s (--wait); start the store, or wait until the other test has ended',
  )
  expect(await depth()).toBe(1)
})

test('a test of a running store names the command that also judges restarts and kills', async () => {
  const handled = consume()
  const findings = await run([], { only: 'duplicates' })
  expect(handled).toHaveLength(3)
  expect(findings).toContainEqual({
    check: 'failures, restarts, outages, kills',
    level: 'note',
    found: 'not judged',
    remedy: 'run relay conformance shop --local -- <command that starts the store>',
  })
})
