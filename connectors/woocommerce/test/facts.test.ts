import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { READ_ONLY } from '../fake/http.ts'
import { mapOrder } from '../lib/mapping.ts'
import { poller } from '../lib/poll.ts'
import { createShop } from '../lib/shop.ts'
import type { ShopOrder } from '../lib/shop-order.ts'
import { type Connector, served, startConnector } from './connector.ts'

/** Behavior measured on real shops that makes naive clients lose or repeat orders. */

const ITEM = { sku: 'SKU-1', total: '100000', total_tax: '10000' }
const DAY = 24 * 3_600_000

let connector: Connector

beforeAll(async () => {
  connector = await startConnector()
})
afterAll(() => connector[Symbol.asyncDispose]())

/** Reads an order, and lets the connector handle it. */
const handled = async (id: number) => {
  connector.hint(id)
  await connector.settle()
  return connector.state(id)
}

const ordered = async (given: Parameters<Connector['shop']['create']>[0] = {}) => {
  const { id } = connector.shop.create({ items: [ITEM], ...given })
  await handled(id)
  return id
}

test('registers the payment of cash on delivery when the order is completed, even if it was created as paid', async () => {
  const id = await ordered({ payment_method: 'cod', set_paid: true })
  expect((await connector.state(id)).result?.status).toBe('invoiced')
  connector.shop.edit(id, { status: 'completed' })
  expect((await handled(id)).result?.status).toBe('paid')
})

test('registers a late payment of a cancelled order, but not one whose payment date remains after a failure', async () => {
  const failed = await ordered({ status: 'failed', set_paid: true })
  expect((await connector.state(failed)).create).toBeUndefined()
  const id = await ordered({ payment_method: 'cod' })
  connector.shop.edit(id, { status: 'cancelled' })
  expect((await handled(id)).attention?.code).toBe('cancelled')
  connector.shop.edit(id, { status: 'completed' })
  expect(await handled(id)).toMatchObject({ result: { status: 'paid' }, payment: { outcome: 'accepted' } })
  expect((await connector.state(id)).attention).toBeUndefined()
})

test('polling finds the delivery that a killed queue process loses, and those that it delays by 335 s', async () => {
  await using connector = await startConnector({ now: () => new Date(time) })
  let time = Date.now()
  const { shop } = connector
  await using endpoint = await served(connector)
  for (const topic of ['order.created', 'order.updated'])
    await shop.webhooks.create({ name: topic, topic, delivery_url: endpoint.url, secret: 'webhook secret' })
  const ids = [shop.create({ items: [ITEM] }).id, shop.create({ items: [ITEM] }).id]
  shop.webhooks.kill()
  await shop.visit()
  expect(connector.events).toEqual([])
  await connector.poll()
  await connector.settle()
  for (const id of ids) expect((await connector.state(id)).result?.status).toBe('paid')
  time += 336_000
  await shop.visit()
  expect(connector.events.length).toBeGreaterThan(0)
  await connector.settle()
  expect(connector.requests).toEqual(ids.map(id => `create ${id}`))
})

test('accepts a signed error about a deleted order, so that the webhook stays active', async () => {
  await using connector = await startConnector()
  const { shop } = connector
  await using endpoint = await served(connector)
  const { id: webhook } = await shop.webhooks.create({
    name: 'updated',
    topic: 'order.updated',
    delivery_url: endpoint.url,
    secret: 'webhook secret',
  })
  for (let order = 0; order < 8; order++) {
    shop.delete(shop.create({ items: [ITEM] }).id)
    await shop.visit()
  }
  expect([connector.events, shop.webhooks.get(webhook)?.status]).toEqual([[], 'active'])
})

test.each<[string, (shop: Connector['shop'], id: number) => unknown, number, number]>([
  ['the first one, deleted', (shop, id) => shop.delete(id), 0, 3],
  ['one in between, deleted', (shop, id) => shop.delete(id), 1, 3],
  ['one in between, in the trash', (shop, id) => shop.trash(id), 1, 3],
  ['the latest, deleted', (shop, id) => shop.delete(id), 2, 3],
  ['the only one, deleted', (shop, id) => shop.delete(id), 0, 1],
])(
  'the nightly comparison finds an invoiced order that left the shop, once: %s',
  async (_, lose, lost, orders) => {
    await using connector = await startConnector()
    const ids = Array.from({ length: orders }, () => connector.shop.create({ items: [ITEM] }).id)
    const id = ids[lost] ?? 0
    ids.forEach(connector.hint)
    await connector.settle()
    await connector.poll(DAY)
    await connector.settle()
    lose(connector.shop, id)
    expect(await connector.poll()).toEqual([])
    expect(await connector.poll(DAY)).toEqual([String(id)])
    await connector.settle()
    expect((await connector.state(id)).attention?.code).toBe('cancelled')
    expect(await connector.poll(DAY)).toEqual([])
  },
)

