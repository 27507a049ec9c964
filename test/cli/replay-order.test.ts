import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterEach, expect, test } from '@jest/globals'
import * as v from 'valibot'
import { addressOf } from '../support/address.ts'
import { relay } from './relay.ts'

type Letter = { id: string; event: string; external_id: string }

const text = v.optional(v.string(), '')
const input = v.object({ QueueName: text, QueueUrl: text, ReceiptHandle: text })
const invocation = v.object({ Records: v.array(v.object({ messageId: v.string() })) })

/** The dead letters of an SQS that, as AWS does, hands out messages of one group together, and the worker. */
const startAws = async (letters: readonly Letter[], { hidden = 0, fails = '' } = {}) => {
  const processed: string[] = []
  const deleted: string[] = []
  const unread = [...letters]
  const sqs: Record<string, (values: v.InferOutput<typeof input>) => object> = {
    GetQueueUrl: ({ QueueName }) => ({ QueueUrl: `${addressOf(server)}/000000000000/${QueueName}` }),
    GetQueueAttributes: ({ QueueUrl }) => ({
      Attributes: {
        ApproximateNumberOfMessages: QueueUrl.endsWith('/orders-dead.fifo') ? `${letters.length}` : '0',
        ApproximateNumberOfMessagesNotVisible: QueueUrl.endsWith('/orders-dead.fifo') ? `${hidden}` : '0',
      },
    }),
    ReceiveMessage: ({ QueueUrl }) => ({
      Messages: QueueUrl.endsWith('/orders-dead.fifo')
        ? unread.splice(0, 10).map(({ id, event, external_id }) => {
            const Body = JSON.stringify({ event, data: { source: 'api', external_id } })
            return {
              MessageId: id,
              ReceiptHandle: id,
              Body,
              MD5OfBody: createHash('md5').update(Body).digest('hex'),
              Attributes: { MessageGroupId: external_id, SentTimestamp: '0' },
            }
          })
        : [],
    }),
    DeleteMessage: ({ ReceiptHandle }) => {
      deleted.push(ReceiptHandle)
      return {}
    },
    ChangeMessageVisibilityBatch: () => ({ Successful: [], Failed: [] }),
  }
  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).replace('AmazonSQS.', '')
    response.setHeader('content-type', 'application/x-amz-json-1.0')
    response.end(JSON.stringify(sqs[action]?.(v.parse(input, await json(request)))))
  })
  const worker = createServer(async (request, response) => {
    const [{ messageId } = { messageId: '' }] = v.parse(invocation, await json(request)).Records
    processed.push(messageId)
    const batchItemFailures = messageId === fails ? [{ itemIdentifier: messageId }] : []
    response.end(JSON.stringify({ batchItemFailures }))
  })
  for (const each of [server, worker]) {
    each.listen(0, '127.0.0.1')
    await once(each, 'listening')
  }
  close = () => {
    for (const each of [server, worker]) {
      each.closeAllConnections()
      each.close()
    }
  }
  const environment = {
    SQS_PORT: new URL(addressOf(server)).port,
    LAMBDA_PORT: new URL(addressOf(worker)).port,
  }
  const replay = (...args: string[]) =>
    relay(['dead', 'replay', ...args, '--rate', '100000', '--local'], { environment })
  return { replay, processed, deleted }
}

let close: () => void
afterEach(() => close())

const letter = (id: string, external_id: string, event = 'order.payment') => ({ id, event, external_id })
const LETTERS = [
  letter('payment-of-a', 'a'),
  letter('refund-of-a', 'a', 'order.refund'),
  letter('refund-of-b', 'b', 'order.refund'),
]

test('a replay never lets an event overtake one of its order that is not replayed', async () => {
  const { replay, processed, deleted } = await startAws(LETTERS)
  const { code, out } = await replay('--event', 'order.refund')
  expect([processed, deleted]).toEqual([['refund-of-b'], ['refund-of-b']])
  expect(out).toMatch(/^Replayed 1 message\.\nrefund-of-a {2}kept: an earlier message of the same order /)
  expect(code).toBe(1)
})

test('nor one that fails again, which remains a dead letter', async () => {
  const { replay, processed, deleted } = await startAws(LETTERS, { fails: 'payment-of-a' })
  const { code, out } = await replay('--all')
  expect([processed, deleted]).toEqual([['payment-of-a', 'refund-of-b'], ['refund-of-b']])
  expect(out).toContain('payment-of-a  kept: it failed again')
  expect(out).toContain('refund-of-a  kept: an earlier message')
  expect(code).toBe(1)
})

test('all are replayed, however many, and what could not be seen is reported', async () => {
  const many = Array.from({ length: 1234 }, (_, index) => letter(`m${index}`, `o${index}`))
  const whole = await startAws(many)
  expect(await whole.replay('--all')).toMatchObject({ code: 0, out: 'Replayed 1234 messages.\n' })
  expect(whole.processed).toEqual(many.map(({ id }) => id))
  close()
  const partial = await startAws(LETTERS, { hidden: 2 })
  const { code, out } = await partial.replay('--all')
  expect(out).toMatch(/^Replayed 3 messages\.\n2 more messages not shown/)
  expect(code).toBe(1)
})
