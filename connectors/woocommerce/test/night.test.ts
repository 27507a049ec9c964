import { expect, test } from '@jest/globals'
import { META_KEY } from '../lib/shop.ts'
import type { SyncDependencies } from '../lib/synchronize.ts'
import { served, startConnector } from './connector.ts'

const ORDERS = 36
const MINUTE = 60_000

/** A synchronizer that is killed after a call has reached the other side. */
const killedAfter = (dependencies: SyncDependencies, calls: number): Partial<SyncDependencies> => {
  let left = calls
  const die = <Answer>(answer: Answer): Answer => {
    if (left-- === 0) throw new Error('killed')
    return answer
  }
  return {
    openRelay: connection => {
      const relay = dependencies.openRelay(connection)
      return { ...relay, create: async (...given) => die(await relay.create(...given)) }
    },
    openShop: connection => {
      const shop = dependencies.openShop(connection)
      return { ...shop, addNote: async (...given) => die(await shop.addNote(...given)) }
    },
  }
}

test.each([true, false])(
  '36 orders survive four kills, disabled webhooks and a night (HPOS: %s): invoiced once, with equal totals and current metadata',
  async hpos => {
    await using connector = await startConnector({ hpos })
    const { shop, dependencies } = connector
    await using endpoint = await served(connector)
    const created = []
    for (const topic of ['order.created', 'order.updated'])
      created.push(
        await shop.webhooks.create({
          name: topic,
          topic,
          delivery_url: endpoint.url,
          secret: 'webhook secret',
        }),
      )
    const ids: number[] = []
    const order = (index: number) => {
      const given = {
        items: [
          { sku: 'SKU-1', quantity: 1 + (index % 3), total: `${100_000 + index}`, total_tax: '10000.1' },
        ],
        payment_method: ['zarinpal', 'cod', 'bacs'][index % 3] ?? '',
        total: `${110_000 + index}`,
      }
      if (index % 2 === 0) return ids.push(shop.create(given).id)
      const checkout = shop.checkout(given)
      checkout.place()
      return ids.push(checkout.id)
    }
    for (let kill = 0; kill < 4; kill++) {
      for (let index = 0; index < 6; index++) order(kill * 6 + index)
      await shop.visit()
      await connector.settle(killedAfter(dependencies, kill * 2))
    }
    // The endpoint is down until the shop silently disables its webhooks.
    endpoint.setDown(true)
    for (let index = 24; index < ORDERS; index++) order(index)
    await shop.visit()
    endpoint.setDown(false)
    expect(created.map(({ id }) => shop.webhooks.get(id)?.status)).toEqual(['disabled', 'disabled'])
    // Bank transfers arrive, orders are delivered, one is cancelled and two are refunded.
    for (const id of ids)
      if (shop.order(id).payment_method !== 'zarinpal') shop.edit(id, { status: 'completed' })
    for (let run = 0; run < 8 * 30; run += 15) {
      await connector.poll(30 * MINUTE)
      await connector.settle()
    }
    const [refunded = 0, partly = 0, cancelled = 0] = ids
    shop.edit(refunded, { status: 'refunded' })
    shop.refund(partly, '5000')
    shop.edit(cancelled, { status: 'cancelled' })
    await connector.poll(24 * 60 * MINUTE)
    await connector.settle()
    expect(await connector.poll(2 * MINUTE)).toEqual([])
    expect(created.map(({ id }) => shop.webhooks.get(id)?.status)).toEqual(['active', 'active'])

    for (const id of ids) {
      const { result, attention } = await connector.state(id)
      const invoiced = (await connector.panel('GET', `orders/${id}?source=shop`)) as { total: string }
      const notes = shop.notes(id).map(({ note }) => note)
      const meta = shop.order(id).meta_data.filter(({ key }) => key === META_KEY)
      expect({
        id,
        status: result?.status,
        total: invoiced.total,
        requests: connector.requests.filter(request => request === `refund ${id}`).length,
        attention: attention?.code,
        repeated: notes.filter((note, index) => notes.indexOf(note) !== index),
        meta: meta.map(({ value }) => JSON.parse(String(value)).status),
      }).toEqual({
        id,
        status: id === refunded ? 'refunded' : 'paid',
        total: shop.order(id).total,
        requests: id === refunded ? 1 : 0,
        attention: id === partly ? 'partial_refund' : id === cancelled ? 'cancelled' : undefined,
        repeated: [],
        meta: [id === refunded ? 'refunded' : 'paid'],
      })
    }
    // Invoices are numbered consecutively.
    const numbers = await Promise.all(ids.map(async id => (await connector.state(id)).result?.invoice_number))
    expect(numbers.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids.map((_, index) => index + 1))
  },
)
