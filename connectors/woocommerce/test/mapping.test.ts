import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { startSandbox } from 'order-relay-sandbox'
import * as v from 'valibot'
import { type NewOrder, newOrder } from '../fake/orders.ts'
import { mapOrder } from '../lib/mapping.ts'
import { mobileOf } from '../lib/mobile.ts'
import { DEFAULTS, type Settings } from '../lib/settings.ts'
import { shopOrder } from '../lib/shop-order.ts'

const SETTINGS: Settings = {
  ...DEFAULTS,
  source: 'shop',
  shop: 'https://shop.example',
  currency: 'IRR',
  decimals: 0,
  taxRate: 10,
  pricesIncludeTax: true,
}

/** Ten times the largest exact number. */
const HUGE = '90071992547409930'

const orderOf = (given: NewOrder, now = new Date('2026-03-20T21:00:00Z')) =>
  v.parse(shopOrder, newOrder(1, now, given))

const map = (given: NewOrder, settings: Partial<Settings> = {}) =>
  mapOrder(orderOf(given), { ...SETTINGS, ...settings })

describe('an order becomes a create request', () => {
  test('with a coupon as the discount of its row, tax included, and the day in Tehran', () => {
    const { request, problems } = map({
      items: [
        {
          sku: 'A',
          quantity: 2,
          subtotal: '200000',
          subtotal_tax: '20000',
          total: '180000',
          total_tax: '18000',
        },
      ],
      shipping: { total: '50000', total_tax: '5000' },
      transaction_id: 'T-1',
    })
    expect(problems).toEqual([])
    expect(request).toEqual({
      external_id: '1',
      date: '2026-03-21',
      customer: { mobile: '09121234567', name: 'مریم رضایی' },
      items: [{ sku: 'A', quantity: 2, unit_price: 110_000, discount: 22_000, name: 'Product A' }],
      shipping: 55_000,
      payment: { method: 'online', reference: 'T-1', date: '2026-03-21' },
    })
  })

  test('in tomans at ten rials each', () => {
    expect(map({ currency: 'IRT', items: [{ sku: 'A', total: '1500' }] }).request?.items[0]?.unit_price).toBe(
      15_000,
    )
  })

  test('with a price rounded up to whole rials, and the excess as a discount', () => {
    const { request } = map({ items: [{ sku: 'A', quantity: 3, total: '100' }] })
    expect(request?.items[0]).toMatchObject({ quantity: 3, unit_price: 34, discount: 2 })
  })

  test('with fees in its shipping and negative fees as its discount', () => {
    const fees = [
      { name: 'gift wrap', total: '1000' },
      { name: 'loyalty', total: '-300' },
    ]
    expect(map({ items: [{ sku: 'A', total: '5000' }], fees }).request).toMatchObject({
      shipping: 1000,
      discount: 300,
    })
  })

  test('with the rounding difference on its largest row', () => {
    const items = ['333.333333', '666.666667', '0.4'].map((total, index) => ({ sku: `S${index}`, total }))
    const { request, invoiceTotal } = map({ items, total: '1001' })
    expect(request?.items.map(({ unit_price }) => unit_price)).toEqual([333, 668, 0])
    expect(invoiceTotal).toBe(1001n)
  })

  test('without a payment for cash on delivery until it is completed, and after a cancellation', () => {
    const payment = (given: NewOrder) => map(given).request?.payment?.method
    expect(payment({ payment_method: 'cod', status: 'processing' })).toBeUndefined()
    expect(payment({ payment_method: 'cod', status: 'completed' })).toBe('cash')
    expect(payment({ status: 'cancelled', set_paid: true })).toBeUndefined()
    expect(payment({ payment_method: 'bacs', status: 'on-hold' })).toBeUndefined()
    expect(payment({ payment_method: 'pos', set_paid: true })).toBe('online')
  })
})

