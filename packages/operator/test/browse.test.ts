import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { browse } from '../core/queue.ts'

const { stack, newContext } = await relayForTests()

test.each([
  ['does not count a message that another command has deleted in the meantime', true, 0],
  ['counts a message that another command holds', false, 1],
])('%s', async (_, isDeleted, hidden) => {
  const QueueUrl = stack.settings.ordersQueueUrl
  await stack.sqs.purgeQueue({ QueueUrl })
  const send = (external_id: string) =>
    stack.send(QueueUrl, { source: 'api', external_id }, { delivery: randomUUID() })
  await send('theirs')
  const { Records } = await stack.receive(QueueUrl)
  await send('ours')
  const context = newContext()
  const counts = await browse(context, QUEUES.orders, Number.POSITIVE_INFINITY, async () => {
    for (const { receiptHandle } of isDeleted ? Records : [])
      await stack.sqs.deleteMessage({ QueueUrl, ReceiptHandle: receiptHandle })
    return 'keep'
  })
  context.close()
  expect(counts).toEqual({ total: 2, hidden })
})
