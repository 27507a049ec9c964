import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { startSandbox } from '../../sandbox/start.ts'
import { clientOf, eachWithSandbox, order } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date(2026, 10, 21, 12) })

const NAMED = { mobile: '09123456789', name: 'سارا محمدی', email: 'sara@example.ir' }

describe('the customer (rules 1 to 3)', () => {
  test('with an unknown mobile number is created, and found in all four forms of the number', async () => {
    const { create, detail, panel } = sandbox()
    const forms = ['09123456789', '9123456789', '+989123456789', '۰۹۱۲۳۴۵۶۷۸۹', '۹۱۲۳۴۵۶۷۸۹']
    for (const [index, mobile] of forms.entries()) {
      const name = index === 0 ? 'سارا محمدی' : 'someone else'
      await create(order(String(index), { customer: { mobile, name, email: 'sara@example.ir' } }))
      expect((await detail(String(index))).customer).toEqual({ code: '09123456789', ...NAMED })
    }
    expect((await panel('customers')).body.customers).toHaveLength(2)
  })

  test('without a name is named after the mobile number', async () => {
    const { create, detail } = sandbox()
    await create(order('1', { customer: { mobile: '9351112233' } }))
    const customer = { code: '09351112233', mobile: '09351112233', name: '09351112233', email: null }
    expect((await detail('1')).customer).toEqual(customer)
  })

  test('without a mobile number is the default customer', async () => {
    const { create, detail } = sandbox()
    const customers = [undefined, null, {}, { mobile: null }, { mobile: '' }, { name: 'no number' }]
    for (const [index, customer] of customers.entries()) {
      expect((await create(order(String(index), { customer }))).status).toBe(201)
      expect((await detail(String(index))).customer).toMatchObject({ code: 'walk-in' })
    }
  })

  test('without a mobile number is refused if there is no default customer', async () => {
    const { create, read, settings } = sandbox()
    await settings({ defaultCustomer: null })
    const { status, body } = await create(order('1'))
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'no_customer', field: 'customer.mobile' })
    expect((await read('1')).status).toBe(404)
    expect((await create(order('1', { customer: NAMED }))).status).toBe(201)
  })

  test('with an unknown number and automatic creation off is the default customer, or refused', async () => {
    const { create, detail, settings, panel } = sandbox()
    await settings({ automaticCustomerCreation: false })
    await create(order('1', { customer: NAMED }))
    expect((await detail('1')).customer).toMatchObject({ code: 'walk-in' })
    await settings({ defaultCustomer: null })
    const { status, body } = await create(order('2', { customer: NAMED }))
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'no_customer', field: 'customer.mobile' })
    expect((await panel('customers')).body.customers).toHaveLength(1)
  })
})

describe('the rows (rules 4 and 5)', () => {
  test('an item has the product name unless the store names it', async () => {
    const { create, detail } = sandbox()
    const item = { sku: 'SKU-1', quantity: 1, unit_price: 1000 }
    await create(order('1', { items: [item, { ...item, name: 'gift' }, { ...item, name: null }] }))
    const { rows } = await detail('1')
    const own = 'چای سیاه ۵۰۰ گرمی'
    expect([...(rows ?? [])].map(({ name }) => name)).toEqual([own, 'gift', own])
  })

  test('shipping is a separate, taxed row without a share of the discount', async () => {
    const { create, detail } = sandbox()
    const { body } = await create(order('1', { shipping: 500, discount: 300 }))
    expect(body.total).toBe('2420')
    const excessive = await create(order('2', { shipping: 500, discount: 2001 }))
    expect(excessive).toMatchObject({ status: 400, body: { error: { field: 'discount' } } })
    const { rows, totals } = await detail('1')
    expect(rows).toMatchObject([
      {
        kind: 'item',
        sku: 'SKU-1',
        quantity: 2,
        unit_price: '1000',
        amount: '2000',
        orderDiscount: '300',
        net: '1700',
        tax: '170',
      },
      {
        kind: 'shipping',
        sku: null,
        quantity: 1,
        unit_price: '500',
        amount: '500',
        orderDiscount: '0',
        net: '500',
        tax: '50',
      },
    ])
    expect(totals).toEqual({ amount: '2500', orderDiscount: '300', net: '2200', tax: '220', total: '2420' })
  })

  test('independent pricing vectors give the same results over HTTP', async () => {
    const { create, detail, settings, product } = sandbox()
    const { cases } = JSON.parse(readFileSync('test/vectors/pricing.json', 'utf8'))
    for (let sku = 0; sku < 5; sku++) await product(`SKU-${sku}`, { stock: 1_000_000 })
    for (const [index, each] of cases.entries()) {
      await settings({ taxRate: each.taxRate, pricesIncludeTax: each.pricesIncludeTax })
      const { status, body } = await create({ ...each.order, external_id: String(index) })
      expect({ status, total: body.total }).toEqual({ status: 201, total: each.expect.total })
      const { rows, tax_rate, prices_include_tax } = await detail(String(index))
      expect({ tax_rate, prices_include_tax }).toEqual({
        tax_rate: each.taxRate,
        prices_include_tax: each.pricesIncludeTax,
      })
      const numbers = [...(rows ?? [])].map(({ kind, amount, orderDiscount, net, tax }) => ({
        kind,
        ...Object.fromEntries(
          Object.entries({ amount, orderDiscount, net, tax }).map(([k, v]) => [k, Number(v)]),
        ),
      }))
      expect(numbers).toEqual(each.expect.rows)
    }
  })

  test('amounts and quantities keep every digit', async () => {
    const { create, detail, product, panel } = sandbox()
    await product('SKU-1', { stock: 5 })
    const { body } = await create(
      '{"external_id":"1","items":[{"sku":"SKU-1","quantity":1.00000000000000000001,"unit_price":90071992547409930}]}',
    )
    expect(body.total).toBe('99079191802150923')
    expect((await detail('1')).rows).toMatchObject([
      { quantity: '1.00000000000000000001', unit_price: '90071992547409930' },
    ])
    const text = await (await fetch(`${sandbox().url}/panel/products`)).text()
    expect(text).toContain('"stock":3.99999999999999999999}')
    expect((await panel('settings')).body.taxRate).toBe(10)
  })
})

