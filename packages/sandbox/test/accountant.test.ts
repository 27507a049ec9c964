import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { payOrder, repayOrder, retryOrder, returnOrder, reviewOrder } from '../src/actions/accountant.ts'
import { putProduct } from '../src/actions/catalogue.ts'
import { correctOrder } from '../src/actions/correct.ts'
import { createExamples } from '../src/actions/examples.ts'
import { exportOrders } from '../src/actions/export.ts'
import { createOrder, registerPayment, registerRefund } from '../src/actions/orders.ts'
import { showOrder, sumOrders } from '../src/actions/panel.ts'
import { reverse } from '../src/actions/reverse.ts'
import { clockIn } from '../src/clock.ts'
import { Refusal } from '../src/refusal.ts'
import { openStore } from '../src/store/open.ts'
import { eachWithSandbox, type Json, order, PAYMENT, row, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const DEFAULTS = {
  defaultCustomer: 'walk-in',
  automaticCustomerCreation: true,
  orderPaymentReceivingAccount: 'bank-1',
  taxRate: 10,
  pricesIncludeTax: false,
  automaticFinalization: true,
  duplicatesReturnOriginal: false,
  correctionsSendWebhooks: false,
}
const YEAR = { from: '2029-03-21', to: '2030-03-20' }
const NEXT = { from: '2030-03-21', to: '2031-03-20' }

test('a new sandbox has the settings, accounts, products and fiscal years that a first order needs', async () => {
  const { panel, list } = sandbox()
  expect((await panel('settings')).body).toEqual(DEFAULTS)
  expect(await list('accounts')).toMatchObject([
    { code: 'bank-1', kind: 'bank', openingBalance: 0, openingDate: null, inUse: false },
    { code: 'cash-1', kind: 'cash', openingBalance: 0, openingDate: null, inUse: false },
  ])
  expect((await list('products')).map(({ stock }) => stock)).toEqual([100, 100, 0])
  // 1404, 1405 and 1406.
  expect(await list('fiscal-years')).toEqual([
    { from: '2025-03-21', to: '2026-03-20', closed: false },
    { from: '2026-03-21', to: '2027-03-20', closed: false },
    { from: '2027-03-21', to: '2028-03-19', closed: false },
  ])
})

test('updates settings individually, accounts and products by code, fiscal years individually or as a list', async () => {
  const { panel, put, list } = sandbox()
  const changes = { taxRate: 8.5, pricesIncludeTax: true, defaultCustomer: null }
  for (const [name, value] of Object.entries(changes))
    expect((await put('settings', { [name]: value })).body).toMatchObject({ [name]: value })
  expect((await panel('settings')).body).toEqual({ ...DEFAULTS, ...changes })

  const product = async (change: unknown) => (await put('products/%D9%85%2F1', change)).body
  expect(await product({ stock: 2.5 })).toEqual({
    sku: 'م/1',
    name: 'م/1',
    stock: 2.5,
    price: null,
    unit: 'عدد',
  })
  const desk = { sku: 'م/1', name: 'میز', stock: 2.5, price: 12500, unit: 'متر' }
  expect(await product({ name: 'میز', price: 12500, unit: 'متر' })).toEqual(desk)
  expect(await product({ stock: 0, price: null })).toEqual({ ...desk, stock: 0, price: null })

  const opening = { openingBalance: 500, openingDate: '2026-03-21' }
  for (const [account, kept] of [
    [
      { code: 'pos', name: 'POS', kind: 'bank' },
      { openingBalance: 0, openingDate: null },
    ],
    [{ code: 'pos', name: 'Till', kind: 'cash', ...opening }, {}],
    [{ code: 'pos', name: 'Box', kind: 'cash' }, opening],
  ] as const)
    expect((await put('accounts', account)).body).toEqual({ ...account, ...kept, inUse: false })
  expect((await list('accounts')).at(-1)).toEqual({
    code: 'pos',
    name: 'Box',
    kind: 'cash',
    inUse: false,
    ...opening,
  })

  for (const year of [YEAR, YEAR]) expect((await put('fiscal-years', year)).body.fiscalYears).toHaveLength(4)
  await put('fiscal-years', { fiscalYears: [NEXT, YEAR] })
  expect(await list('fiscal-years')).toEqual([YEAR, NEXT].map(year => ({ ...year, closed: false })))
})

test.each<[at: string, change: unknown, field: string | undefined]>([
  ['settings', { taxRate: -1 }, 'taxRate'],
  ['settings', { taxRate: 100.5 }, 'taxRate'],
  ['settings', { taxRate: '9' }, 'taxRate'],
  ['settings', { pricesIncludeTax: true, automaticFinalization: 'no' }, 'automaticFinalization'],
  ['settings', { pricesIncludeTax: true, automaticFinalisation: false }, 'automaticFinalisation'],
  ['settings', { pricesIncludeTax: true, defaultCustomer: 'nobody' }, 'defaultCustomer'],
  ['settings', { orderPaymentReceivingAccount: 'nowhere' }, 'orderPaymentReceivingAccount'],
  ['products/x', { stock: -1 }, 'stock'],
  ['products/x', { stock: '1' }, 'stock'],
  ['products/x', { name: '' }, 'name'],
  ['products/x', { price: -5 }, 'price'],
  ['products/x', { cost: 5 }, 'cost'],
  ['seller', { name: 5 }, 'name'],
  ['products/x', [], undefined],
  ['accounts', { code: 'pos', name: 'Till', kind: 'purse' }, 'kind'],
  ['accounts', { code: 'pos', name: 'Till', kind: 'cash', openingBalance: 0.5 }, 'openingBalance'],
  ['accounts', { code: 'pos', name: 'Till', kind: 'cash', openingDate: '1405' }, 'openingDate'],
  ['fiscal-years', { from: '2031-01-01', to: '2030-01-01' }, 'to'],
  ['fiscal-years', { from: '2031-01-01' }, 'to'],
  ['fiscal-years', { fiscalYears: 'none' }, 'fiscalYears'],
  ['fiscal-years', { fiscalYears: [{ from: 'a', to: 'b' }] }, 'fiscalYears[0].from'],
])('%s refuses %j', async (at, change, field) => {
  const { panel, put } = sandbox()
  const shown = async () => (await panel(at.replace('/x', ''))).body
  const before = await shown()
  const { status, body } = await put(at, change)
  expect({ status, field: body.error?.field }).toEqual({ status: 400, field })
  expect(await shown()).toEqual(before)
})

describe('the list of orders', () => {
  const ids = (orders: Json[]) => orders.map(({ external_id }) => String(external_id))

  test('is sorted and paged', async () => {
    const { create, panel } = sandbox()
    for (const [index, price] of [90, 90, 10_000, 1000, 9].entries()) {
      const payment = { ...PAYMENT, reference: index === 4 ? '' : 'card' }
      const date = `2026-11-0${[1, 2, 9, 8, 2][index]}`
      await create(order(String(index + 1), { items: [row('SKU-1', 1, price)], payment, date }))
    }
    for (const [query, expected] of [
      ['', '54321'],
      ['sort=invoice_number', '12345'],
      ['sort=-date', '34521'],
      ['sort=date', '12543'],
      ['sort=total', '51243'],
      ['sort=-total&q=card', '3421'],
      ['sort=updated_at', '12345'],
    ]) {
      let found = ''
      for (let before: unknown = ''; before !== null; ) {
        const { orders, next } = (await panel(`orders?limit=2&${query}&before=${before}`)).body
        found += ids([...(orders ?? [])]).join('')
        before = next
      }
      expect([query, found]).toEqual([query, expected])
    }
  })

  test('can be filtered by status, source and text, with counts by status', async () => {
    const { create, pay, refund, panel, list } = sandbox()
    const customer = { mobile: '09123456789', name: 'سارا محمدی' }
    await create(order('A-1', { customer }))
    await create(order('A-2', { source: 'shop', customer }))
    await create(order('B_3', SHORT))
    await create(order('B-4'))
    await pay('A-2', PAYMENT, 'shop')
    await refund('B-4')
    const found = async (query: string) => ids(await list(`orders?${query}`))
    expect(await found('status=needs_review')).toEqual(['B_3'])
    expect(await found('source=shop')).toEqual(['A-2'])
    expect(await found('q=a-')).toEqual(['A-2', 'A-1'])
    expect(await found('q=_')).toEqual(['B_3'])
    const texts = 'سارا,سارا مُحمدى,محمدي,0912345,09123456789,+989123456789,۰۹۱۲۳۴۵۶۷۸۹,sku-1 a'
    for (const text of texts.split(','))
      expect([text, await found(`q=${encodeURIComponent(text)}`)]).toEqual([text, ['A-2', 'A-1']])
    expect(await found('q=r-1')).toEqual(['A-2'])
    expect(await found('q=%232')).toEqual(['A-2'])
    expect(await found(`q=${encodeURIComponent('"*[a')}`)).toEqual([])
    expect(await found('from=2026-11-21&to=2026-11-21')).toHaveLength(4)
    expect(await found('from=2026-11-22')).toEqual([])
    const counts = async (query: string) => Object.values((await panel(`sums?${query}`)).body.counts ?? {})
    expect(await counts('status=paid')).toEqual([1, 1, 1, 1])
    expect(await counts('q=a-')).toEqual([0, 1, 1, 0])
    expect(await list('orders?source=shop')).toMatchObject([
      {
        status: 'paid',
        date: '2026-11-21',
        created_at: expect.stringMatching(/^2026-11-21T.*Z$/),
        customer: { code: '09123456789', ...customer },
      },
    ])
  })
})

test('finds names in Arabic and Persian spelling, with or without joiners, hamza and diacritics', async () => {
  const { create, panel } = sandbox()
  const written = 'علی‌پور عليپور كاظمی کاظمي مؤمنی مومنی آرش ارش رضائی رضایی هُدیٰ هدی'.split(' ')
  for (const [index, name] of written.entries())
    await create(order(String(index), { customer: { mobile: `${9120000000 + index}`, name } }))
  for (const [index, name] of written.entries()) {
    const { counts } = (await panel(`sums?q=${encodeURIComponent(name)}`)).body
    expect([index, counts?.invoiced]).toEqual([index, 2])
  }
})

test('has exact totals for a filter, and its export contains every order and no formulas', async () => {
  const { create, refund, panel } = sandbox()
  const hostile = { mobile: '09123456789', name: '=HYPERLINK("http://evil.example";"x")' }
  await create(order('+1', { customer: hostile, payment: { method: 'card', reference: ' ＠a;b' } }))
  await create(order('2', { items: [row('SKU-1', 1, 1e30)], payment: PAYMENT }))
  await create(order('3', { payment: PAYMENT }))
  await refund('3')
  const totals = async (query: string) => (await panel(`sums?${query}`)).body.totals
  const huge = '1100000000000000000000000000000'
  const invoices = { count: 3, net: '1000000000000000000000000004000', tax: '100000000000000000000000000400' }
  expect(await totals('')).toEqual({
    ...invoices,
    finalized: { ...invoices, total: '1100000000000000000000000004400' },
    drafts: { count: 0, net: '0', tax: '0', total: '0' },
    held: '0',
    due: '0',
    credit: '2200',
    returns: { net: '2000', tax: '200' },
    total: '1100000000000000000000000004400',
    received: '1100000000000000000000000004400',
    returned: '2200',
    repaid: '0',
  })
  const paid = { count: 1, total: huge, received: huge, returned: '0' }
  expect(await totals('status=paid&q=r-1')).toMatchObject(paid)
  const response = await fetch(`${sandbox().url}/panel/orders.csv?status=paid&sort=invoice_number`)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="orders.csv"')
  const csv = Buffer.from(await response.arrayBuffer()).toString()
  const [head, first, second, ...rest] = csv.split('\r\n')
  expect(head).toMatch(/^\uFEFFsource,external_id,date,customer_name,mobile,/)
  expect(first).toBe(
    `api,'+1,2026-11-21,"'=HYPERLINK(""http://evil.example"";""x"")",09123456789,paid,1,1,,"' ＠a;b",card,0,0,2000,200,2200,2200,0,0,0,,,,0,,0`,
  )
  expect(second).toContain(huge)
  expect(rest).toEqual([''])
})

test('sums up finalized invoices, drafts and what is due separately', async () => {
  const { create, act, panel, pay } = sandbox()
  await create(order('draft', SHORT))
  for (const id of ['due', 'part', 'credit']) await create(order(id))
  await act('part', 'pay', { method: 'cash', amount: 200 })
  await pay('credit')
  await act('credit', 'return', { rows: [{ row: 1, quantity: 1 }] })
  const { totals } = (await panel('sums')).body
  expect(totals).toMatchObject({
    count: 4,
    total: '8800',
    received: '2400',
    returned: '1100',
    due: '4200',
    finalized: { count: 3, net: '6000', tax: '600', total: '6600' },
    drafts: { count: 1, net: '2000', tax: '200', total: '2200' },
  })
  expect((await panel('sums?status=needs_review')).body.totals).toMatchObject({
    due: '0',
    finalized: { count: 0, total: '0' },
    drafts: { total: '2200' },
  })
})

test('an export does not block other requests, and contains each order once while orders change', async () => {
  const store = openStore(undefined, clockIn('Asia/Tehran'))
  createExamples({ orders: 1000 }, store)
  const parts = exportOrders({ sort: '-updated_at', language: 'en', calendar: 'gregory' }, store)
  let csv = (await parts.next()).value
  for (const number of [1, 500, 999]) store.orders.setDraft(number, 'Changed')
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

test('a search finds orders by total, invoice and product', async () => {
  const { create, list, act } = sandbox()
  const items = [{ ...row('SKU-1', 1, 1_250_000), name: 'کلوچه' }]
  await create(order('total', { items, shipping: 0 }))
  await create(order('1375', { items: [row('SKU-2', 1)] }))
  const found = async (q: string) =>
    (await list(`orders?q=${encodeURIComponent(q)}`)).map(({ external_id }) => external_id)
  for (const q of [
    '1375000',
    '1,375,000',
    '۱٬۳۷۵٬۰۰۰',
    '۱۳۷۵۰۰۰',
    'فاکتور ۱',
    'invoice 1',
    'کلوچه',
    'کلوچه 1,375,000',
  ])
    expect([q, await found(q)]).toEqual([q, ['total']])
  for (const q of ['375000', '137,500', 'فاکتور ۱۰', 'هزینه ارسال'])
    expect([q, await found(q)]).toEqual([q, []])
  expect(await found('1375')).toEqual(['1375'])
  await act('total', 'correct', { shipping: 100_000 })
  expect([await found('1375000'), await found('1,485,000')]).toEqual([[], ['total']])
})

describe('bulk retries', () => {
  const retries = async (body: object) => (await sandbox().post('retries', body)).body

  test('finalize orders oldest first while stock lasts, after a dry run that predicts the result', async () => {
    const { create, product, read, register, list, stock, detail } = sandbox()
    await register('http://127.0.0.1:9/')
    for (const [index, quantity] of [2, 2, 3, 1].entries())
      await create(order(`${index}`, { items: [row('SKU-3', quantity)] }))
    await product('SKU-3', { stock: 3 })
    const customer = 'مشتری متفرقه'
    const retried = {
      source: 'api',
      customer,
      status: 'invoiced',
      review_reason: null,
      error: null,
      received: '0',
    }
    const left = (needed: number) => ({
      ...retried,
      external_id: `${needed - 1}`,
      total: `${needed * 1100}`,
      status: 'needs_review',
      error: `Insufficient stock: "SKU-3" needs ${needed}, available 1`,
    })
    const orders = [
      { ...retried, external_id: '0', total: '2200' },
      ...[left(2), left(3)],
      { ...retried, external_id: '3', total: '1100' },
    ]
    const before = await detail('0')
    const stays = await detail('1')
    expect(await retries({ dryRun: true })).toEqual({ dryRun: true, orders })
    expect([await detail('0'), await stock('SKU-3'), await list('deliveries')]).toEqual([before, 3, []])
    expect(await retries({})).toEqual({ dryRun: false, orders })
    expect([(await read('3')).body.status, await stock('SKU-3')]).toEqual(['invoiced', 0])
    expect((await detail('1')).history).toEqual(stays.history)
    expect(await list('deliveries')).toHaveLength(2)
    expect((await retries({})).orders).toEqual([])
  })

  test('are limited to the orders of a filter', async () => {
    const { create, product, read, post } = sandbox()
    const days = ['2026-11-01', '2026-11-02', '2026-11-02']
    for (const [index, date] of days.entries())
      await create(order(`${index}`, { ...SHORT, date, ...(index === 2 && { source: 'other' }) }))
    await product('SKU-3', { stock: 100 })
    const found = async (filter: object) =>
      (await retries({ filter, dryRun: true })).orders?.map(({ external_id }) => external_id)
    expect(await found({ from: '2026-11-02', to: '2026-11-02' })).toEqual(['1', '2'])
    expect(await found({ q: 'sku-3', source: 'api' })).toEqual(['0', '1'])
    expect(await found({})).toEqual(['0', '1', '2'])
    const refused = await post('retries', { orders: [], filter: {} })
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('filter') } },
    })
    await retries({ filter: { source: 'other' } })
    const statuses = [await read('0'), await read('1'), await read('2', 'other')].map(
      ({ body }) => body.status,
    )
    expect(statuses).toEqual(['needs_review', 'needs_review', 'invoiced'])
  })

  test("list the orders that the accountant moved back to review last, with the accountant's reason", async () => {
    const { create, act, product, detail } = sandbox()
    await create(order('own'))
    await create(order('short', SHORT))
    await act('own', 'review', { error: 'مشتری انصراف داد' })
    await product('SKU-3', { stock: 2 })
    expect((await retries({ dryRun: true })).orders).toMatchObject([
      { external_id: 'short', review_reason: null },
      { external_id: 'own', review_reason: 'مشتری انصراف داد' },
    ])
    expect(await detail('own')).toMatchObject({ obstacles: [], review_reason: 'مشتری انصراف داد' })
    await product('SKU-1', { stock: 0 })
    await retries({ orders: [{ external_id: 'own' }] })
    expect(await detail('own')).toMatchObject({
      error: expect.stringContaining('stock'),
      review_reason: null,
    })
  })

  test('of selected orders return one result per order', async () => {
    const { create, detail } = sandbox()
    await create(order('paid', { payment: PAYMENT }))
    await create(order('short', SHORT))
    const orders = ['paid', 'short', 'unknown'].map(external_id => ({ external_id }))
    expect((await retries({ orders })).orders).toMatchObject([
      { status: 'paid', error: expect.stringContaining('its invoice is finalized') },
      { status: 'needs_review', error: 'Insufficient stock: "SKU-3" needs 2, available 0' },
      { status: null, total: null, error: expect.stringContaining('is not registered') },
    ])
    const history = [...((await detail('short')).history ?? [])]
    expect(history.map(({ kind }) => kind)).toEqual(['created', 'held', 'retried', 'held'])
  })
})

