import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { CREDENTIALS } from '../../local/functions-environment.ts'
import { freePorts } from '../../local/ports.ts'
import { urlOf } from '../../local/settings.ts'
import { startSqs } from '../../local/sqs.ts'

let folder: string
let port: number
let sqs: SQSClient
let server: Awaited<ReturnType<typeof startSqs>>

const clientOf = (region: string) =>
  new SQSClient({ region, endpoint: urlOf(port), credentials: CREDENTIALS, maxAttempts: 3 })

const start = () => startSqs({ port, region: 'eu-central-1', path: join(folder, 'queues.jsonl') })

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'order-relay-sqs-'))
  port = (await freePorts()).sqs
  server = await start()
  await server.restore()
  sqs = clientOf('eu-central-1')
})

afterEach(async () => {
  sqs.destroy()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const create = async (name: string) => {
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name }))
  return QueueUrl
}
const send = (QueueUrl: string, group: string, body: string) =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: body,
      MessageGroupId: group,
      MessageDeduplicationId: body,
      MessageAttributes: { n: { DataType: 'String', StringValue: body } },
    }),
  )
const receive = async (QueueUrl: string) => {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
  )
  return Messages
}
/** Everything that can be received, one group's message after the other. */
const bodies = async (QueueUrl: string) => {
  const found: string[] = []
  for (;;) {
    const messages = await receive(QueueUrl)
    if (messages.length === 0) return found
    for (const { Body = '', ReceiptHandle } of messages) {
      found.push(Body)
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
    }
  }
}
/** Ends the server without a word and starts another on its file, as a kill and a new start do. */
const restart = async (queues: readonly string[]) => {
  await server.close()
  server = await start()
  for (const name of queues) await create(name)
  await server.restore()
}

test('a queue has the address that the README tells, whichever way it is asked for', async () => {
  const url = `${urlOf(port)}/000000000000/line.fifo`
  expect(await create('line.fifo')).toBe(url)
  expect((await sqs.send(new ListQueuesCommand({}))).QueueUrls).toEqual([url])
  expect((await sqs.send(new GetQueueUrlCommand({ QueueName: 'line.fifo' }))).QueueUrl).toBe(url)
})

test('a queue is found by its path, from any region and under any name of this machine', async () => {
  const url = await create('line.fifo')
  await send(url.replace('127.0.0.1', 'localhost'), 'g', 'one')
  const other = clientOf('us-west-2')
  expect((await other.send(new GetQueueUrlCommand({ QueueName: 'line.fifo' }))).QueueUrl).toBe(url)
  const { Messages } = await other.send(new ReceiveMessageCommand({ QueueUrl: url }))
  expect(Messages?.[0]?.Body).toBe('one')
  other.destroy()
})

test('messages outlive the process: what was not deleted is there again, in order, with its attributes', async () => {
  const url = await create('line.fifo')
  for (const body of ['a1', 'a2', 'a3']) await send(url, 'a', body)
  await send(url, 'b', 'b1')
  const [first] = await receive(url)
  await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: first?.ReceiptHandle }))
  await receive(url)

  await restart(['line.fifo'])
  const [again] = await receive(url)
  expect(again).toMatchObject({ Body: 'a2', MessageAttributes: { n: { StringValue: 'a2' } } })
  await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: again?.ReceiptHandle }))

  await restart(['line.fifo'])
  expect((await bodies(url)).sort()).toEqual(['a3', 'b1'])
  await restart(['line.fifo'])
  expect(await bodies(url)).toEqual([])
})

test('batches are kept like single messages, and a purged queue stays empty', async () => {
  const url = await create('plain')
  const other = await create('other')
  const entries = ['1', '2', '3'].map(Id => ({ Id, MessageBody: `body ${Id}` }))
  await sqs.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: entries }))
  await sqs.send(new SendMessageBatchCommand({ QueueUrl: other, Entries: entries }))
  const taken = (await receive(url)).slice(0, 2)
  await sqs.send(
    new DeleteMessageBatchCommand({
      QueueUrl: url,
      Entries: taken.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
    }),
  )
  await sqs.send(new PurgeQueueCommand({ QueueUrl: other }))
  await restart(['plain', 'other'])
  expect(await bodies(url)).toEqual(['body 3'])
  expect(await bodies(other)).toEqual([])
})

test('a duplicate of a message that is done does not bring it back', async () => {
  const url = await create('line.fifo')
  await send(url, 'g', 'once')
  expect(await bodies(url)).toEqual(['once'])
  await send(url, 'g', 'once')
  await restart(['line.fifo'])
  expect(await bodies(url)).toEqual([])
})

test('a last line that a kill cut short, and a queue that is no more, hinder nothing', async () => {
  const url = await create('line.fifo')
  await send(await create('closed-shop'), 'g', 'nobody waits for it')
  await send(url, 'g', 'kept')
  await server.close()
  await appendFile(join(folder, 'queues.jsonl'), '{"sent":"x","queue":"line.fifo","mess')
  server = await start()
  await create('line.fifo')
  await server.restore()
  expect(await bodies(url)).toEqual(['kept'])
})

test('a start that did not get far loses nothing', async () => {
  const url = await create('line.fifo')
  await send(url, 'g', 'kept')
  await server.close()
  server = await start()
  await restart(['line.fifo'])
  expect(await bodies(url)).toEqual(['kept'])
})
