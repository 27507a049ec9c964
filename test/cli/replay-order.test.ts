import { createHash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { startServer } from '../support/server.ts'
import { relay } from './relay.ts'

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

const messages = [
  ['payment-of-a', 'order.payment', 'a'],
  ['refund-of-a', 'order.refund', 'a'],
  ['refund-of-b', 'order.refund', 'b'],
].map(([id, event, external_id]) => {
  const Body = JSON.stringify({ event, data: { source: 'api', external_id } })
  const Attributes = { MessageGroupId: external_id, SentTimestamp: '0' }
  return { MessageId: id, ReceiptHandle: id, Body, MD5OfBody: md5(Body), Attributes }
})

/** An SQS that, as AWS does, hands out messages of one group together. */
const startSqs = async () => {
  const sent: string[] = []
  const deleted: string[] = []
  let received = false
  const actions: Record<string, (values: Record<string, string>) => object> = {
    GetQueueUrl: ({ QueueName }) => ({
      QueueUrl: `http://127.0.0.1:${server.port}/000000000000/${QueueName}`,
    }),
    GetQueueAttributes: () => ({ Attributes: { ApproximateNumberOfMessages: '3' } }),
    ReceiveMessage: ({ QueueUrl = '' }) => {
      if (received || !QueueUrl.endsWith('/orders-dead.fifo')) return {}
      received = true
      return { Messages: messages }
    },
    SendMessage: ({ MessageBody = '' }) => {
      sent.push(MessageBody)
      return { MessageId: 'sent', MD5OfMessageBody: md5(MessageBody) }
    },
    DeleteMessage: ({ ReceiptHandle = '' }) => {
      deleted.push(ReceiptHandle)
      return {}
    },
    ChangeMessageVisibilityBatch: () => ({ Successful: [], Failed: [] }),
  }
  const server = await startServer(async ({ headers }, body) => {
    const output = actions[String(headers['x-amz-target']).replace('AmazonSQS.', '')]?.(
      JSON.parse(String(body)),
    )
    const type = { 'content-type': 'application/x-amz-json-1.0' }
    return { status: 200, headers: type, body: JSON.stringify(output) }
  })
  return { server, sent, deleted }
}

test('a replay never lets an event overtake one of its order that is not replayed', async () => {
  const { server, sent, deleted } = await startSqs()
  try {
    const environment = { SQS_PORT: String(server.port) }
    const args = ['dead', 'replay', '--event', 'order.refund', '--local']
    const { code, out } = await relay(args, { environment })
    expect(deleted).toEqual(['refund-of-b'])
    expect(sent).toHaveLength(1)
    expect(out).toMatch(/^Replayed 1 message\.\nrefund-of-a {2}kept: an earlier message of the same order /)
    expect(code).toBe(1)
  } finally {
    await server.close()
  }
})