test('describes every step in the history of an order', async () => {
  const { create, pay, refund, retry, product, detail } = sandbox()
  await create(order('1', { items: [row('SKU-3', 2, 1_000_000)] }))
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
    'paid: Receipt 1 (card reader) of 2,200,000 rials into حساب بانک ملت',
    'refunded: Sales return 1 of 2,200,000 rials (broken), goods back in stock',
  ])
})

test('reports every change in the event stream', async () => {
  const { create, product, settings, register, retry, put, url } = sandbox()
  const response = await fetch(`${url}/panel/events`)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  await create(order('1', { ...SHORT, customer: { mobile: '9123456789' } }))
  await create(order('refused', { items: [row('no', 1)] }))
  await product('SKU-3', { stock: 2 })
  await settings({ taxRate: 9 })
  await put('accounts', { code: 'a', name: 'A', kind: 'cash' })
  await put('fiscal-years', YEAR)
  await register('http://127.0.0.1:9/')
  await retry('1')

  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(`"kind":"delivery"`)) break
  }
  const changes = [...text.matchAll(/^event: change\ndata: (.*)$/gm)]
  const received = changes.map(([, data]) => JSON.parse(String(data)))
  // The delivery attempts follow.
  expect(received.slice(0, 11)).toEqual([
    { kind: 'customer', code: '09123456789' },
    { kind: 'order', source: 'api', external_id: '1' },
    { kind: 'refusal', source: 'api', external_id: 'refused' },
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

test('lists deliveries newest first, optionally for one order', async () => {
  const { create, register, act, list } = sandbox()
  await register('http://127.0.0.1:9/')
  for (const id of ['1', '2']) {
    await create(order(id))
    await act(id, 'return')
  }
  const listed = async (query = '') =>
    (await list(`deliveries${query}`)).map(({ external_id }) => String(external_id))
  expect([await listed(), await listed('?limit=1')]).toEqual([['2', '1'], ['2']])
  const of1 = { event: 'order.updated', source: 'api', external_id: '1', status: 'refunded' }
  expect(await list('deliveries?order=1')).toMatchObject([{ url: 'http://127.0.0.1:9/', ...of1 }])
})

const WHY = { error: 'Wrong goods' }
const MORE = { items: [row('SKU-1', 5)] }
const BODIES: Record<string, unknown> = { pay: PAYMENT, review: WHY, correct: MORE }

const act = (action: string, body = BODIES[action], id = '1') => sandbox().act(id, action, body)

/** Creates an order of two pieces of SKU-1 in a status. */
const orderIn = async (status: string, id = '1') => {
  const { create, refund, settings } = sandbox()
  await settings({ automaticFinalization: status !== 'needs_review' })
  await create(order(id, status === 'paid' || status === 'refunded' ? { payment: PAYMENT } : {}))
  await settings({ automaticFinalization: true })
  if (status === 'refunded') await refund(id)
  await sandbox().register('http://127.0.0.1:9/')
}

const announced = async () => (await sandbox().list('deliveries')).map(({ status }) => String(status))

const BACK = 'move it back to review first'
const FINALIZE = 'finalize it with a retry first'
const REVERSE = 'reverse its payment first'
const STATUSES = ['needs_review', 'invoiced', 'paid', 'refunded']

describe('each action in each status succeeds or is refused with a reason', () => {
  test.each(
    [
      ['retry', 'invoiced', BACK, BACK, BACK],
      ['pay', FINALIZE, 'paid', REVERSE, BACK],
      ['reverse-payment', 'no receipt', 'no receipt', 'invoiced', BACK],
      ['return', FINALIZE, 'refunded', 'refunded', 'goods are returned'],
      ['reverse-return', 'no return', 'no return', 'no return', 'paid'],
      ['review', 'in review', 'needs_review', 'needs_review', 'needs_review'],
      [
        'correct',
        'needs_review',
        'invoiced',
        `the new total is 5,500 rials, its receipts have 2,200; ${REVERSE}`,
        BACK,
      ],
    ].flatMap(([action = '', ...ends]) =>
      STATUSES.map((status, index) => [action, status, String(ends[index])] as const),
    ),
  )('%s, %s: %s', async (action, status, expected) => {
    expect((await act(action)).status).toBe(404)
    await orderIn(status)
    const before = await sandbox().detail('1')
    const reply = await act(action)
    if (STATUSES.includes(expected)) {
      expect(reply).toMatchObject({ status: 200, body: { status: expected } })
      expect(await announced()).toEqual(expected === status ? [] : [expected])
      expect((await sandbox().read('1')).body.status).toBe(expected)
    } else {
      const message = expect.stringMatching(new RegExp(`it is ${status}, and .*${expected}$`))
      expect(reply).toMatchObject({ status: 409, body: { error: { code: 'conflict', message } } })
      expect(await sandbox().detail('1')).toEqual(before)
    }
  })
})

test('a returned order in review has no documents and a held payment, and a retry creates new documents', async () => {
  await orderIn('refunded')
  const { stock, pay } = sandbox()
  expect((await act('review')).body).toMatchObject({
    status: 'needs_review',
    invoice_status: 'draft',
    error: 'Wrong goods',
    receipts: [],
    returns: [],
    receipt_number: null,
    return_number: null,
    held_payments: [{ ...PAYMENT, date: '2026-11-21' }],
  })
  expect(await stock('SKU-1')).toBe(100)
  expect((await pay('1', { method: 'cash' })).status).toBe(400)
  expect((await act('correct')).body).toMatchObject({ total: '5500', error: 'Wrong goods' })
  expect((await act('retry')).body).toMatchObject({
    status: 'invoiced',
    error: null,
    invoice_number: 1,
    balance: '3300',
    receipts: [{ number: 2, method: 'card', amount: '2200', reference: 'r-1' }],
  })
  expect(await stock('SKU-1')).toBe(95)
  expect((await act('return', { reason: 'again' })).body).toMatchObject({ returns: [{ number: 2 }] })
  expect(await announced()).toEqual(['refunded', 'invoiced', 'needs_review'])
})

describe('a correction', () => {
  test('uses the tax rate of the order, and changes only the fields it contains', async () => {
    const { create, settings, stock } = sandbox()
    const items = [{ ...row('SKU-1', 2), name: 'gift', discount: 100 }]
    await create(order('1', { items, shipping: 500, discount: 300, customer: { mobile: '09123456789' } }))
    await settings({ taxRate: 20, pricesIncludeTax: true })
    const gift = {
      kind: 'item',
      sku: 'SKU-1',
      name: 'gift',
      amount: '1900',
      orderDiscount: '300',
      tax: '160',
    }
    expect((await act('correct', { shipping: 0 })).body).toMatchObject({
      total: '1760',
      tax_rate: 10,
      prices_include_tax: false,
      customer: { code: '09123456789' },
      rows: [gift],
    })
    expect((await act('correct', { discount: 0, shipping: 1000 })).body).toMatchObject({ total: '3190' })
    const swapped = { items: [row('SKU-2', 0.5, 100)], customer: {} }
    expect((await act('correct', swapped)).body).toMatchObject({
      total: '1155',
      customer: { code: 'walk-in' },
      rows: [{ sku: 'SKU-2' }, { kind: 'shipping' }],
    })
    expect([await stock('SKU-1'), await stock('SKU-2')]).toEqual([100, 99.5])
  })

  test('keeps amounts that a double cannot hold', async () => {
    await sandbox().create(
      '{"external_id":"1","items":[{"sku":"SKU-1","quantity":1.00000000000000000001,"unit_price":90071992547409930}]}',
    )
    const { rows } = await sandbox().detail('1')
    expect((await act('correct', { customer: { mobile: '09123456789' } })).body.rows).toEqual(rows)
  })

  test('that changes the total sends a webhook only if so configured', async () => {
    await orderIn('invoiced')
    expect((await act('correct')).body).toMatchObject({ status: 'invoiced', total: '5500' })
    expect(await announced()).toEqual([])
    await sandbox().settings({ correctionsSendWebhooks: true })
    await act('correct', { items: [row('SKU-1', 1)] })
    expect(await announced()).toEqual(['invoiced'])
  })

  test('that keeps the total of a paid order updates the stock and sends no webhook', async () => {
    await orderIn('paid')
    await sandbox().settings({ correctionsSendWebhooks: true })
    const { body } = await act('correct', { items: [row('SKU-2', 1, 2000)] })
    expect(body).toMatchObject({ status: 'paid', total: '2200', receipts: [{ number: 1 }] })
    expect(await sandbox().stock('SKU-2')).toBe(99)
    expect(await announced()).toEqual([])
  })

  test.each<[number, string, object]>([
    [409, '"SKU-3" needs 1, available 0', { items: [row('SKU-3', 1)] }],
    [409, '"SKU-1" needs 101, available 100', { items: [row('SKU-1', 101)] }],
    [400, 'items[0].sku', { items: [row('no', 1)] }],
    [400, 'items', { items: [] }],
    [400, 'items[0].quantity', { items: [row('SKU-1', 0)] }],
    [400, 'discount', { discount: 2001, shipping: 500 }],
    [400, 'shipping', { shipping: -1 }],
    [400, 'customer.mobile', { customer: { mobile: '12' } }],
    [400, 'is not known here', { day: '2026-01-01' }],
    [400, 'must not be after today, 2026-11-21', { date: '2026-11-22' }],
    [400, 'outside the open fiscal years', { date: '2019-01-01' }],
    [409, 'no held payment is dated outside the open fiscal years', { paymentDate: '2026-11-20' }],
    [409, 'no held payment pays the whole invoice', { heldPayment: 'received' }],
    [409, 'it has changed meanwhile', { unchangedSince: '2026-11-21T11:59:59.999Z' }],
  ])('is refused entirely: %s %s', async (status, words, change) => {
    await orderIn('invoiced')
    const { detail, stock, list } = sandbox()
    const before = await detail('1')
    const reply = await act('correct', { customer: { mobile: '09123456789' }, ...change })
    const message = expect.stringContaining(words)
    expect(reply).toMatchObject({ status, body: { error: { message } } })
    expect([await detail('1'), await stock('SKU-1')]).toEqual([before, 98])
    expect(await list('customers')).toHaveLength(1)
  })
})

test('lists customers by code, with a limit and a text filter', async () => {
  const customers = [
    { mobile: '09120000002', name: 'Neda' },
    { mobile: '09120000001', email: 'NEDA@example.com' },
  ]
  for (const customer of customers) await sandbox().create(order(customer.mobile, { customer }))
  const listed = async (query: string) => (await sandbox().list(`customers?${query}`)).map(({ code }) => code)
  expect(await listed('')).toEqual(['09120000001', '09120000002', 'walk-in'])
  expect(await listed('limit=1')).toEqual(['09120000001'])
  expect(await listed('q=neda')).toEqual(['09120000001', '09120000002'])
  expect(await listed('q=۰۹۱۲۰۰۰۰۰۰۱')).toEqual(['09120000001'])
  expect(await listed('q=مشتري')).toEqual(['walk-in'])
})

describe('fiscal years', () => {
  test('must cover the date of a payment, unless the order is in review', async () => {
    const { create, pay } = sandbox()
    await orderIn('invoiced')
    const payment = { method: 'cash', date: '2024-12-31' }
    const error = { code: 'outside_fiscal_years', field: 'date' }
    for (const reply of [await pay('1', payment), await act('pay', payment)])
      expect(reply).toMatchObject({ status: 400, body: { error } })
    expect((await create(order('2', { payment }))).body.error).toMatchObject({ field: 'payment.date' })
  })

  const ONLY_NEXT = { fiscalYears: [{ from: '2027-01-01', to: '2027-12-31' }] }

  test.each([
    ['2024-12-31', 'held payment of 2024-12-31'],
    [undefined, 'invoice of 2026-11-21; held payment of 2026-11-21'],
  ])('that exclude the date %s of a held payment keep order and payment in review', async (date, outside) => {
    const { pay, put, detail, list } = sandbox()
    await orderIn('needs_review')
    const years = await list('fiscal-years')
    if (date === undefined) await put('fiscal-years', ONLY_NEXT)
    const payment = { method: 'cash', ...(date !== undefined && { date }) }
    expect(await pay('1', payment)).toMatchObject({ status: 400, body: { error: { code: 'not_finalized' } } })

    const error = `Outside the open fiscal years: ${outside}`
    const held = { status: 'needs_review', error, held_payments: [{ method: 'cash' }], receipts: [] }
    expect((await act('retry')).body).toMatchObject(held)
    expect((await detail('1')).obstacles).toEqual([{ kind: 'year', message: error }])
    expect(await announced()).toEqual([])

    await put('fiscal-years', { fiscalYears: [...years, { from: '2024-01-01', to: '2024-12-31' }] })
    const receipts = [{ date: date ?? '2026-11-21' }]
    expect((await act('retry')).body).toMatchObject({ status: 'paid', held_payments: [], receipts })
  })

  test('that exclude the date of a draft keep it in review', async () => {
    const { put, stock, list } = sandbox()
    await orderIn('needs_review')
    const fiscalYears = await list('fiscal-years')
    await put('fiscal-years', ONLY_NEXT)
    const error = 'Outside the open fiscal years: invoice of 2026-11-21'
    expect((await act('retry')).body).toMatchObject({ status: 'needs_review', error })
    expect([await stock('SKU-1'), await announced()]).toEqual([100, []])
    await put('fiscal-years', { fiscalYears })
    expect((await act('retry')).body).toMatchObject({ status: 'invoiced', error: null })
  })

  test('do not restrict the refund of a store, but a return in the panel, whether its date is given or not', async () => {
    const { put, refund, detail } = sandbox()
    for (const id of ['1', '2']) await orderIn('paid', id)
    await put('fiscal-years', ONLY_NEXT)
    expect((await refund('1')).body).toMatchObject({ status: 'refunded', return_number: 1 })
    const error = { code: 'outside_fiscal_years', field: 'date' }
    for (const body of [undefined, { date: null }, { date: '2026-11-21' }, { dryRun: true }])
      expect(await act('return', body, '2')).toMatchObject({ status: 400, body: { error } })
    expect(await detail('2')).toMatchObject({ status: 'paid', returns: [] })
  })

  test.each([
    ['reverse-payment', 'paid', 'Receipt 1'],
    ['review', 'invoiced', 'Invoice 1'],
    ['review', 'paid', 'Invoice 1'],
    ['correct', 'invoiced', 'Invoice 1'],
  ])('must be open to %s an order that is %s', async (action, status, document) => {
    await orderIn(status)
    await sandbox().put('fiscal-years', { fiscalYears: [{ from: '2027-01-01', to: '2027-12-31' }] })
    const message = `${document} is dated 2026-11-21: outside the open fiscal years`
    expect((await act(action)).body.error).toEqual({ code: 'outside_fiscal_years', message })
  })
})

const item = fc.record({
  sku: fc.constantFrom('SKU-1', 'SKU-2', 'SKU-3'),
  quantity: fc.integer({ min: 1, max: 6 }),
  unit_price: fc.integer({ min: 0, max: 50 }).map(price => price * 100),
})

/** The actions of stores and accountant on one of three orders. */
const steps = fc.record({
  external_id: fc.constantFrom('1', '2', '3'),
  action: fc.constantFrom(
    'create',
    'pay',
    'refund',
    'retry',
    'payOrder',
    'reverse',
    'return',
    'review',
    'correct',
    'correct',
    'payPart',
    'payPart',
    'reverseOne',
    'returnPart',
    'returnPart',
    'repay',
    'repayPart',
    'reverseRepayment',
    'reverseOneRepayment',
    'reverseReturn',
    'reverseOneReturn',
  ),
  items: fc.array(item, { minLength: 1, maxLength: 2 }),
  paid: fc.boolean(),
  part: fc.integer({ min: 1, max: 3 }),
})

const added = (all: readonly number[]) => all.reduce((a, b) => a + b, 0)

test('documents, stock and numbering stay consistent after any sequence of actions', () => {
  const clock = clockIn('Asia/Tehran')
  fc.assert(
    fc.property(fc.array(steps, { minLength: 5, maxLength: 40 }), story => {
      const store = openStore(undefined, clock)
      putProduct('SKU-3', { stock: 8 }, store)
      const initial = new Map(store.products.list().map(({ sku, stock }) => [sku, Number(stock.units)]))
      const owners = new Map<string, string>()
      const payment = { method: 'card', reference: '', date: null } as const
      for (const { external_id, action, items, paid, part } of story) {
        const key = { source: 'api', external_id }
        const run: Record<string, () => unknown> = {
          create: () => createOrder({ external_id, items, ...(paid && { payment }) }, store),
          pay: () => registerPayment(key, payment, store),
          refund: () => registerRefund(key, null, store),
          retry: () => retryOrder(key, store),
          payOrder: () => payOrder(key, payment, store),
          payPart: () => payOrder(key, { ...payment, amount: part * 1000 }, store),
          reverse: () => reverse('receipt', key, {}, store),
          reverseOne: () => reverse('receipt', key, { number: part }, store),
          repay: () => repayOrder(key, payment, store),
          repayPart: () => repayOrder(key, { ...payment, amount: part * 1000 }, store),
          reverseRepayment: () => reverse('repayment', key, {}, store),
          reverseOneRepayment: () => reverse('repayment', key, { number: part }, store),
          reverseReturn: () => reverse('return', key, {}, store),
          reverseOneReturn: () => reverse('return', key, { number: part }, store),
          return: () => returnOrder(key, {}, store),
          returnPart: () => returnOrder(key, { rows: [{ row: part, quantity: 1 }] }, store),
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
          const { status, rows, receipts, returns, repayments, held_payments } = found
          const { total, received, returned, repaid } = found
          const amounts = (all: readonly { amount: string }[]) => all.map(({ amount }) => Number(amount))
          const isReturned = returns.length > 0 && rows.every(each => each.quantity === each.returned)
          const isPaid =
            receipts.length > 0 && Number(received) - Number(repaid) >= Number(total) - Number(returned)
          const settled = isReturned ? 'refunded' : isPaid ? 'paid' : 'invoiced'
          if (status === 'needs_review') expect([receipts, returns, repayments]).toEqual([[], [], []])
          else expect([status, held_payments]).toEqual([settled, []])
          expect([received, returned, repaid].map(Number)).toEqual(
            [receipts, returns, repayments].map(each => added(amounts(each))),
          )
          // What is paid back was received and is not owed.
          const credit = Number(received) - Number(repaid) - (Number(total) - Number(returned))
          if (repayments.length > 0) expect(credit).toBeGreaterThanOrEqual(0)
          if (status === 'refunded') expect(returned).toBe(total)
          else expect([found.receipt_number !== null, found.return_number]).toEqual([status === 'paid', null])
          for (const [kind, documents] of Object.entries({ receipts, returns, repayments })) {
            for (const { number } of documents) {
              const owner = owners.get(`${kind} ${number}`) ?? id
              expect(owner).toBe(id)
              owners.set(`${kind} ${number}`, id)
            }
          }
          expect(added(rows.map(({ net, tax }) => Number(net) + Number(tax)))).toBe(Number(total))
          for (const { sku, quantity, returned } of status === 'needs_review' ? [] : rows) {
            if (sku !== null) taken.set(sku, (taken.get(sku) ?? 0) + Number(quantity) - Number(returned))
          }
        }
        for (const { sku, stock } of store.products.list()) {
          expect(stock.units).toBeGreaterThanOrEqual(0n)
          expect(Number(stock.units)).toBe((initial.get(sku) ?? 0) - (taken.get(sku) ?? 0))
        }
      }
      const { totals } = sumOrders({}, store)
      const listed = store.orders.list(store.orders.numbers({}, { sort: 'total', limit: -1 }))
      for (const name of ['total', 'received', 'returned', 'repaid'] as const)
        expect([name, Number(totals[name])]).toEqual([name, added(listed.map(each => Number(each[name])))])
      expect(totals.count).toBe(listed.length)
      store.close()
    }),
    { numRuns: 60 },
  )
})
