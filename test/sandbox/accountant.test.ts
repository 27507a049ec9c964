import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  payOrder,
  retryOrder,
  returnOrder,
  reversePayment,
  reviewOrder,
} from '../../sandbox/actions/accountant.ts'
import { putProduct } from '../../sandbox/actions/catalogue.ts'
import { correctOrder } from '../../sandbox/actions/correct-order.ts'
import { createOrder } from '../../sandbox/actions/create-order.ts'
import { createExamples } from '../../sandbox/actions/examples.ts'
import { exportOrders, showOrder, sumOrders } from '../../sandbox/actions/panel.ts'
import { registerPayment, registerRefund } from '../../sandbox/actions/register.ts'
import { clockIn } from '../../sandbox/clock.ts'
import { Refusal } from '../../sandbox/refusal.ts'
import { openStore } from '../../sandbox/store/open.ts'
import { eachWithSandbox, type Json, order, PAYMENT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const put = (path: string, body: unknown) => sandbox().panel(path, { method: 'PUT', body })

const DEFAULTS = {
  ...{ defaultCustomer: 'walk-in', automaticCustomerCreation: true, orderPaymentReceivingAccount: 'bank-1' },
  ...{ taxRate: 10, pricesIncludeTax: false, automaticFinalization: true, duplicatesReturnOriginal: false },
}

test('a new sandbox has settings, accounts, products and fiscal years with which a first order succeeds', async () => {
  const { panel } = sandbox()
  expect((await panel('settings')).body).toEqual(DEFAULTS)
  expect((await panel('accounts')).body.accounts).toMatchObject([
    { code: 'bank-1', kind: 'bank' },
    { code: 'cash-1', kind: 'cash' },
  ])
  const stock = [...((await panel('products')).body.products ?? [])].map(product => product.stock)
  expect(stock).toEqual([100, 100, 0])
  expect((await panel('fiscal-years')).body.fiscalYears).toEqual(
    [2025, 2026, 2027].map(year => ({ from: `${year}-01-01`, to: `${year}-12-31` })),
  )
})

describe('the settings', () => {
  test('change one by one; the response has all of them', async () => {
    const changes = { taxRate: 8.5, pricesIncludeTax: true, defaultCustomer: null }
    for (const [name, value] of Object.entries(changes)) {
      expect((await put('settings', { [name]: value })).body).toMatchObject({ [name]: value })
    }
    expect((await sandbox().panel('settings')).body).toEqual({ ...DEFAULTS, ...changes })
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
  const of = async (change: unknown) => (await put('products/%D9%85%2F1', change)).body
  expect(await of({ stock: 2.5 })).toEqual({ sku: 'م/1', name: 'م/1', stock: 2.5 })
  expect(await of({ name: 'میز' })).toEqual({ sku: 'م/1', name: 'میز', stock: 2.5 })
  expect(await of({ stock: 0 })).toEqual({ sku: 'م/1', name: 'میز', stock: 0 })
  for (const body of [{ stock: -1 }, { stock: '1' }, { name: '' }, { price: 5 }, []]) {
    expect((await put('products/x', body)).status).toBe(400)
  }
  expect(await sandbox().stock('x')).toBe(Number.NaN)
})

test('accounts are added and changed by code', async () => {
  expect((await put('accounts', { code: 'pos', name: 'POS', kind: 'bank' })).status).toBe(200)
  await put('accounts', { code: 'pos', name: 'Till', kind: 'cash' })
  const till = { code: 'pos', name: 'Till', kind: 'cash' }
  expect((await sandbox().panel('accounts')).body.accounts).toContainEqual(till)
  expect((await put('accounts', { ...till, kind: 'purse' })).body.error).toMatchObject({ field: 'kind' })
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

  test.each([
    ['', '54321'],
    ['sort=invoice_number', '12345'],
    ['sort=-date', '34521'],
    ['sort=date', '12543'],
    ['sort=total', '51243'],
    ['sort=-total&q=card', '3421'],
    ['sort=updated_at', '12345'],
  ])('is sorted and paged: %s', async (query, expected) => {
    const { create, panel } = sandbox()
    for (const [index, [date, price]] of [
      [1, 90],
      [2, 90],
      [9, 10_000],
      [8, 1000],
      [2, 9],
    ].entries()) {
      const items = [{ sku: 'SKU-1', quantity: 1, unit_price: price }]
      const payment = { ...PAYMENT, reference: index === 4 ? '' : 'card' }
      await create(order(String(index + 1), { items, payment, date: `2026-11-0${date}` }))
    }
    const found: string[] = []
    for (let before: unknown = ''; before !== null; ) {
      const { body } = await panel(`orders?limit=2&${query}&before=${before}`)
      found.push(...ids(body))
      before = body.next
    }
    expect(found.join('')).toBe(expected)
  })

  test('is filtered by status, source and text, with counts by status', async () => {
    const { create, pay, refund, panel } = sandbox()
    const customer = { mobile: '09123456789', name: 'سارا محمدی' }
    await create(order('A-1', { customer }))
    await create(order('A-2', { source: 'shop', customer }))
    await create(order('B_3', { items: [{ sku: 'SKU-3', quantity: 1, unit_price: 5 }] }))
    await create(order('B-4'))
    await pay('A-2', PAYMENT, 'shop')
    await refund('B-4')
    const found = async (query: string) => ids((await panel(`orders?${query}`)).body)
    expect(await found('status=needs_review')).toEqual(['B_3'])
    expect(await found('source=shop')).toEqual(['A-2'])
    expect(await found('q=a-')).toEqual(['A-2', 'A-1'])
    expect(await found('q=_')).toEqual(['B_3'])
    for (const text of 'سارا,سارا مُحمدى,محمدي,0912345,09123456789,+989123456789,۰۹۱۲۳۴۵۶۷۸۹,sku-1 a'.split(
      ',',
    ))
      expect([text, await found(`q=${encodeURIComponent(text)}`)]).toEqual([text, ['A-2', 'A-1']])
    expect(await found('q=r-1')).toEqual(['A-2'])
    expect(await found('q=%232')).toEqual(['A-2'])
    expect(await found(`q=${encodeURIComponent('"*[a')}`)).toEqual([])
    expect(await found('from=2026-11-21&to=2026-11-21')).toHaveLength(4)
    expect(await found('from=2026-11-22')).toEqual([])
    const { counts } = (await panel('sums?status=paid')).body
    expect(counts).toEqual({ needs_review: 1, invoiced: 1, paid: 1, refunded: 1 })
    const ofText = { needs_review: 0, invoiced: 1, paid: 1, refunded: 0 }
    expect((await panel('sums?q=a-')).body.counts).toEqual(ofText)
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

test('names are found in Arabic and in Persian spelling, with or without joiners, hamza and diacritics', async () => {
  const { create, panel } = sandbox()
  const written = 'علی‌پور عليپور كاظمی کاظمي مؤمنی مومنی آرش ارش رضائی رضایی هُدیٰ هدی'.split(' ')
  const mobile = (index: number) => `091200000${String(index).padStart(2, '0')}`
  for (const [index, name] of written.entries())
    await create(order(String(index), { customer: { mobile: mobile(index), name } }))
  for (const [index, name] of written.entries()) {
    const { counts } = (await panel(`sums?q=${encodeURIComponent(name)}`)).body
    expect([index, counts?.invoiced]).toEqual([index, 2])
  }
})

test('the totals are exact, and those of the filtered orders; the export has them all, and no formula', async () => {
  const { create, refund, panel } = sandbox()
  const hostile = { mobile: '09123456789', name: '=HYPERLINK("http://evil.example";"x")' }
  await create(order('+1', { customer: hostile, payment: { method: 'card', reference: ' ＠a;b' } }))
  await create(order('2', { items: [{ sku: 'SKU-1', quantity: 1, unit_price: 1e30 }], payment: PAYMENT }))
  await create(order('3', { payment: PAYMENT }))
  await refund('3')
  const totals = async (query: string) => (await panel(`sums?${query}`)).body.totals
  const huge = '1100000000000000000000000000000'
  expect(await totals('')).toEqual({
    ...{ count: 3, net: '1000000000000000000000000004000', tax: '100000000000000000000000000400' },
    ...{
      total: '1100000000000000000000000004400',
      paid: '1100000000000000000000000002200',
      refunded: '2200',
    },
  })
  expect(await totals('status=paid&q=r-1')).toMatchObject({
    count: 1,
    total: huge,
    paid: huge,
    refunded: '0',
  })
  const response = await fetch(`${sandbox().url}/panel/orders.csv?status=paid&sort=invoice_number`)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="orders.csv"')
  const [head, first, second, ...rest] = Buffer.from(await response.arrayBuffer())
    .toString()
    .split('\r\n')
  expect(head).toMatch(/^\uFEFFsource,external_id,date,customer_name,mobile,/)
  expect(first).toBe(
    `api,'+1,2026-11-21,"'=HYPERLINK(""http://evil.example"";""x"")",09123456789,paid,1,1,,"' ＠a;b",2000,200,2200,`,
  )
  expect(second).toContain(huge)
  expect(rest).toEqual([''])
})

test('an export lets others work, and has each order once although orders move while it is made', async () => {
  const store = openStore(undefined, clockIn('Asia/Tehran'))
  createExamples({ orders: 1000 }, store)
  const parts = exportOrders({ sort: '-updated_at' }, store)
  let csv = (await parts.next()).value
  for (const number of [1, 500, 999]) store.orders.setStatus(number, 'invoiced', null)
  let turns = 0
  for await (const part of parts) {
    csv += part
    turns += 1
  }
  expect(turns).toBeGreaterThan(1)
  const ids = String(csv).match(/example-\d+/g)
  expect([ids?.length, new Set(ids).size]).toEqual([1000, 1000])
  store.close()
})

describe('many retries', () => {
  const retries = (body: object) => sandbox().panel('retries', { method: 'POST', body })
  const short = (quantity: number) => ({ items: [{ sku: 'SKU-3', quantity, unit_price: 1000 }] })

  test('finalize what the stock allows, oldest first, after a dry run that says so and changes nothing', async () => {
    const { create, product, read, register, panel, stock, detail } = sandbox()
    await register('http://127.0.0.1:9/')
    for (const [index, quantity] of [2, 2, 3, 1].entries()) await create(order(`${index}`, short(quantity)))
    await product('SKU-3', { stock: 3 })
    const expected = [
      { source: 'api', external_id: '0', status: 'invoiced', total: '2200', error: null },
      { source: 'api', external_id: '3', status: 'invoiced', total: '1100', error: null },
    ]
    const before = await detail('0')
    expect((await retries({ dryRun: true })).body).toEqual({ dryRun: true, orders: expected })
    expect([await detail('0'), await stock('SKU-3')]).toEqual([before, 3])
    expect((await panel('deliveries')).body.deliveries).toEqual([])
    expect((await retries({})).body).toEqual({ dryRun: false, orders: expected })
    expect([(await read('3')).body.status, await stock('SKU-3')]).toEqual(['invoiced', 0])
    expect((await panel('deliveries')).body.deliveries).toHaveLength(2)
    expect((await retries({})).body.orders).toEqual([])
  })

  test('of chosen orders have a result each, whatever becomes of the others', async () => {
    const { create, detail } = sandbox()
    await create(order('paid', { payment: PAYMENT }))
    await create(order('short', short(1)))
    const orders = ['paid', 'short', 'unknown'].map(external_id => ({ external_id }))
    expect((await retries({ orders })).body.orders).toMatchObject([
      { status: 'paid', error: expect.stringContaining('its invoice is finalized') },
      { status: 'needs_review', error: 'Insufficient stock: "SKU-3" needs 1, available 0' },
      { status: null, total: null, error: expect.stringContaining('is not registered') },
    ])
    const kinds = [...((await detail('short')).history ?? [])].map(({ kind }) => kind)
    expect(kinds).toEqual(['created', 'held', 'retried', 'held'])
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
  const of1 = { event: 'order.updated', source: 'api', external_id: '1', status: 'invoiced' }
  expect(await listed('?order=1')).toMatchObject([{ url: 'http://127.0.0.1:9/', ...of1 }])
})

const WHY = { error: 'Wrong goods' }
const MORE = { items: [{ sku: 'SKU-1', quantity: 5, unit_price: 1000 }] }

const act = (id: string, action: string, body?: unknown) =>
  sandbox().panel(`orders/${id}/${action}`, { method: 'POST', ...(body !== undefined && { body }) })

/** Brings an order of two pieces of SKU-1 into a status. */
const orderIn = async (status: string, id = '1') => {
  const { create, refund, settings } = sandbox()
  await settings({ automaticFinalization: status !== 'needs_review' })
  await create(order(id, status === 'paid' || status === 'refunded' ? { payment: PAYMENT } : {}))
  await settings({ automaticFinalization: true })
  if (status === 'refunded') await refund(id)
  await sandbox().register('http://127.0.0.1:9/')
}

const announced = async () =>
  [...((await sandbox().panel('deliveries')).body.deliveries ?? [])].map(each => String(each.status))

describe('each action in each status: the status after it, or why it is refused', () => {
  const bodies: Record<string, unknown> = { pay: PAYMENT, review: WHY, correct: MORE }
  test.each([
    ['retry', 'needs_review', 'invoiced'],
    ['retry', 'invoiced', /move it back to review first$/],
    ['retry', 'paid', /move it back to review first$/],
    ['retry', 'refunded', /move it back to review first$/],
    ['pay', 'needs_review', /finalize it with a retry first$/],
    ['pay', 'invoiced', 'paid'],
    ['pay', 'paid', /reverse its payment first$/],
    ['pay', 'refunded', /move it back to review first$/],
    ['reverse-payment', 'needs_review', /no receipt$/],
    ['reverse-payment', 'invoiced', /no receipt$/],
    ['reverse-payment', 'paid', 'invoiced'],
    ['reverse-payment', 'refunded', /move it back to review first$/],
    ['return', 'needs_review', /finalize it with a retry first$/],
    ['return', 'invoiced', 'refunded'],
    ['return', 'paid', 'refunded'],
    ['return', 'refunded', /goods are returned$/],
    ['review', 'needs_review', /in review$/],
    ['review', 'invoiced', 'needs_review'],
    ['review', 'paid', 'needs_review'],
    ['review', 'refunded', 'needs_review'],
    ['correct', 'needs_review', 'needs_review'],
    ['correct', 'invoiced', 'invoiced'],
    ['correct', 'paid', /receipt 1 has 2,200 rials, not 5,500; reverse its payment first$/],
    ['correct', 'refunded', /move it back to review first$/],
  ])('%s, %s: %s', async (action, status, expected) => {
    expect((await act('1', action, bodies[action])).status).toBe(404)
    await orderIn(status)
    const before = await sandbox().detail('1')
    const reply = await act('1', action, bodies[action])
    if (typeof expected === 'string') {
      expect(reply).toMatchObject({ status: 200, body: { status: expected } })
      expect(await announced()).toEqual([expected])
      expect((await sandbox().read('1')).body.status).toBe(expected)
    } else {
      expect(reply).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
      expect(String(reply.body.error?.message)).toMatch(
        new RegExp(`it is ${status}, and .*${expected.source}`),
      )
      expect(await sandbox().detail('1')).toEqual(before)
    }
  })
})

test('a returned order in review has no documents, its payment is held, and a retry makes new ones', async () => {
  await orderIn('refunded')
  const { stock, pay } = sandbox()
  expect((await act('1', 'review', WHY)).body).toMatchObject({
    ...{ status: 'needs_review', invoice_status: 'draft', error: 'Wrong goods' },
    ...{ receipt: null, return: null, receipt_number: null, return_number: null },
    held_payment: { ...PAYMENT, date: '2026-11-21' },
  })
  expect(await stock('SKU-1')).toBe(100)
  expect((await pay('1', { method: 'cash' })).status).toBe(400)
  expect((await act('1', 'correct', MORE)).body).toMatchObject({ total: '5500', error: 'Wrong goods' })
  expect((await act('1', 'retry')).body).toMatchObject({
    ...{ status: 'paid', error: null, invoice_number: 1 },
    receipt: { number: 2, method: 'card', amount: '5500', reference: 'r-1' },
  })
  expect(await stock('SKU-1')).toBe(95)
  expect((await act('1', 'return', { reason: 'again' })).body).toMatchObject({ return: { number: 2 } })
  expect(await announced()).toEqual(['refunded', 'paid', 'needs_review', 'needs_review'])
})

describe('a correction', () => {
  test('prices with the tax of the order, and changes only what it names', async () => {
    const { create, settings, stock } = sandbox()
    const items = [{ sku: 'SKU-1', quantity: 2, unit_price: 1000, name: 'gift', discount: 100 }]
    await create(order('1', { items, shipping: 500, discount: 300, customer: { mobile: '09123456789' } }))
    await settings({ taxRate: 20 })
    const row = { kind: 'item', sku: 'SKU-1', name: 'gift', amount: '1900', orderDiscount: '300', tax: '160' }
    expect((await act('1', 'correct', { shipping: 0 })).body).toMatchObject({
      ...{ total: '1760', tax_rate: 10, customer: { code: '09123456789' }, rows: [row] },
    })
    expect((await act('1', 'correct', { discount: 0, shipping: 1000 })).body).toMatchObject({ total: '3190' })
    const swapped = { items: [{ sku: 'SKU-2', quantity: 0.5, unit_price: 100 }], customer: {} }
    expect((await act('1', 'correct', swapped)).body).toMatchObject({
      ...{ total: '1155', customer: { code: 'walk-in' }, rows: [{ sku: 'SKU-2' }, { kind: 'shipping' }] },
    })
    expect([await stock('SKU-1'), await stock('SKU-2')]).toEqual([100, 99.5])
  })

  test('keeps amounts that a double cannot hold', async () => {
    await sandbox().create(
      '{"external_id":"1","items":[{"sku":"SKU-1","quantity":1.00000000000000000001,"unit_price":90071992547409930}]}',
    )
    const { rows } = await sandbox().detail('1')
    expect((await act('1', 'correct', { customer: { mobile: '09123456789' } })).body.rows).toEqual(rows)
  })

  test('that leaves the total of a paid order takes its goods, and sends no webhook', async () => {
    await orderIn('paid')
    const items = [{ sku: 'SKU-2', quantity: 1, unit_price: 2000 }]
    const { body } = await act('1', 'correct', { items })
    expect(body).toMatchObject({ status: 'paid', total: '2200', receipt: { number: 1 } })
    expect(await sandbox().stock('SKU-2')).toBe(99)
    expect(await announced()).toEqual([])
  })

  test.each<[number, string, object]>([
    [409, '"SKU-3" needs 1, available 0', { items: [{ sku: 'SKU-3', quantity: 1, unit_price: 1 }] }],
    [409, '"SKU-1" needs 101, available 100', { items: [{ sku: 'SKU-1', quantity: 101, unit_price: 1 }] }],
    [400, 'items[0].sku', { items: [{ sku: 'no', quantity: 1, unit_price: 1 }] }],
    [400, 'items', { items: [] }],
    [400, 'items[0].quantity', { items: [{ sku: 'SKU-1', quantity: 0, unit_price: 1 }] }],
    [400, 'discount', { discount: 2001, shipping: 500 }],
    [400, 'shipping', { shipping: -1 }],
    [400, 'customer.mobile', { customer: { mobile: '12' } }],
    [400, 'date', { date: '2026-01-01' }],
  ])('is refused as a whole: %s %s', async (status, words, change) => {
    await orderIn('invoiced')
    const before = await sandbox().detail('1')
    const reply = await act('1', 'correct', { customer: { mobile: '09123456789' }, ...change })
    expect(reply.status).toBe(status)
    expect(String(reply.body.error?.message)).toContain(words)
    expect(await sandbox().detail('1')).toEqual(before)
    expect(await sandbox().stock('SKU-1')).toBe(98)
    expect((await sandbox().panel('customers')).body.customers).toHaveLength(1)
  })
})

test('customers are listed by code, as many as asked for, with the text that is searched', async () => {
  const customers = [
    { mobile: '09120000002', name: 'Neda' },
    { mobile: '09120000001', email: 'NEDA@example.com' },
  ]
  for (const customer of customers) await sandbox().create(order(customer.mobile, { customer }))
  const listed = async (query: string) =>
    [...((await sandbox().panel(`customers?${query}`)).body.customers ?? [])].map(({ code }) => code)
  expect(await listed('')).toEqual(['09120000001', '09120000002', 'walk-in'])
  expect(await listed('limit=1')).toEqual(['09120000001'])
  expect(await listed('q=neda')).toEqual(['09120000001', '09120000002'])
  expect(await listed('q=۰۹۱۲۰۰۰۰۰۰۱')).toEqual(['09120000001'])
  expect(await listed('q=مشتري')).toEqual(['walk-in'])
})

describe('fiscal years', () => {
  const CLOSED = { fiscalYears: [{ from: '2027-01-01', to: '2027-12-31' }] }

  test('cover every payment', async () => {
    const { create, pay, detail } = sandbox()
    await orderIn('needs_review')
    await orderIn('invoiced', '2')
    const payment = { method: 'cash', date: '2024-12-31' }
    for (const reply of [await pay('1', payment), await pay('2', payment), await act('2', 'pay', payment)]) {
      expect(reply).toMatchObject({
        status: 400,
        body: { error: { code: 'outside_fiscal_years', field: 'date' } },
      })
    }
    expect((await create(order('3', { payment }))).body.error).toMatchObject({ field: 'payment.date' })
    expect(await detail('1')).toMatchObject({ held_payment: null })
  })

  test.each([
    ['reverse-payment', 'paid', 'Receipt 1'],
    ['return', 'paid', 'The return'],
    ['review', 'invoiced', 'Invoice 1'],
    ['review', 'paid', 'Invoice 1'],
    ['correct', 'invoiced', 'Invoice 1'],
  ])('must still be open to %s an order that is %s', async (action, status, document) => {
    await orderIn(status)
    await sandbox().panel('fiscal-years', { method: 'PUT', body: CLOSED })
    const body = { review: WHY, correct: MORE }[action]
    const { error } = (await act('1', action, body)).body as Json
    expect(error).toEqual({
      code: 'outside_fiscal_years',
      message: `${document} is dated 2026-11-21: outside the fiscal years`,
    })
  })
})

const item = fc.record({
  ...{ sku: fc.constantFrom('SKU-1', 'SKU-2', 'SKU-3'), quantity: fc.integer({ min: 1, max: 6 }) },
  unit_price: fc.integer({ min: 0, max: 50 }).map(price => price * 100),
})

/** The actions of stores and accountant on one of three orders. */
const steps = fc.record({
  external_id: fc.constantFrom('1', '2', '3'),
  action: fc.constantFrom(
    ...['create', 'pay', 'refund', 'retry', 'payOrder', 'reverse', 'return', 'review', 'correct', 'correct'],
  ),
  items: fc.array(item, { minLength: 1, maxLength: 2 }),
  paid: fc.boolean(),
})

test('whatever stores and accountant do, documents, stock and numbers agree', () => {
  const clock = clockIn('Asia/Tehran')
  fc.assert(
    fc.property(fc.array(steps, { minLength: 5, maxLength: 40 }), story => {
      const store = openStore(undefined, clock)
      putProduct('SKU-3', { stock: 8 }, store)
      const initial = new Map(store.products.list().map(({ sku, stock }) => [sku, Number(stock.units)]))
      const receipts = new Map<number, string>()
      const payment = { method: 'card', reference: '', date: null } as const
      for (const { external_id, action, items, paid } of story) {
        const key = { source: 'api', external_id }
        const run: Record<string, () => unknown> = {
          create: () => createOrder({ external_id, items, ...(paid && { payment }) }, store),
          pay: () => registerPayment(key, payment, store),
          refund: () => registerRefund(key, null, store),
          retry: () => retryOrder(key, store),
          payOrder: () => payOrder(key, payment, store),
          reverse: () => reversePayment(key, store),
          return: () => returnOrder(key, null, store),
          review: () => reviewOrder(key, 'why', store),
          correct: () => correctOrder(key, { items, shipping: 100 }, store),
        }
        try {
          run[action]?.()
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
        }

        const taken = new Map<string, number>()
        for (const id of ['1', '2', '3']) {
          if (store.orders.find({ source: 'api', external_id: id }) === undefined) continue
          const found = showOrder({ source: 'api', external_id: id }, store)
          const { status, receipt, held_payment, total } = found
          const isPosted = status === 'invoiced' || status === 'paid'
          expect(found.return !== null).toBe(status === 'refunded')
          if (status !== 'refunded') expect(receipt !== null).toBe(status === 'paid')
          if (status !== 'needs_review') expect(held_payment).toBeNull()
          if (receipt !== null) {
            expect(receipt.amount).toBe(total)
            const owner = receipts.get(receipt.number) ?? id
            expect(owner).toBe(id)
            receipts.set(receipt.number, id)
          }
          const sums = found.rows.map(({ net, tax }) => Number(net) + Number(tax))
          expect(sums.reduce((a, b) => a + b, 0)).toBe(Number(total))
          for (const { sku, quantity } of isPosted ? found.rows : []) {
            if (sku !== null) taken.set(sku, (taken.get(sku) ?? 0) + Number(quantity))
          }
        }
        for (const { sku, stock } of store.products.list()) {
          expect(stock.units).toBeGreaterThanOrEqual(0n)
          expect(Number(stock.units)).toBe((initial.get(sku) ?? 0) - (taken.get(sku) ?? 0))
        }
      }
      const { totals } = sumOrders({}, store)
      const listed = store.orders.list(store.orders.numbers({}, { sort: 'total', limit: -1 }))
      const summed = listed.reduce((all, { total }) => all + Number(total), 0)
      expect([totals.count, totals.total]).toEqual([listed.length, String(summed)])
      store.close()
    }),
    { numRuns: 60 },
  )
})
