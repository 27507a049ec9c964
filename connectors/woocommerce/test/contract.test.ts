import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type FakeShop, startFakeShop } from '../fake/shop.ts'
import { createShop, META_KEY, type Shop } from '../lib/shop.ts'

/**
 * What the connector relies on. Runs against the fake shop, which the other tests use, and unchanged against a real one,
 * in which it creates a product and orders: WOO_URL=https://shop.example WOO_KEY=ck_…:cs_… npm run test:connectors -- -t wc/v3
 */
const { WOO_URL, WOO_KEY = '' } = process.env

describe(`wc/v3 of ${WOO_URL ?? 'the fake shop'}`, () => {
  let fake: FakeShop | undefined
  let shop: Shop
  let product: number

  const made = async (path: string, body: object) =>
    (await shop.request('POST', path, {}, body)).json as { id: number }
  const change = (path: string, body: object) => shop.request('PUT', path, {}, body)
  /** An order of two of the product, at 1,500 each. */
  const ordered = async (given: object = {}) => {
    const line_items = [{ product_id: product, quantity: 2 }]
    const { id } = await made('orders', {
      status: 'processing',
      payment_method: 'bacs',
      line_items,
      ...given,
    })
    return id
  }
  const idsOf = async (orders: AsyncIterable<{ id: number }>) => {
    const ids: number[] = []
    for await (const { id } of orders) ids.push(id)
    return ids
  }
  const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000)

  beforeAll(async () => {
    if (WOO_URL === undefined) fake = await startFakeShop()
    const [key = '', secret = ''] = WOO_KEY.split(':')
    shop = createShop(fake ?? { url: WOO_URL ?? '', key, secret })
    // Without tax, the total is the same whether the shop's prices include tax or not.
    const given = {
      name: 'Contract',
      sku: `contract-${Date.now()}`,
      regular_price: '1500',
      tax_status: 'none',
    }
    product = (await made('products', given)).id
  })
  afterAll(async () => {
    await shop.request('DELETE', `products/${product}`, { force: 'true' })
    await fake?.close()
  })

  test('an order has the amounts, the SKU and the GMT times that the mapping reads', async () => {
    const id = await ordered({ billing: { phone: '0912 123 4567' } })
    const order = await shop.order(id)
    expect(order).toMatchObject({
      id,
      status: 'processing',
      line_items: [{ quantity: 2, sku: expect.stringMatching(/^contract-/) }],
    })
    expect(Number(order?.total)).toBe(3000)
    expect(order?.billing.phone).toBe('0912 123 4567')
    expect(Math.abs(Date.parse(`${order?.date_created_gmt}Z`) - Date.now())).toBeLessThan(15 * 60_000)
  })

  test('an order that does not exist is undefined', async () => {
    expect(await shop.order(2_000_000_000)).toBeUndefined()
  })

  test('lists by creation date and by modification date contain the order, sorted by id', async () => {
    const [first, second] = [await ordered(), await ordered()]
    for (const list of [shop.orders(hour(-1), hour(1)), shop.changedSince(hour(-1))]) {
      const ids = await idsOf(list)
      expect(ids).toEqual(expect.arrayContaining([first, second]))
      expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    }
    expect(await idsOf(shop.changedSince(hour(1)))).toEqual([])
  })

  test('a filter with a time zone silently matches nothing', async () => {
    await ordered()
    const query = { status: 'any', dates_are_gmt: 'true', modified_after: hour(-1).toISOString() }
    expect((await shop.request('GET', 'orders', query)).json).toEqual([])
  })

  test('metadata set by eight concurrent requests is one entry', async () => {
    const id = await ordered()
    await Promise.all(Array.from({ length: 8 }, (_, index) => shop.update(id, { meta: `v${index}` })))
    const entries = (await shop.order(id))?.meta_data.filter(({ key }) => key === META_KEY)
    expect(entries).toEqual([expect.objectContaining({ value: expect.stringMatching(/^v\d$/) })])
  })

  test('notes are private, stored unchanged and not deduplicated', async () => {
    const id = await ordered()
    const text = 'invoice &#34;1&#34; &#60;b&#62;'
    for (let time = 0; time < 2; time++) await shop.addNote(id, text)
    expect((await shop.notes(id)).filter(note => note === text)).toHaveLength(2)
  })

  test('an order with cash on delivery is paid when completed, and keeps its payment date when cancelled', async () => {
    const id = await ordered({ payment_method: 'cod' })
    expect((await shop.order(id))?.date_paid_gmt ?? null).toBeNull()
    await change(`orders/${id}`, { status: 'completed' })
    expect((await shop.order(id))?.date_paid_gmt).toMatch(/^\d{4}-/)
    await change(`orders/${id}`, { status: 'cancelled' })
    expect((await shop.order(id))?.date_paid_gmt).toMatch(/^\d{4}-/)
  })

  test('the status "refunded" refunds the remaining amount, and a higher refund is an error', async () => {
    const id = await ordered()
    await made(`orders/${id}/refunds`, { amount: '1000', api_refund: false })
    await expect(made(`orders/${id}/refunds`, { amount: '99999', api_refund: false })).rejects.toMatchObject({
      name: 'ShopError',
    })
    await change(`orders/${id}`, { status: 'refunded' })
    const refunds = (await shop.order(id))?.refunds.map(({ total }) => Number(total)) ?? []
    expect(refunds.reduce((sum, each) => sum + each, 0)).toBe(-3000)
  })

  test('a webhook is created, reactivated and removed, and its secret is never returned', async () => {
    const url = `http://127.0.0.1:9/shop/${Date.now()}`
    const created = await shop.createWebhook('order.updated', url, 'a secret')
    expect(JSON.stringify(created)).not.toContain('a secret')
    await change(`webhooks/${created.id}`, { status: 'disabled' })
    await shop.activate(created.id)
    expect(await shop.webhooks(url)).toMatchObject([{ status: 'active', topic: 'order.updated' }])
    await shop.removeWebhook(created.id)
    expect(await shop.webhooks(url)).toEqual([])
  })
})
