import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { attentionTexts } from '../lib/cases.ts'
import { readSettings, settingsFile } from '../lib/settings.ts'
import { META_KEY } from '../lib/shop.ts'
import { type Connector, startConnector } from './connector.ts'

const DAY_MS = 24 * 60 * 60_000

const ITEM = { sku: 'SKU-1', total: '100000', total_tax: '10000' }

const metaOf = ({ shop }: Connector, id: number) => {
  const value = shop.order(id).meta_data.find(({ key }) => key === META_KEY)?.value
  return value === undefined ? undefined : JSON.parse(String(value))
}

const notesOf = ({ shop }: Connector, id: number) => shop.notes(id).map(({ note }) => note)

const requestsOf = ({ requests }: Connector, id: number) =>
  requests.filter(request => request.endsWith(` ${id}`))

/** Creates an order in the shop and lets it settle. */
const ordered = async (connector: Connector, given: Parameters<Connector['shop']['create']>[0] = {}) => {
  const { id } = connector.shop.create({ items: [ITEM], ...given })
  connector.hint(id)
  await connector.settle()
  return id
}

let connector: Connector

beforeAll(async () => {
  connector = await startConnector()
})
afterAll(() => connector[Symbol.asyncDispose]())

describe('an order of the shop', () => {
  test('becomes an invoice with its payment, which the shop shows', async () => {
    const id = await ordered(connector)
    expect(requestsOf(connector, id)).toEqual([`create ${id}`])
    expect(metaOf(connector, id)).toMatchObject({
      status: 'paid',
      version: 1,
      receipt_number: expect.any(Number),
    })
    expect(notesOf(connector, id)).toEqual([
      expect.stringMatching(/^Accounting service: payment registered, invoice \d+, receipt \d+\.$/),
    ])
  })

  test('with cash on delivery is paid when it is completed, and returned when it is fully refunded', async () => {
    const id = await ordered(connector, { payment_method: 'cod' })
    expect(metaOf(connector, id)).toMatchObject({ status: 'invoiced' })
    connector.shop.edit(id, { status: 'completed' })
    connector.hint(id)
    await connector.settle()
    expect(metaOf(connector, id)).toMatchObject({ status: 'paid' })
    connector.shop.edit(id, { status: 'refunded' })
    connector.hint(id)
    await connector.settle()
    expect(metaOf(connector, id)).toMatchObject({ status: 'refunded', version: 3 })
    expect(requestsOf(connector, id)).toEqual([`create ${id}`, `payment ${id}`, `refund ${id}`])
    expect(notesOf(connector, id)).toHaveLength(3)
  })

  test('shows that an accountant has to review it, and later that it is paid', async () => {
    await connector.panel('PUT', 'settings', { automaticFinalization: false })
    const id = await ordered(connector)
    expect(metaOf(connector, id)).toMatchObject({ status: 'needs_review' })
    expect(notesOf(connector, id)[0]).toMatch(/^Accounting service: the invoice needs review/)
    await connector.panel('PUT', 'settings', { automaticFinalization: true })
    await connector.panel('POST', `orders/${id}/retry?source=shop`)
    await connector.follow(String(id))
    await connector.settle()
    expect(metaOf(connector, id)).toMatchObject({ status: 'paid' })
  })

  test('is not sent before it is paid or in progress', async () => {
    const before = connector.requests.length
    for (const status of ['pending', 'on-hold', 'checkout-draft', 'cancelled', 'failed'])
      await ordered(connector, { status })
    expect(connector.requests).toHaveLength(before)
  })
})

