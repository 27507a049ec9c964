import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { drain } from '../support/parts.ts'
import { until } from '../support/until.ts'
import { local } from './relay.ts'

const DEAD = 'orders-dead.fifo'

/** Adds a message to a dead-letter queue and returns its delivery id. */
const addDeadLetter = async (
  queue: string,
  event: string,
  external_id: string,
  data: object = {},
  source = 'api',
) => {
  const delivery = randomUUID()
  await local.stack().sqs.sendMessage({
    QueueUrl: local.queue(queue),
    MessageGroupId: messageGroupOf({ source, external_id }),
    MessageDeduplicationId: delivery,
    MessageBody: JSON.stringify({ event, delivery, data: { source, external_id, ...data } }),
  })
  return delivery
}

const payment = { request: JSON.stringify({ method: 'card', reference: 'r-1' }) }
const refund = { request: '{}' }

const create = async (external_id: string, more: object = {}) => {
  const items = [{ sku: 'SKU-1', quantity: 0.01, unit_price: 1000 }]
  const { body } = await local.sandbox('POST', '/api/v1/orders/', { external_id, items, ...more })
  return body.status
}

const statusOf = async (external_id: string) =>
  (await local.sandbox('GET', `/api/v1/orders/${external_id}/?source=api`)).body.status

const ordersOf = (letters: { external_id: string }[]) => letters.map(({ external_id }) => external_id).sort()

