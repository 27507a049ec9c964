import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { drain } from '../support/parts.ts'
import { until } from '../support/until.ts'
import { local } from './relay.ts'

const empty =
  (...queues: string[]) =>
  async () => {
    for (const queue of queues) await drain(local.stack().sqs, local.queue(queue))
  }

const payment = { request: JSON.stringify({ method: 'card', reference: 'r-1' }) }

const dead = (event: string, external_id: string, more: object = {}) =>
  local.enqueue('orders-dead.fifo', `order.${event}`, { external_id, request: '{}', ...more })

/** What the command prints with `--json`. */
const data = async (...args: string[]) => (await local.json(args)).data

export const messageTests = () => {
  describe('dead letters', () => {
    beforeEach(empty('orders-dead.fifo', 'feeds-dead.fifo'))

    test('filters select by store, order, event and time, and listing keeps every message', async () => {
      expect((await local.relay(['dead', 'list'])).out).toBe('No dead letters in the local stack.\n')
      await dead('payment', 'a', payment)
      await dead('updated', 'b', { status: 'paid' })
      await dead('updated', 'c', { status: 'paid', source: 'demo-shop' })
      const listed = async (...filter: string[]) => {
        const { letters } = await data('dead', 'list', ...filter)
        return letters.map(({ external_id }: { external_id: string }) => external_id)
      }
      expect(await listed('--source', 'demo-shop', '--since', '1h')).toEqual(['c'])
      expect(await listed('--event', 'order.updated', '--order', 'b')).toEqual(['b'])
      expect(await listed('--since', '2099-01-01')).toEqual([])
      expect(await listed('--limit', '2')).toHaveLength(2)
      expect((await data('dead', 'list')).total).toBe(3)
      expect((await local.relay(['doctor'])).out).toMatch(
        /!! {4}no dead letters: 3 messages\n {6}→ see relay dead list --local/,
      )
    })

    test('one is shown by its message id or by the delivery in it, and discarded by an id', async () => {
      const delivery = await dead('payment', 'shown', payment)
      const { id, ...shown } = await data('dead', 'show', delivery)
      expect(shown).toMatchObject({ event: 'order.payment', external_id: 'shown', delivery })
      expect(JSON.parse(shown.body).data.request).toBe(payment.request)
      expect((await data('dead', 'show', id)).id).toBe(id)
      const { discarded } = await data('dead', 'discard', delivery)
      expect(discarded).toMatchObject([{ delivery, body: expect.stringContaining(delivery) }])
      expect((await data('dead', 'list')).total).toBe(0)
    })

    test('a dry run shows every payment and refund a replay makes, and makes none', async () => {
      await local.create('unpaid')
      await local.create('paid', { payment: { method: 'cash' } })
      await dead('payment', 'unpaid', payment)
      await dead('payment', 'paid', payment)
      await dead('refund', 'nowhere')

      const { letters, calls } = await data('dead', 'replay', '--all', '--dry-run')
      const callsOf = Object.fromEntries(
        letters.map((letter: { external_id: string; calls: unknown }) => [letter.external_id, letter.calls]),
      )
      expect(callsOf).toEqual({
        unpaid: [{ to: 'payment', request: payment.request, outcome: 'expected status "paid"' }],
        paid: [{ to: 'payment', request: payment.request, outcome: 'no change: already "paid"' }],
        nowhere: [{ to: 'refund', request: '{}', outcome: 'rejected: the service does not know the order' }],
      })
      expect(calls).toEqual({ create: 0, payment: 2, refund: 1, read: 0 })
      expect((await local.order('unpaid')).status).toBe('invoiced')
      expect((await data('dead', 'list')).total).toBe(3)
    })

    test('a replay does what the dry run predicted, in order within each order', async () => {
      await local.create('both')
      await dead('payment', 'both', payment)
      const second = await dead('refund', 'both')
      // Behind another of its order, it is not visible.
      expect((await local.relay(['dead', 'replay', second])).err).toContain(`no message "${second}" is among`)
      expect((await local.relay(['dead', 'list'])).out).toContain('1 more message not shown')
      const { code, data: replayed } = await local.json(['dead', 'replay', '--order', 'both'])
      const two = [expect.any(String), expect.any(String)]
      expect([code, replayed]).toMatchObject([0, { replayed: two, behind: [], missing: [] }])
      expect(await local.order('both')).toMatchObject({
        status: 'refunded',
        receipt_number: expect.any(Number),
      })
      expect((await data('dead', 'list')).total).toBe(0)
    })

    test('a message of a feed returns to the feed', async () => {
      const order = { source: 'demo-shop', external_id: 'notified' }
      const delivery = await local.enqueue('feeds-dead.fifo', 'order.updated', order)
      await empty('feed-demo-shop.fifo')()
      expect((await data('dead', 'list')).letters).toMatchObject([
        { from: 'feed', source: 'demo-shop', delivery },
      ])
      expect((await local.relay(['dead', 'replay', delivery])).code).toBe(0)
      const [message] = await drain(local.stack().sqs, local.queue('feed-demo-shop.fifo'))
      expect(JSON.parse(message?.Body ?? '')).toMatchObject({ delivery })
      expect(message?.Attributes?.MessageGroupId).toBe(messageGroupOf(order))
    })
  })

  describe('quarantine', () => {
    beforeEach(empty('quarantine'))
    const webhook = (external_id: string, source = 'api') =>
      JSON.stringify({
        event: 'order.updated',
        delivery: randomUUID(),
        data: { source, external_id, status: 'paid' },
      })

    test('what can be read by now is queued and recorded, once', async () => {
      expect((await local.relay(['quarantine', 'list'])).out).toBe(
        'Nothing in quarantine in the local stack.\n',
      )
      const body = webhook('read-later')
      await local.quarantine('webhook', body)
      await local.quarantine('webhook', body)
      const predicted = await data('quarantine', 'replay', '--all', '--dry-run')
      expect(predicted).toMatchObject({ dry_run: true, calls: { payment: 0, refund: 0 } })
      const { code, data: replayed } = await local.json(['quarantine', 'replay', '--all'])
      expect([code, replayed.entries]).toMatchObject([0, [{ outcome: 'replayed' }, { outcome: 'duplicate' }]])
      await until(async () => (await local.relay(['orders', 'show', 'api', 'read-later'])).code === 0)
      const { delivery } = JSON.parse(body)
      expect(await data('deliveries', 'show', delivery)).toMatchObject({ external_id: 'read-later' })
    })

    test('so is an event of the order queue', async () => {
      await local.create('line')
      const event = { event: 'order.payment', delivery: randomUUID() }
      const order = { source: 'api', external_id: 'line', ...payment }
      await local.quarantine('worker', JSON.stringify({ ...event, data: order }))
      expect((await local.relay(['quarantine', 'replay', '--order', 'line'])).code).toBe(0)
      await until(async () => (await local.order('line')).status === 'paid')
    })

    test('what the relay cannot read, for instance nested too deeply, or has no store for, is kept', async () => {
      const nested = `${'['.repeat(65)}${']'.repeat(65)}`
      const body = webhook('deep').replace('"paid"', `"paid","extra":${nested}`)
      await local.quarantine('worker', body)
      await local.quarantine('webhook', body)
      await local.quarantine('webhook', webhook('foreign', 'someone-else'))
      const { entries } = await data('quarantine', 'list')
      expect(entries).toMatchObject([{ readable: false }, { readable: false }, { readable: true }])
      const { code, out } = await local.relay(['quarantine', 'replay', '--all'])
      expect(out).toMatch(
        /^Replayed 0 messages.(\n.*kept: still unreadable){2}\n.*kept: belongs to no store in stores.yml\n$/,
      )
      expect(code).toBe(1)
      expect((await data('quarantine', 'list')).total).toBe(3)
    })
  })
}
