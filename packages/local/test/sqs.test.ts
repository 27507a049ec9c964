import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { SQS } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { queuesOf } from '@order-relay/deploy/queues.ts'
import { eachWithFolder } from '@order-relay/test-support/folder.ts'
import { clientsAt, createQueue, drain } from '@order-relay/test-support/parts.ts'
import { type Child, startChild } from '../child.ts'
import { freePorts } from '../ports.ts'
import { queueUrl } from '../settings.ts'
import { startSqs } from '../sqs.ts'

let port: number
let sqs: SQS
let server: Awaited<ReturnType<typeof startSqs>>

const folder = eachWithFolder()
const openPort = async () => {
  const ports = await freePorts()
  port = ports.sqs
  // A stopped SQS has closed the connections.
  sqs = clientsAt(ports, { maxAttempts: 3 }).sqs
}
beforeAll(openPort)
afterAll(() => sqs.destroy())

const urlFor = (name: string) => queueUrl(port, name)
const send = (QueueUrl: string, group: string, body: string, abortSignal?: AbortSignal) =>
  sqs.sendMessage(
    {
      QueueUrl,
      MessageBody: body,
      MessageGroupId: group,
      MessageDeduplicationId: body,
      MessageAttributes: { n: { DataType: 'String', StringValue: body } },
    },
    { ...(abortSignal && { abortSignal }) },
  )
const receive = async (QueueUrl: string) => {
  const all = { MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['All' as const] }
  const { Messages = [] } = await sqs.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10, ...all })
  return Messages
}
const bodies = async (url: string) => (await drain(sqs, url)).map(({ Body }) => Body)

describe('the embedded SQS', () => {
  const start = (options: Partial<Parameters<typeof startSqs>[0]> = {}) =>
    startSqs({ port, path: folder('queues'), ...options })
  const restart = async (options: Parameters<typeof start>[0] = {}) => {
    await server.close()
    server = await start(options)
  }

  beforeEach(async () => {
    server = await start()
  })
  afterEach(() => server.close())

  test('finds a queue by its URL, from any region and under any name of this machine', async () => {
    const url = await createQueue(sqs, 'orders.fifo')
    expect(url).toBe(urlFor('orders.fifo'))
    expect((await sqs.listQueues({})).QueueUrls).toEqual([url])
    await send(url.replace('127.0.0.1', 'localhost'), 'g', 'one')
    const { sqs: other } = clientsAt({ dynamodb: port, sqs: port, ssm: port }, { region: 'us-west-2' })
    expect((await other.getQueueUrl({ QueueName: 'orders.fifo' })).QueueUrl).toBe(url)
    const { Messages } = await other.receiveMessage({ QueueUrl: url })
    expect(Messages?.[0]?.Body).toBe('one')
    other.destroy()
  })

  test('the timestamp of a dead letter is the time at which it was moved, as in FIFO queues of SQS', async () => {
    const dead = await createQueue(sqs, 'dead.fifo')
    const target = { QueueUrl: dead, AttributeNames: ['QueueArn' as const] }
    const { QueueArn: deadLetterTargetArn } = (await sqs.getQueueAttributes(target)).Attributes ?? {}
    const url = await createQueue(sqs, 'orders.fifo', {
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 }),
      VisibilityTimeout: '0',
    })
    await send(url, 'g', 'one')
    await receive(url)
    await setTimeout(5)
    const moved = Date.now()
    expect(await receive(url)).toEqual([])
    const [letter] = await receive(dead)
    expect(letter?.Body).toBe('one')
    expect(Number(letter?.Attributes?.SentTimestamp)).toBeGreaterThanOrEqual(moved)
  })

  // The SDK verifies the MD5 of every body, sent and received.
  test('accepts exactly the characters that SQS accepts', async () => {
    const url = await createQueue(sqs, 'plain')
    const sent = ['🛒 سارا', '\u{10FFFF}\t\uE000']
    const Entries = sent.map((MessageBody, index) => ({ Id: String(index), MessageBody }))
    await sqs.sendMessage({ QueueUrl: url, MessageBody: '🛒' })
    await sqs.sendMessageBatch({ QueueUrl: url, Entries })
    expect(await bodies(url)).toEqual(['🛒', ...sent])
    for (const MessageBody of ['\uFFFE', '\uFFFF', '\u0000']) {
      await expect(sqs.sendMessage({ QueueUrl: url, MessageBody })).rejects.toMatchObject({
        name: expect.stringContaining('InvalidMessageContents'),
      })
    }
  })

  test('makes a message visible immediately when its visibility timeout is set to zero', async () => {
    const url = await createQueue(sqs, 'orders.fifo')
    await send(url, 'g', 'one')
    const [{ ReceiptHandle } = {}] = await receive(url)
    await sqs.changeMessageVisibility({ QueueUrl: url, ReceiptHandle, VisibilityTimeout: 0 })
    await restart()
    expect(await receive(url)).toMatchObject([{ Body: 'one', Attributes: { ApproximateReceiveCount: '2' } }])
  })

  test('returns the messages of a group together, and keeps their sequence when they return', async () => {
    const url = await createQueue(sqs, 'orders.fifo')
    for (const body of ['a1', 'a2', 'a3', 'b1']) await send(url, body.charAt(0), body)
    const all = ['a1', 'a2', 'a3', 'b1']
    const received = async () =>
      (await receive(url)).map(({ Body, ReceiptHandle }) => ({ Body, ReceiptHandle }))
    const first = await received()
    expect(first.map(({ Body }) => Body)).toEqual(all)
    await send(url, 'a', 'a4')
    const release = ({ ReceiptHandle }: (typeof first)[number], VisibilityTimeout = 0) =>
      sqs.changeMessageVisibility({ QueueUrl: url, ReceiptHandle, VisibilityTimeout })
    // The group stays locked until none of its messages is in flight.
    for (const message of first.slice(0, 2)) await release(message)
    expect((await received()).map(({ Body }) => Body)).toEqual([])
    for (const message of first.slice(2)) await release(message)
    const second = await received()
    expect(second.map(({ Body }) => Body).toSorted()).toEqual([...all, 'a4'].toSorted())
    for (const message of second) await release(message, 1)
    await setTimeout(1100)
    expect((await bodies(url)).filter(body => body?.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4'])
  })

  test('delivers nothing to a consumer that has disconnected', async () => {
    const url = await createQueue(sqs, 'orders.fifo')
    const gone = new AbortController()
    const waiting = sqs.receiveMessage({ QueueUrl: url, WaitTimeSeconds: 20 }, { abortSignal: gone.signal })
    await setTimeout(100)
    gone.abort()
    await expect(waiting).rejects.toThrow('abort')
    await setTimeout(100)
    await send(url, 'g', 'one')
    expect(await bodies(url)).toEqual(['one'])
  })

  test('keeps messages when the port or the attributes of a queue change', async () => {
    const queues = (feed: 'sqs' | { http: string; disable_after: number }) =>
      queuesOf({ prefix: '', stores: [{ source: 'shop', feed }] })
    await restart({ queues: queues({ http: 'https://shop.example', disable_after: 1 }) })
    await send(urlFor('feed-shop.fifo'), 'g', 'one')
    sqs.destroy()
    await openPort()
    await restart({ queues: queues('sqs') })
    const [url] = (await sqs.listQueues({ QueueNamePrefix: 'feed-shop' })).QueueUrls ?? []
    expect(url).toBe(urlFor('feed-shop.fifo'))
    const { Attributes } = await sqs.getQueueAttributes({ QueueUrl: url, AttributeNames: ['All'] })
    expect(Attributes).toMatchObject({ VisibilityTimeout: '30', FifoQueue: 'true' })
    expect(Attributes).not.toHaveProperty('RedrivePolicy')
    expect(await bodies(urlFor('feed-shop.fifo'))).toEqual(['one'])
  })
})

