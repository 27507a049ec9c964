import { describe, expect, test } from '@jest/globals'
import { eachWithSandbox, type Json, order } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date(2026, 10, 21, 12) })

const put = (path: string, body: unknown) => sandbox().panel(path, { method: 'PUT', body })

describe('a new sandbox', () => {
  test('has settings with which a first order succeeds', async () => {
    expect((await sandbox().panel('settings')).body).toEqual({
      defaultCustomer: 'walk-in',
      automaticCustomerCreation: true,
      orderPaymentReceivingAccount: 'bank-1',
      taxRate: 10,
      pricesIncludeTax: false,
      automaticFinalization: true,
      duplicatesReturnOriginal: false,
    })
  })

  test('has a cash box and a bank account, products, and three fiscal years', async () => {
    const { panel } = sandbox()
    expect((await panel('accounts')).body.accounts).toMatchObject([
      { code: 'bank-1', kind: 'bank' },
      { code: 'cash-1', kind: 'cash' },
    ])
    expect((await panel('products')).body.products).toMatchObject([
      { stock: 100 },
      { stock: 100 },
      { stock: 0 },
    ])
    expect((await panel('fiscal-years')).body.fiscalYears).toEqual(
      [2025, 2026, 2027].map(year => ({ from: `${year}-01-01`, to: `${year}-12-31` })),
    )
  })
})

describe('the settings', () => {
  test('change one by one; the response has all of them', async () => {
    const changes = { taxRate: 8.5, pricesIncludeTax: true, defaultCustomer: null }
    for (const [name, value] of Object.entries(changes)) {
      expect((await put('settings', { [name]: value })).body).toMatchObject({ [name]: value })
    }
    expect((await sandbox().panel('settings')).body).toEqual({
      ...changes,
      automaticCustomerCreation: true,
      orderPaymentReceivingAccount: 'bank-1',
      automaticFinalization: true,
      duplicatesReturnOriginal: false,
    })
  })

  test.each([
    [{ taxRate: -1 }, 'taxRate'],
    [{ taxRate: 100.5 }, 'taxRate'],
    [{ taxRate: '9' }, 'taxRate'],
    [{ automaticFinalization: 'no' }, 'automaticFinalization'],
    [{ automaticFinalisation: false }, 'automaticFinalisation'],
    [{ defaultCustomer: 'nobody' }, 'defaultCustomer'],
    [{ orderPaymentReceivingAccount: 'nowhere' }, 'orderPaymentReceivingAccount'],
  ])('refuse %j', async (change, field) => {
    const before = (await sandbox().panel('settings')).body
    expect(await put('settings', { pricesIncludeTax: true, ...change })).toMatchObject({
      status: 400,
      body: { error: { field } },
    })
    expect((await sandbox().panel('settings')).body).toEqual(before)
  })

  test('apply to new orders, not to existing ones', async () => {
    const { create, detail } = sandbox()
    await create(order('1'))
    await put('settings', { taxRate: 20, pricesIncludeTax: true })
    await create(order('2'))
    expect(await detail('1')).toMatchObject({ total: '2200', tax_rate: 10, prices_include_tax: false })
    expect(await detail('2')).toMatchObject({ total: '2000', tax_rate: 20, prices_include_tax: true })
  })
})

test('products are added and changed by code, with name and stock independent', async () => {
  expect((await put('products/%D9%85%2F1', { stock: 2.5 })).body).toEqual({
    sku: 'م/1',
    name: 'م/1',
    stock: 2.5,
  })
  expect((await put('products/%D9%85%2F1', { name: 'میز' })).body).toEqual({
    sku: 'م/1',
    name: 'میز',
    stock: 2.5,
  })
  expect((await put('products/%D9%85%2F1', { stock: 0 })).body).toEqual({ sku: 'م/1', name: 'میز', stock: 0 })
  for (const body of [{ stock: -1 }, { stock: '1' }, { name: '' }, { price: 5 }, []]) {
    expect((await put('products/x', body)).status).toBe(400)
  }
  expect(await sandbox().stock('x')).toBe(Number.NaN)
})

