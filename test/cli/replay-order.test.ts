import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import * as v from 'valibot'
import { addressOf } from '../support/address.ts'
import { relay } from './relay.ts'

const text = v.optional(v.string(), '')
const input = v.object({ QueueName: text, QueueUrl: text, MessageBody: text, ReceiptHandle: text })

const messages = [
  ['payment-of-a', 'order.payment', 'a'],
  ['refund-of-a', 'order.refund', 'a'],
  ['refund-of-b', 'order.refund', 'b'],
] as const

/** An SQS that, as AWS does, hands out messages of one group together. */
const startSqs = async () => {
  const sent: string[] = []
  const deleted: string[] = []
  let received = false
  const actions: Record<string, (values: v.InferOutput<typeof input>) => object> = {
    GetQueueUrl: ({ QueueName }) => ({ QueueUrl: `${addressOf(server)}/000000000000/${QueueName}` }),
    GetQueueAttributes: () => ({ Attributes: { ApproximateNumberOfMessages: '3' } }),
    ReceiveMessage: ({ QueueUrl }) => {
      if (received || !QueueUrl.endsWith('/orders-dead.fifo')) return {}
      received = true
      return {
        Messages: messages.map(([id, event, external_id]) => {
          const Body = JSON.stringify({ event, data: { source: 'api', external_id } })
          return {
            MessageId: id,
            ReceiptHandle: id,
            Body,
            MD5OfBody: createHash('md5').update(Body).digest('hex'),
            Attributes: { MessageGroupId: external_id, SentTimestamp: '0' },
          }
        }),
      }
    },
    SendMessage: ({ MessageBody }) => {
      sent.push(MessageBody)
      return { MessageId: 'sent', MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex') }
    },
    DeleteMessage: ({ ReceiptHandle }) => {
      deleted.push(ReceiptHandle)
      return {}
    },
    ChangeMessageVisibilityBatch: () => ({ Successful: [], Failed: [] }),
  }
  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).replace('AmazonSQS.', '')
    const output = actions[action]?.(v.parse(input, await json(request)))
    response.setHeader('content-type', 'application/x-amz-json-1.0')
    response.end(JSON.stringify(output))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, sent, deleted }
}

test('a replay never lets an event overtake one of its order that is not replayed', async () => {
  const { server, sent, deleted } = await startSqs()
  try {
    const environment = { SQS_PORT: new URL(addressOf(server)).port }
    const args = ['dead', 'replay', '--event', 'order.refund', '--local']
    const { code, out } = await relay(args, { environment })
    expect(deleted).toEqual(['refund-of-b'])
    expect(sent).toHaveLength(1)
    expect(out).toMatch(/^Replayed 1 message\.\nrefund-of-a {2}kept: an earlier message of the same order /)
    expect(code).toBe(1)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