describe('an order that cannot become an invoice is reported', () => {
  const codes = (given: NewOrder, settings?: Partial<Settings>) =>
    map(given, settings).problems.map(({ code }) => code)

  test.each<[string, NewOrder, string]>([
    ['another currency', { currency: 'USD' }, 'currency'],
    ['no items', { items: [] }, 'no_items'],
    ['an item without an SKU', { items: [{ sku: null, total: '1' }] }, 'no_sku'],
    ['a quantity of zero', { items: [{ sku: 'A', quantity: 0, total: '1' }] }, 'bad_quantity'],
    ['a negative item', { items: [{ sku: 'A', total: '-1' }] }, 'bad_amount'],
    [
      'a total that its rows do not explain',
      { items: [{ sku: 'A', total: '1000' }], total: '900' },
      'rows_and_total',
    ],
    [
      'negative fees above the items',
      { items: [{ sku: 'A', total: '5' }], fees: [{ name: 'x', total: '-9' }] },
      'discount_too_large',
    ],
    ['an amount beyond exact numbers', { items: [{ sku: 'A', total: HUGE }], total: HUGE }, 'too_large'],
  ])('%s', (_, given, code) => {
    expect(codes(given)).toContain(code)
  })

  test('a total that the accounting service rounds differently when it adds tax', () => {
    const items = [1, 2, 3].map(index => ({ sku: `S${index}`, total: '5', total_tax: '0.5' }))
    expect(map({ items, total: '17' }, { pricesIncludeTax: false })).toMatchObject({
      invoiceTotal: 18n,
      problems: [{ code: 'tax_rounding', detail: '1' }],
    })
  })
})

test.each([
  ...['09121234567', '9121234567', '+989121234567', '00989121234567', '98 912 123 4567', '۰۹۱۲۱۲۳۴۵۶۷'],
  ...['٠٩١٢١٢٣٤٥٦٧', '0912-123-4567', '\u200e0912 1234567\u200f', '+98 (0) 912 123 45 67'],
])('the mobile number %j is normalized', text => {
  expect(mobileOf(text)).toBe('09121234567')
})

test.each(['', '02112345678', '0912123456', '+15551234567', 'call me'])('%j is not a mobile number', text => {
  expect(mobileOf(text)).toBeUndefined()
})

test('the sandbox invoices random orders with the totals of the shop', async () => {
  await using sandbox = await startedSandbox()
  await sandbox.put('panel/settings', { pricesIncludeTax: true, taxRate: 9 })
  const money = fc.integer({ min: 1000, max: 90_000_000 }).map(cents => (cents / 100).toFixed(2))
  const item = fc.record({
    quantity: fc.integer({ min: 1, max: 7 }),
    subtotal: money,
    off: fc.integer({ min: 0, max: 90 }),
  })
  const order = fc.record({
    items: fc.array(item, { minLength: 1, maxLength: 6 }),
    shipping: money,
    rate: fc.constantFrom(0, 9, 10),
    currency: fc.constantFrom('IRR', 'IRT'),
    decimals: fc.constantFrom(0, 2),
  })
  let id = 0
  await fc.assert(
    fc.asyncProperty(order, async ({ items, shipping, rate, currency, decimals }) => {
      const tax = (net: string) => ((Number(net) * rate) / 100).toFixed(6)
      const lines = items.map(({ quantity, subtotal, off }) => {
        const total = ((Number(subtotal) * (100 - off)) / 100).toFixed(6)
        return { sku: 'SKU-1', quantity, subtotal, subtotal_tax: tax(subtotal), total, total_tax: tax(total) }
      })
      const whole = [...lines, { total: shipping, total_tax: tax(shipping) }]
      const total = whole
        .reduce((sum, row) => sum + Number(row.total) + Number(row.total_tax), 0)
        .toFixed(decimals)
      const given = { currency, items: lines, shipping: { total: shipping, total_tax: tax(shipping) }, total }
      const mapped = mapOrder(v.parse(shopOrder, newOrder(++id, new Date(), given)), {
        ...SETTINGS,
        taxRate: 9,
        decimals,
      })
      expect(mapped.problems).toEqual([])
      const { total: invoiced } = await sandbox.create({ source: 'shop', ...mapped.request })
      expect(invoiced).toBe(String(mapped.total))
    }),
    { numRuns: 100 },
  )
})

const startedSandbox = async () => {
  const { url, close } = await startSandbox({ port: 0 })
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' }
    const response = await fetch(`${url}/${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    return (await response.json()) as { total: string }
  }
  return {
    put: (path: string, body: unknown) => send('PUT', path, body),
    create: (order: unknown) => send('POST', 'api/v1/orders/', order),
    [Symbol.asyncDispose]: close,
  }
}
