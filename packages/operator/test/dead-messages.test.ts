import { expect, test } from '@jest/globals'
import { type Attempt, attemptItem } from '@order-relay/lib/feeds/attempts.ts'
import { handleEvent } from '@order-relay/lib/orders/handle-event.ts'
import { historyRecorder } from '@order-relay/lib/orders/history.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { feedQueueName } from '@order-relay/lib/platform/names.ts'
import { quarantineQueue } from '@order-relay/lib/platform/quarantine.ts'
import { relayForTests } from '@order-relay/test-support/relay.ts'
import { recordingTelemetry } from '@order-relay/test-support/telemetry.ts'

const { stack, relay, json } = await relayForTests()

const KEY = { source: 'demo-shop', external_id: '1' }

/** Publishes an order; returns the message to its store. */
const publishes = async (key = KEY) => {
  const sent: { event: string; delivery: string }[] = []
  await handleEvent(
    {
      event: 'order.updated',
      delivery: `00000000-0000-4000-8000-00000000000${key.external_id}`,
      data: { ...key, status: 'paid' },
    },
    {
      orders: orderRepository(stack.dynamodb, 'orders', { random: () => 0 }),
      announcements: { get: async () => ({ withdrawals: [] }) },
      call: async ({ to }) => ({ to, outcome: 'unanswered', error: new Error('down') }),
      recordChange: historyRecorder(stack.dynamodb, 'history', recordingTelemetry().telemetry),
      publish: async message => void sent.push(message),
      now: Date.now,
      retryRefused: 60,
      redelivered: false,
    },
  )
  const [message] = sent
  if (message === undefined) throw new Error('It published nothing')
  return message
}

test('a deleted dead letter of a feed is shown and counted as not received by its store', async () => {
  const message = await publishes()
  const { delivery } = message
  const failed: Attempt = {
    at: new Date().toISOString(),
    delivery,
    receives: 1,
    outcome: 'failed',
    status: 401,
  }
  await stack.dynamodb.putItem({ TableName: 'history', Item: attemptItem(KEY, failed) })
  await stack.send(stack.queueUrl('feeds-dead.fifo'), KEY, message)
  const messages = async () => (await json(['feeds', 'show', 'demo-shop', '1'])).data.messages
  expect(await messages()).toMatchObject([{ state: 'sent' }])

  const warning =
    /The store does not receive this message\. .*: relay stores resend demo-shop --order 1 --local\n/
  expect((await relay(['dead', 'discard', delivery, '--dry-run'])).out).toMatch(warning)
  expect((await relay(['dead', 'discard', delivery])).err).toMatch(warning)
  expect((await relay(['dead', 'discard', delivery, '--yes', delivery])).code).toBe(0)

  const attempts = [{ outcome: 'deleted' }, { outcome: 'failed', receives: 1 }]
  const [deleted] = await messages()
  expect(deleted).toMatchObject({ state: 'deleted', attempts })
  // Reading the dead letter received it several times, but these are not attempts.
  expect(deleted.attempts[0]).not.toHaveProperty('receives')
  const order = await relay(['orders', 'show', 'demo-shop', '1'])
  expect(order.out).not.toContain('Nothing waits.')
  expect(order.out).toMatch(
    /^The store has not received order\.updated, version 1 \(message .*\): an operator deleted its dead letter at .*\.\nTo send it the current state of the order, run relay stores resend demo-shop --order 1 --local$/m,
  )
  const { out } = await relay(['feeds', 'show', 'demo-shop', '1'])
  expect(out).toContain('deleted by an operator, not received')
  expect(out).toMatch(/ {2}- +deleted +-/)
  const audit = ['audit', '--since', '1h', '--no-service']
  expect((await json(audit)).data.undelivered).toEqual([
    { source: 'demo-shop', waiting: 0, inFlight: 0, dead: 0, deleted: 1 },
  ])
  expect((await relay(audit)).out).toContain('0 dead letters, 1 deleted in this period\n')
})

test('the history of an order shows that an operator replayed the dead letter of a message', async () => {
  const key = { ...KEY, external_id: '2' }
  const message = await publishes(key)
  const { delivery } = message
  await stack.send(stack.queueUrl('feeds-dead.fifo'), key, message)
  const Attributes = { FifoQueue: 'true' }
  await stack.sqs.createQueue({ QueueName: feedQueueName(KEY.source), Attributes })
  expect(await relay(['dead', 'replay', delivery])).toMatchObject({ code: 0 })
  expect((await relay(['orders', 'show', 'demo-shop', '2'])).out).toMatch(
    /published: order\.updated v1 \(an operator replayed its dead letter at 20\S+Z\)/,
  )
  const [replayed] = (await json(['feeds', 'show', 'demo-shop', '2'])).data.messages
  expect(replayed).toMatchObject({ state: 'sent', attempts: [{ outcome: 'replayed' }] })
})

test.each(['dead', 'quarantine'])(
  '%s discard fails if --yes names messages and none is found',
  async command => {
    const discard = (...args: string[]) => relay([command, 'discard', '--all', '--yes', ...args])
    expect(await discard('all 3')).toMatchObject({
      code: 1,
      err: expect.stringContaining('pass --yes "all 0"'),
    })
    expect(await discard('all 0')).toMatchObject({ code: 0, out: 'Discarded 0 messages.\n' })
  },
)

test('an order says that its store was removed and that the quarantine has a message about it', async () => {
  const key = { source: 'removed-shop', external_id: '3' }
  const message = await publishes(key)
  const body = JSON.stringify({ ...message, data: key })
  const quarantine = quarantineQueue(stack.sqs, stack.queueUrl('quarantine'))
  await quarantine({ from: 'webhook', reason: 'unreadable', body, receivedAt: Date.now() })
  const [entry] = (await json(['quarantine', 'list'])).data.entries
  for (const command of ['orders', 'feeds']) {
    const { out } = await relay([command, 'show', 'removed-shop', '3'])
    expect(out).toMatch(
      /^stores\.yml no longer has this store, so its messages are not delivered\.\nThe quarantine has a message about this order: relay quarantine show \S+ --local$/m,
    )
    expect(out).not.toContain('sent to its queue')
    const data = { feed: 'removed', quarantined: [entry.id] }
    expect((await json([command, 'show', 'removed-shop', '3'])).data).toMatchObject(data)
  }
  const { out } = await relay(['orders', 'show', 'demo-shop', '1'])
  expect(out).not.toMatch(/stores\.yml|quarantine/)
})