test('accounts are added and changed by code', async () => {
  expect((await put('accounts', { code: 'pos', name: 'POS', kind: 'bank' })).status).toBe(200)
  await put('accounts', { code: 'pos', name: 'Till', kind: 'cash' })
  expect((await sandbox().panel('accounts')).body.accounts).toContainEqual({
    code: 'pos',
    name: 'Till',
    kind: 'cash',
  })
  expect((await put('accounts', { code: 'pos', name: 'Till', kind: 'purse' })).body.error).toMatchObject({
    field: 'kind',
  })
})

test('fiscal years are added or replaced as a list, and must not end before they begin', async () => {
  const [year, next] = [
    { from: '2029-03-21', to: '2030-03-20' },
    { from: '2030-03-21', to: '2031-03-20' },
  ]
  expect((await put('fiscal-years', year)).body.fiscalYears).toHaveLength(4)
  expect((await put('fiscal-years', year)).body.fiscalYears).toHaveLength(4)
  expect((await put('fiscal-years', { fiscalYears: [next, year] })).body.fiscalYears).toEqual([year, next])
  for (const body of [
    { from: '2031-01-01', to: '2030-01-01' },
    { from: '2031-01-01' },
    { fiscalYears: 'none' },
    { fiscalYears: [{ from: 'a', to: 'b' }] },
  ]) {
    expect((await put('fiscal-years', body)).status).toBe(400)
  }
  expect((await sandbox().panel('fiscal-years')).body.fiscalYears).toEqual([year, next])
})

describe('the list of orders', () => {
  const ids = (body: Json) => [...(body.orders ?? [])].map(({ external_id }) => String(external_id))

  test('is paged, newest first', async () => {
    const { create, panel } = sandbox()
    for (let id = 1; id <= 5; id++) await create(order(String(id)))
    const first = (await panel('orders?limit=2')).body
    expect(ids(first)).toEqual(['5', '4'])
    const second = (await panel(`orders?limit=2&before=${first.next}`)).body
    expect(ids(second)).toEqual(['3', '2'])
    const third = (await panel(`orders?limit=2&before=${second.next}`)).body
    expect({ ids: ids(third), next: third.next }).toEqual({ ids: ['1'], next: null })
  })

  test('is filtered by status, source and text, with counts by status', async () => {
    const { create, pay, refund, panel } = sandbox()
    const customer = { mobile: '09123456789', name: 'سارا محمدی' }
    await create(order('A-1', { customer }))
    await create(order('A-2', { source: 'shop', customer }))
    await create(order('B_3', { items: [{ sku: 'SKU-3', quantity: 1, unit_price: 5 }] }))
    await create(order('B-4'))
    await pay('A-2', undefined, 'shop')
    await refund('B-4')
    const found = async (query: string) => ids((await panel(`orders?${query}`)).body)
    expect(await found('status=needs_review')).toEqual(['B_3'])
    expect(await found('source=shop')).toEqual(['A-2'])
    expect(await found('q=a-')).toEqual(['A-2', 'A-1'])
    expect(await found('q=_')).toEqual(['B_3'])
    expect(await found(`q=${encodeURIComponent('سارا')}`)).toEqual(['A-2', 'A-1'])
    for (const mobile of ['0912345', '09123456789', '+989123456789', '۰۹۱۲۳۴۵۶۷۸۹']) {
      expect(await found(`q=${encodeURIComponent(mobile)}`)).toEqual(['A-2', 'A-1'])
    }
    const { counts } = (await panel('orders?status=paid')).body
    expect(counts).toEqual({ needs_review: 1, invoiced: 1, paid: 1, refunded: 1 })
    expect((await panel('orders?q=a-')).body.counts).toEqual({
      needs_review: 0,
      invoiced: 1,
      paid: 1,
      refunded: 0,
    })
    expect((await panel('orders?source=shop')).body.orders).toMatchObject([
      {
        status: 'paid',
        date: '2026-11-21',
        created_at: expect.stringMatching(/^2026-11-21T.*Z$/),
        customer: { code: '09123456789', ...customer },
      },
    ])
  })
})