describe('lists orders that need attention, notes them in the shop, and refunds nothing', () => {
  test.each<[string, (connector: Connector, id: number) => unknown, string]>([
    ['a partial refund', ({ shop }, id) => shop.refund(id, '50000'), 'partial_refund'],
    ['an edit', ({ shop }, id) => shop.edit(id, { total: '90000' }), 'edited'],
    ['a cancellation', ({ shop }, id) => shop.edit(id, { status: 'cancelled' }), 'cancelled'],
    ['the trash', ({ shop }, id) => shop.trash(id), 'cancelled'],
  ])('%s', async (_, change, code) => {
    const id = await ordered(connector)
    change(connector, id)
    connector.hint(id)
    await connector.settle()
    const { attention } = await connector.state(id)
    expect(attention?.code).toBe(code)
    expect(notesOf(connector, id)[0]).toBe(attention && attentionTexts(attention).en.replaceAll('"', '&#34;'))
    expect(requestsOf(connector, id)).toEqual([`create ${id}`])
    expect(metaOf(connector, id)).toMatchObject({ status: 'paid' })
  })

  test('an item without an SKU, until it has one', async () => {
    const id = await ordered(connector, { items: [{ ...ITEM, sku: null, name: '<script>' }] })
    expect(notesOf(connector, id)).toEqual([
      'A product has no SKU (&#60;script&#62;). Enter its code from the accounting service as the SKU.',
    ])
    connector.shop.sql(id, {
      line_items: connector.shop.order(id).line_items.map(line => ({ ...line, sku: 'SKU-1' })),
    })
    await connector.poll()
    await connector.settle()
    expect(metaOf(connector, id)).toMatchObject({ status: 'paid' })
    expect((await connector.state(id)).attention).toBeUndefined()
  })

  test('a refused order is sent once, and again after it is corrected', async () => {
    const id = await ordered(connector, { items: [{ ...ITEM, sku: 'UNKNOWN' }] })
    for (let again = 0; again < 3; again++) {
      connector.hint(id)
      await connector.settle()
    }
    expect(requestsOf(connector, id)).toEqual([`create ${id}`])
    expect((await connector.state(id)).attention).toMatchObject({ code: 'create_refused' })
    expect(notesOf(connector, id)).toHaveLength(1)
    connector.shop.sql(id, {
      line_items: connector.shop.order(id).line_items.map(line => ({ ...line, sku: 'SKU-1' })),
    })
    connector.hint(id)
    await connector.settle()
    expect(metaOf(connector, id)).toMatchObject({ status: 'paid' })
  })
})

test('sends an order created before the connection only in an import', async () => {
  await using connector = await startConnector()
  connector.connection.since = new Date(Date.now() + 60_000).toISOString()
  const id = await ordered(connector)
  expect(await connector.poll()).toEqual([])
  expect(connector.requests).toEqual([])
  connector.events.push({ source: 'shop', order: String(id), isImport: true })
  await connector.settle()
  expect(metaOf(connector, id)).toMatchObject({ status: 'paid' })
})

describe('the status of the shop', () => {
  test('follows a mapped status of the accounting service once', async () => {
    await using connector = await startConnector()
    const { shop } = connector
    connector.connection.settings.shopStatuses = { invoiced: 'completed', paid: 'completed' }
    const id = await ordered(connector)
    expect(shop.order(id).status).toBe('completed')
    shop.edit(id, { status: 'processing' })
    expect(await connector.poll()).toEqual([])
    // That status would mark the order as paid.
    const onDelivery = await ordered(connector, { payment_method: 'cod' })
    expect(shop.order(onDelivery)).toMatchObject({ status: 'processing', date_paid_gmt: null })
    expect(await connector.poll()).toEqual([])
    // The order is no longer sold.
    const cancelled = shop.create({ items: [ITEM] }).id
    connector.hint(cancelled)
    const relayed = connector.settle()
    shop.edit(cancelled, { status: 'cancelled' })
    await relayed
    connector.hint(cancelled)
    await connector.settle()
    expect(shop.order(cancelled).status).toBe('cancelled')
  })

  test('is never set to one that refunds, cancels or hides an order', () => {
    for (const status of ['refunded', 'cancelled', 'failed', 'trash'])
      expect(() =>
        readSettings(settingsFile({ ...connector.connection.settings, shopStatuses: { paid: status } })),
      ).toThrow('shopStatuses.paid is')
  })
})