describe('an SQS process that is killed', () => {
  let child: Child

  const start = async (...release: string[]) => {
    child = startChild({
      name: 'queues',
      cwd: import.meta.dirname,
      environment: process.env,
      onLine: () => undefined,
      args: [join(import.meta.dirname, 'sqs-process.ts'), String(port), folder('queues'), ...release],
    })
    await child.ready()
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await child.ended
  }
  afterEach(() => child.stop())

  test('keeps all messages, their sequence and receive counts, but no deduplication ids', async () => {
    await start()
    const url = await createQueue(sqs, 'orders.fifo')
    for (const body of ['a1', 'a2', 'a3', 'b1', 'b2']) await send(url, body.charAt(0), body)
    const [{ ReceiptHandle } = {}] = await receive(url)
    await sqs.deleteMessage({ QueueUrl: url, ReceiptHandle })
    // Sends the messages of each group in sequence, and kills the process in between.
    const accepted: string[] = []
    const stopped = new AbortController()
    void child.ended.then(() => stopped.abort())
    const sending = ['c', 'd', 'e'].map(async group => {
      for (let n = 1; n <= 200; n += 1) {
        await send(url, group, `${group}${n}`, stopped.signal)
        accepted.push(`${group}${n}`)
        if (accepted.length === 60) void kill()
      }
    })
    await Promise.all([Promise.allSettled(sending), child.ended])

    await start('orders.fifo')
    // A receive may return ten messages of a single group, and then locks it.
    const returned = await Promise.all(['a', 'c', 'd', 'e'].map(() => receive(url)))
    expect(returned.flat().find(({ Body }) => Body === 'a2')).toMatchObject({
      Attributes: { ApproximateReceiveCount: '2', MessageGroupId: 'a' },
      MessageAttributes: { n: { DataType: 'String', StringValue: 'a2' } },
    })
    await kill()

    await start('orders.fifo')
    const found = await bodies(url)
    const ofGroup = (group: string) => found.filter(body => body?.startsWith(group))
    expect([...ofGroup('a'), ...ofGroup('b')]).toEqual(['a2', 'a3', 'b1', 'b2'])
    for (const group of ['c', 'd', 'e'])
      expect(ofGroup(group)).toEqual(ofGroup(group).map((_body, index) => `${group}${index + 1}`))
    expect(found).toEqual(expect.arrayContaining(accepted))
    // A duplicate within five minutes is only recognized by the process that received the first.
    await send(url, 'a', 'a1')
    expect(await bodies(url)).toEqual(['a1'])
  })
})