describe('the receipt (rule 6)', () => {
  test.each([
    ['cash-1', 'online', 'cash'],
    ['cash-1', 'transfer', 'cash'],
    ['cash-1', 'card', 'cash'],
    ['cash-1', 'pos', 'cash'],
    ['cash-1', 'cash', 'cash'],
    ['bank-1', 'online', 'transfer'],
    ['bank-1', 'transfer', 'transfer'],
    ['bank-1', 'card', 'pos'],
    ['bank-1', 'pos', 'pos'],
    ['bank-1', 'cash', 'transfer'],
  ])('into %s by %s is of type %s', async (account, method, type) => {
    const { create, detail, settings } = sandbox()
    await settings({ orderPaymentReceivingAccount: account })
    const { body } = await create(order('1', { payment: { method, reference: 'r-1', date: '2026-11-20' } }))
    expect(body).toMatchObject({ status: 'paid', receipt_number: 1 })
    expect((await detail('1')).receipt).toMatchObject({
      number: 1,
      type,
      amount: '2200',
      reference: 'r-1',
      date: '2026-11-20',
      account: { code: account },
    })
  })

  test('has no reference and the date of the order by default', async () => {
    const { create, detail } = sandbox()
    await create(order('1', { date: '2026-05-06', payment: { method: 'online' } }))
    expect((await detail('1')).receipt).toMatchObject({ reference: '', date: '2026-05-06' })
  })
})

describe('the date (rule 8)', () => {
  test('is today by default', async () => {
    const { create, detail } = sandbox()
    await create(order('1'))
    expect((await detail('1')).date).toBe('2026-11-21')
  })

  test.each([
    [undefined, '2026-11-22', '2026-11-21T20:30:00Z'],
    [undefined, '2026-11-21', '2026-11-21T20:29:59Z'],
    ['America/New_York', '2026-11-20', '2026-11-21T04:59:59Z'],
  ])('is that of the time zone %s: %s at %s', async (timeZone, date, time) => {
    const zone = timeZone !== undefined && { timeZone }
    const { url, close } = await startSandbox({ port: 0, clock: () => new Date(time), ...zone })
    const { create, detail, refund } = clientOf(url)
    await create(order('1', { payment: { method: 'cash' } }))
    await refund('1')
    expect(await detail('1')).toMatchObject({ date, receipt: { date }, return: { date } })
    await close()
  })

  test('must be in a fiscal year, first and last day included', async () => {
    const { create, panel } = sandbox()
    const fiscalYears = [
      { from: '2026-03-21', to: '2027-03-20' },
      { from: '2024-03-20', to: '2025-03-20' },
    ]
    await panel('fiscal-years', { method: 'PUT', body: { fiscalYears } })
    const statuses: Record<string, number> = {}
    for (const date of ['2026-03-20', '2026-03-21', '2027-03-20', '2027-03-21', '2025-06-01', '2024-12-31']) {
      const { status, body } = await create(order(date, { date }))
      statuses[date] = status
      if (status !== 201) expect(body.error).toMatchObject({ code: 'outside_fiscal_years', field: 'date' })
    }
    expect(statuses).toEqual({
      '2026-03-20': 400,
      '2026-03-21': 201,
      '2027-03-20': 201,
      '2027-03-21': 400,
      '2025-06-01': 400,
      '2024-12-31': 201,
    })
  })
})

test('an unknown sku is refused, and the corrected order is not a duplicate', async () => {
  const { create, panel, stock } = sandbox()
  const rows = Array.from({ length: 500 }, () => ({ sku: 'SKU-1', quantity: 0.1, unit_price: 10 }))
  const refused = await create(
    order('1', { customer: NAMED, items: [...rows.slice(1), { ...rows[0], sku: 'no' }] }),
  )
  expect(refused.status).toBe(400)
  expect(refused.body.error).toMatchObject({ code: 'unknown_sku', field: 'items[499].sku' })
  expect(String(refused.body.error?.message)).toContain('"no"')
  expect((await panel('orders')).body.orders).toEqual([])
  expect((await panel('customers')).body.customers).toHaveLength(1)
  expect(await stock('SKU-1')).toBe(100)

  const { status, body } = await create(order('1', { customer: NAMED, items: rows }))
  expect({ status, invoice: body.invoice_number }).toEqual({ status: 201, invoice: 1 })
  expect(await stock('SKU-1')).toBe(50)
})

test('stock decreases by the exact sum of the rows of a product', async () => {
  const { create, refund, stock, product } = sandbox()
  await product('SKU-1', { stock: 0.3 })
  const row = (quantity: number) => ({ sku: 'SKU-1', quantity, unit_price: 10 })
  const short = await create(order('1', { items: [row(0.2), row(0.2)] }))
  expect(short.body.error).toBe('Insufficient stock: "SKU-1" needs 0.4, available 0.3')
  expect(await stock('SKU-1')).toBe(0.3)
  expect((await create(order('2', { items: [row(0.1), row(0.2)] }))).body.status).toBe('invoiced')
  expect(await stock('SKU-1')).toBe(0)
  await refund('2')
  expect(await stock('SKU-1')).toBe(0.3)
})