export const messageTests = () => {
  describe('dead letters', () => {
    beforeEach(async () => {
      for (const queue of [DEAD, 'feeds-dead.fifo']) await drain(local.stack().sqs, local.queue(queue))
    })

    test('none are reported as such', async () => {
      const { code, out } = await local.relay(['dead', 'list'])
      expect(out).toBe('No dead letters in the local stack.\n')
      expect(code).toBe(0)
    })

    test('filters select by store, order, event and time, and listing keeps every message', async () => {
      await addDeadLetter(DEAD, 'order.payment', 'a', payment)
      await addDeadLetter(DEAD, 'order.updated', 'b', { status: 'paid' })
      await addDeadLetter(DEAD, 'order.updated', 'c', { status: 'paid' }, 'demo-shop')
      const listed = async (...filter: string[]) =>
        ordersOf((await local.json(['dead', 'list', ...filter])).data.letters)
      expect(await listed('--source', 'demo-shop', '--since', '1h')).toEqual(['c'])
      expect(await listed('--event', 'order.updated', '--order', 'b')).toEqual(['b'])
      expect(await listed('--since', '2099-01-01')).toEqual([])
      expect(await listed('--limit', '2')).toHaveLength(2)
      expect((await local.json(['dead', 'list'])).data.total).toBe(3)
    })

    test('one is shown by its message id or by the delivery in it', async () => {
      const delivery = await addDeadLetter(DEAD, 'order.payment', 'shown', payment)
      const { data } = await local.json(['dead', 'show', delivery])
      expect(data).toMatchObject({ event: 'order.payment', external_id: 'shown', delivery })
      expect(JSON.parse(data.body).data.request).toBe(payment.request)
      expect((await local.json(['dead', 'show', data.id])).data.id).toBe(data.id)
    })

    test('a dry run shows every payment and refund a replay makes, and makes none', async () => {
      await create('unpaid')
      await create('paid', { payment: { method: 'cash' } })
      await addDeadLetter(DEAD, 'order.payment', 'unpaid', payment)
      await addDeadLetter(DEAD, 'order.payment', 'paid', payment)
      await addDeadLetter(DEAD, 'order.refund', 'nowhere', refund)

      const { data } = await local.json(['dead', 'replay', '--all', '--dry-run'])
      const calls = Object.fromEntries(
        data.letters.map(({ external_id, calls }: { external_id: string; calls: unknown[] }) => [
          external_id,
          calls,
        ]),
      )
      expect(calls).toEqual({
        unpaid: [{ to: 'payment', request: payment.request, outcome: 'expected status "paid"' }],
        paid: [{ to: 'payment', request: payment.request, outcome: 'no change: already "paid"' }],
        nowhere: [{ to: 'refund', request: '{}', outcome: 'rejected: the service does not know the order' }],
      })
      expect(data.calls).toEqual({ create: 0, payment: 2, refund: 1, read: 0 })
      expect(await statusOf('unpaid')).toBe('invoiced')
      expect((await local.json(['dead', 'list'])).data.total).toBe(3)
    })

    test('a replay does what the dry run predicted, in order within each order', async () => {
      await create('both')
      await addDeadLetter(DEAD, 'order.payment', 'both', payment)
      await addDeadLetter(DEAD, 'order.refund', 'both', refund)
      const { code, data } = await local.json(['dead', 'replay', '--order', 'both'])
      expect(data).toMatchObject({
        replayed: [expect.any(String), expect.any(String)],
        behind: [],
        missing: [],
      })
      expect(code).toBe(0)
      await until(async () => (await statusOf('both')) === 'refunded')
      const { body } = await local.sandbox('GET', '/panel/orders/both?source=api')
      expect(body.receipt_number).not.toBeNull()
      expect((await local.json(['dead', 'list'])).data.total).toBe(0)
    })

    test('a message behind another of its order is not replayed before it', async () => {
      await addDeadLetter(DEAD, 'order.payment', 'queue', payment)
      const second = await addDeadLetter(DEAD, 'order.refund', 'queue', refund)
      const { code, err } = await local.relay(['dead', 'replay', second])
      expect(err).toContain(`no message "${second}" is among the visible dead letters`)
      expect(code).toBe(1)
      expect((await local.relay(['dead', 'list'])).out).toContain('1 more message not shown')
    })

    test('a message of a feed returns to the feed', async () => {
      const delivery = await addDeadLetter(
        'feeds-dead.fifo',
        'order.updated',
        'notified',
        { status: 'paid' },
        'demo-shop',
      )
      await drain(local.stack().sqs, local.queue('feed-demo-shop.fifo'))
      const { data } = await local.json(['dead', 'list'])
      expect(data.letters).toMatchObject([{ from: 'feed', source: 'demo-shop', delivery }])
      expect((await local.relay(['dead', 'replay', delivery])).code).toBe(0)
      const [message] = await drain(local.stack().sqs, local.queue('feed-demo-shop.fifo'))
      expect(JSON.parse(message?.Body ?? '')).toMatchObject({ delivery })
      expect(message?.Attributes?.MessageGroupId).toBe(
        messageGroupOf({ source: 'demo-shop', external_id: 'notified' }),
      )
    })

    test('discarding needs an id, and prints the message once more', async () => {
      const delivery = await addDeadLetter(DEAD, 'order.payment', 'junk', payment)
      const missing = await local.relay(['dead', 'discard', 'nope'])
      expect(missing.err).toContain('no message "nope" is among the visible dead letters')
      const { code, data } = await local.json(['dead', 'discard', delivery])
      expect(data.discarded).toMatchObject([{ delivery, body: expect.stringContaining(delivery) }])
      expect(code).toBe(0)
      expect((await local.json(['dead', 'list'])).data.total).toBe(0)
    })

    test('the doctor finds them and says what to do', async () => {
      await addDeadLetter(DEAD, 'order.payment', 'sick', payment)
      const { code, out } = await local.relay(['doctor'])
      expect(out).toMatch(/!! {4}no dead letters: 1 message\n {6}→ see relay dead list --local/)
      expect(code).toBe(1)
    })
  })

  describe('quarantine', () => {
    const quarantine = (from: string, body: string) =>
      local.stack().sqs.sendMessage({
        QueueUrl: local.queue('quarantine'),
        MessageBody: JSON.stringify({
          from,
          reason: 'an older version could not read it',
          body_base64: Buffer.from(body).toString('base64'),
          received_at: new Date().toISOString(),
        }),
      })
    const webhook = (external_id: string, source = 'api') =>
      JSON.stringify({
        event: 'order.updated',
        delivery: randomUUID(),
        data: { source, external_id, status: 'paid' },
      })

    beforeEach(async () => {
      await drain(local.stack().sqs, local.queue('quarantine'))
    })

    test('what cannot be read is listed with its reason, and a replay keeps it', async () => {
      const sent = await local.relay(['send', '--file', 'package.json'])
      expect(sent.out).toMatch(/^400 .*unreadable/)
      expect(sent.code).toBe(1)
      const { data } = await local.json(['quarantine', 'list'])
      expect(data.entries).toMatchObject([
        { from: 'webhook', readable: false, reason: expect.stringContaining('event') },
      ])
      const replayed = await local.relay(['quarantine', 'replay', '--all'])
      expect(replayed.out).toContain('kept: still unreadable')
      expect(replayed.code).toBe(1)
      const [{ id }] = data.entries
      expect((await local.relay(['quarantine', 'show', id])).out).toContain('"order-relay"')
      expect((await local.relay(['quarantine', 'discard', id])).code).toBe(0)
      expect((await local.relay(['quarantine', 'list'])).out).toBe(
        'Nothing in quarantine in the local stack.\n',
      )
    })

    test('what can be read by now is queued and recorded, once', async () => {
      const body = webhook('read-later')
      await quarantine('webhook', body)
      await quarantine('webhook', body)
      const predicted = await local.json(['quarantine', 'replay', '--all', '--dry-run'])
      expect(predicted.data).toMatchObject({ dry_run: true, calls: { payment: 0, refund: 0 } })
      const { code, data } = await local.json(['quarantine', 'replay', '--all'])
      expect(data.entries.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
        'replayed',
        'duplicate',
      ])
      expect(code).toBe(0)
      await until(async () => (await local.relay(['orders', 'show', 'api', 'read-later'])).code === 0)
      const { delivery } = JSON.parse(body)
      expect((await local.json(['deliveries', 'show', delivery])).data).toMatchObject({
        external_id: 'read-later',
      })
    })

    test('an event that can be read by now is queued', async () => {
      await create('line')
      await quarantine(
        'worker',
        JSON.stringify({
          event: 'order.payment',
          delivery: randomUUID(),
          data: { source: 'api', external_id: 'line', ...payment },
        }),
      )
      expect((await local.relay(['quarantine', 'replay', '--order', 'line'])).code).toBe(0)
      await until(async () => (await statusOf('line')) === 'paid')
    })

    test('what the worker cannot read, for instance nested too deeply, is not readable here either', async () => {
      const nested = `${'['.repeat(65)}${']'.repeat(65)}`
      const body = webhook('deep').replace('"paid"', `"paid","extra":${nested}`)
      await quarantine('worker', body)
      await quarantine('webhook', body)
      const { data } = await local.json(['quarantine', 'list'])
      expect(data.entries).toMatchObject([{ readable: false }, { readable: false }])
      expect((await local.json(['quarantine', 'replay', '--all'])).data).toMatchObject({ replayed: [] })
      expect((await local.json(['quarantine', 'list'])).data.total).toBe(2)
    })

    test('what belongs to no known store is kept', async () => {
      await quarantine('webhook', webhook('foreign', 'someone-else'))
      const { code, out } = await local.relay(['quarantine', 'replay', '--all'])
      expect(out).toContain('kept: belongs to no store in stores.yml')
      expect(code).toBe(1)
    })
  })
}