test('the history of an order describes every step', async () => {
  const { create, pay, refund, retry, product, detail } = sandbox()
  await create(order('1', { items: [{ sku: 'SKU-3', quantity: 2, unit_price: 1_000_000 }] }))
  await pay('1', { method: 'card' })
  await refund('1')
  await product('SKU-3', { stock: 2 })
  await retry('1')
  await refund('1', { reason: 'broken' })
  const lines = [...((await detail('1')).history ?? [])].map(({ kind, message }) => `${kind}: ${message}`)
  expect(lines).toEqual([
    'created: Order received, invoice 1 drafted',
    'held: Insufficient stock: "SKU-3" needs 2, available 0',
    'held: Payment (card, 2026-11-21) held until the invoice is finalized',
    'refused: Return refused: the invoice is not finalized',
    'retried: Retried by the accountant',
    'finalized: Invoice 1 finalized, goods taken from stock',
    'paid: Receipt 1 (pos) of 2,200,000 rials into حساب بانک ملت',
    'refunded: Sales return 1 (broken), goods back in stock',
  ])
})

test('the event stream reports every change', async () => {
  const { create, product, settings, register, retry, url } = sandbox()
  const response = await fetch(`${url}/panel/events`)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  await create(
    order('1', { customer: { mobile: '9123456789' }, items: [{ sku: 'SKU-3', quantity: 1, unit_price: 5 }] }),
  )
  await create(order('refused', { items: [{ sku: 'no', quantity: 1, unit_price: 5 }] }))
  await product('SKU-3', { stock: 1 })
  await settings({ taxRate: 9 })
  await put('accounts', { code: 'a', name: 'A', kind: 'cash' })
  await put('fiscal-years', { fiscalYears: [] })
  await register('http://127.0.0.1:9/')
  await retry('1')

  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(`"kind":"delivery"`)) break
  }
  const heard = [...text.matchAll(/^event: change\ndata: (.*)$/gm)].map(([, data]) =>
    JSON.parse(String(data)),
  )
  // The delivery attempts follow.
  expect(heard.slice(0, 10)).toEqual([
    { kind: 'customer', code: '09123456789' },
    { kind: 'order', source: 'api', external_id: '1' },
    { kind: 'product', sku: 'SKU-3' },
    { kind: 'settings' },
    { kind: 'account', code: 'a' },
    { kind: 'fiscal-year' },
    { kind: 'webhook', url: 'http://127.0.0.1:9/' },
    { kind: 'order', source: 'api', external_id: '1' },
    { kind: 'product', sku: 'SKU-3' },
    { kind: 'delivery', delivery: expect.any(String) },
  ])
})

test('deliveries are listed newest first, optionally of one order', async () => {
  const { create, product, register, retry, panel } = sandbox()
  await register('http://127.0.0.1:9/')
  for (const id of ['1', '2']) {
    await product('SKU-3', { stock: 0 })
    await create(order(id, { items: [{ sku: 'SKU-3', quantity: 1, unit_price: 5 }] }))
    await product('SKU-3', { stock: 1 })
    await retry(id)
  }
  const listed = async (query = '') => [...((await panel(`deliveries${query}`)).body.deliveries ?? [])]
  expect((await listed()).map(({ external_id }) => external_id)).toEqual(['2', '1'])
  expect((await listed('?limit=1')).map(({ external_id }) => external_id)).toEqual(['2'])
  expect(await listed('?order=1')).toMatchObject([
    {
      url: 'http://127.0.0.1:9/',
      event: 'order.updated',
      source: 'api',
      external_id: '1',
      status: 'invoiced',
    },
  ])
})