test('notes a second partial refund separately, and ignores a refund of zero', async () => {
  const id = await ordered(connector)
  for (const amount of ['0', '', '10000', '20000']) {
    connector.shop.refund(id, amount)
    connector.hint(id)
    await connector.settle()
  }
  expect(notesOf(connector, id).slice(0, -1)).toEqual(
    ['30,000', '10,000'].map(amount => expect.stringContaining(`was refunded (${amount} IRR)`)),
  )
})

test('a renamed SKU or a deleted product does not change an invoice', async () => {
  const item = { ...ITEM, sku: 'SKU-1' }
  await using connector = await startConnector()
  const id = await ordered(connector, { items: [item] })
  for (const sku of ['SKU-2', null]) {
    connector.shop.changeSku(sku === null ? 'SKU-2' : 'SKU-1', sku)
    connector.hint(id)
    await connector.settle()
  }
  expect((await connector.state(id)).attention).toBeUndefined()
  expect(requestsOf(connector, id)).toHaveLength(1)
})

test('its own writes start no loop, with or without HPOS', async () => {
  for (const hpos of [true, false]) {
    await using connector = await startConnector({ hpos })
    const id = await ordered(connector)
    const before = connector.shop.requests()
    // Every write of the connector triggers another webhook.
    for (let echo = 0; echo < 5; echo++) {
      connector.hint(id)
      await connector.settle()
    }
    expect(connector.shop.requests() - before).toBe(5)
    expect(connector.requests).toHaveLength(1)
    expect(notesOf(connector, id)).toHaveLength(1)
  }
})

test('a message of an older version changes nothing', async () => {
  const id = await ordered(connector)
  connector.publish(String(id), 'order.updated', { status: 'refunded', return_number: 7 })
  await connector.settle()
  const state = await connector.state(id)
  expect(state.version).toBe(2)
  expect(metaOf(connector, id)).toMatchObject({ status: 'refunded', return_number: 7 })
})

describe('polling', () => {
  test('finds orders and changes whose webhooks were lost, and enqueues nothing twice', async () => {
    await using connector = await startConnector()
    const first = connector.shop.create({ items: [ITEM] }).id
    expect(await connector.poll()).toContain(String(first))
    await connector.settle()
    expect(await connector.poll()).toEqual([])
    connector.shop.edit(first, { status: 'refunded' })
    expect(await connector.poll()).toEqual([String(first)])
    await connector.settle()
    expect(metaOf(connector, first)).toMatchObject({ status: 'refunded' })
  })

  test('compares all orders once a day to find changes that do not update the date, and reactivates disabled webhooks', async () => {
    await using connector = await startConnector({ hpos: false })
    const id = await ordered(connector)
    const { id: webhook } = await connector.shop.webhooks.create({
      name: 'test',
      topic: 'order.updated',
      delivery_url: 'http://127.0.0.1:1/',
      secret: 's',
    })
    connector.connection.webhooks = { secret: 's', url: 'http://127.0.0.1:1/' }
    // At any time of day, the following polls are in one night, which begins at 3:00 in Tehran.
    expect(await connector.poll(DAY_MS - ((Date.now() + 30 * 60_000) % DAY_MS) + 1000)).toEqual([])
    for (let failure = 0; failure < 7; failure++) {
      connector.shop.webhooks.queue('order.updated', id)
      await connector.shop.visit()
    }
    expect(connector.shop.webhooks.get(webhook)).toMatchObject({ status: 'disabled' })
    expect(await connector.poll(30 * 60_000)).toEqual([])
    connector.shop.sql(id, { total: '1' })
    expect(await connector.poll(30 * 60_000)).toEqual([])
    expect(await connector.poll(DAY_MS)).toEqual([String(id)])
    expect(connector.shop.webhooks.get(webhook)).toMatchObject({ status: 'active' })
  })
})