test('a comparison that continues in the next run finds an order that was deleted between two pages', async () => {
  await using connector = await startConnector()
  const { shop, connection } = connector
  const ids = Array.from({ length: 150 }, () => shop.create({ items: [ITEM] }).id)
  const id = ids[100] ?? 0
  connector.hint(id)
  await connector.settle()
  shop.delete(id)
  const queued: string[] = []
  // Noon of the next day. The clock advances at each read by more than the time limit of a run.
  let time = (Math.ceil(Date.now() / DAY) + 0.5) * DAY
  const poll = poller({
    states: connector.states,
    connections: { all: async () => [{ ...connection, since: '9999-01-01' }] },
    openShop: each => createShop(each.shop),
    enqueue: async ({ order }) => {
      queued.push(order)
    },
    now: () => {
      time += 130_000
      return time
    },
    log: () => undefined,
    onError: () => undefined,
  })
  await poll()
  expect(queued).toEqual([])
  await poll()
  expect(queued).toEqual([String(id)])
})

test('the nightly comparison excludes orders that are older than a month', async () => {
  await using connector = await startConnector()
  const { id } = connector.shop.create({ items: [ITEM] })
  connector.hint(id)
  await connector.settle()
  connector.shop.delete(id)
  expect(await connector.poll(40 * DAY)).toEqual([])
})

test('the nightly comparison detects deleted refunds, which send no webhook, and removes the order from the list', async () => {
  const id = await ordered()
  connector.shop.refund(id, '5000')
  expect((await handled(id)).attention?.code).toBe('partial_refund')
  connector.shop.deleteRefunds(id)
  expect(await connector.poll(DAY)).toEqual([String(id)])
  await connector.settle()
  expect((await connector.state(id)).attention).toBeUndefined()
})

/** Reads a list page by page; an order changes after each page. */
const readWhileChanging = async (orders: AsyncIterable<{ id: number }>, change: () => void) => {
  const found = new Set<number>()
  let read = 0
  for await (const { id } of orders) {
    found.add(id)
    if (++read % 100 === 0) change()
  }
  return found
}

test('a list by id misses no order that changes while its pages are read, unlike a list by date', async () => {
  let time = Date.now()
  await using connector = await startConnector({ now: () => new Date(time) })
  const { shop } = connector
  const since = new Date(time - 1000)
  const ids = Array.from({ length: 250 }, () => {
    time += 1000
    return shop.create({ items: [ITEM] }).id
  })
  const change = (first: number) => () => {
    time += 1000
    for (const id of ids.slice(first, first + 30)) shop.edit(id, {})
  }
  const client = createShop(shop)
  expect((await readWhileChanging(client.changedSince(since), change(0))).size).toBe(250)
  async function* byDate() {
    for (let page = 1; page <= 3; page++) {
      const query = { orderby: 'modified', order: 'asc', per_page: 100, page, status: 'any' }
      yield* (await client.request('GET', 'orders', query)).json as { id: number }[]
    }
  }
  expect((await readWhileChanging(byDate(), change(30))).size).toBeLessThan(250)
})

test('a list of any status excludes the trash, even if it is requested', async () => {
  const id = await ordered()
  connector.shop.trash(id)
  const client = createShop(connector.shop)
  for (const status of ['any', 'any,trash']) {
    const { json } = await client.request('GET', 'orders', { status, per_page: 100 })
    expect((json as { id: number }[]).map(order => order.id)).not.toContain(id)
  }
  expect((await client.order(id))?.status).toBe('trash')
})

test("the date of an invoice is in the accounting service's time zone, regardless of the shop's", async () => {
  const client = createShop(connector.shop)
  const { id } = connector.shop.create({ items: [ITEM] })
  connector.shop.sql(id, { date_created_gmt: '2026-03-20T20:45:00' })
  for (const minutes of [0, 210, 600]) {
    connector.shop.setZone(minutes)
    const order = (await client.order(id)) as ShopOrder
    expect(mapOrder(order, connector.connection.settings).request?.date).toBe('2026-03-21')
  }
})

test('a lower quantity with the same row total changes the price before the invoice, and needs attention afterwards', async () => {
  const items = [{ ...ITEM, quantity: 2 }]
  const { shop } = connector
  const lower = (id: number) => {
    const [line] = shop.order(id).line_items
    if (line !== undefined) shop.edit(id, { line_items: [{ ...line, quantity: 1 }] })
  }
  const early = shop.create({ items, status: 'on-hold' }).id
  lower(early)
  shop.edit(early, { status: 'processing' })
  expect((await handled(early)).result?.status).toBe('paid')
  const late = await ordered({ items })
  lower(late)
  expect((await handled(late)).attention?.code).toBe('edited')
  const total = async (id: number) => (await connector.panel('GET', `orders/${id}?source=shop`)).total
  expect([await total(early), await total(late)]).toEqual(['110000', '110000'])
})

test('a read-only key reads orders and cannot write', async () => {
  const { shop } = connector
  const id = await ordered()
  const reader = createShop({ url: shop.url, ...READ_ONLY })
  expect((await reader.order(id))?.id).toBe(id)
  const refused = { status: 401, code: 'woocommerce_rest_authentication_error' }
  await expect(reader.update(id, { meta: 'x' })).rejects.toMatchObject(refused)
  await expect(reader.createWebhook('order.updated', shop.url, 's')).rejects.toMatchObject(refused)
})
