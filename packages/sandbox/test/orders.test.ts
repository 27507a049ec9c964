import { describe, expect, test } from '@jest/globals'
import { startSandbox } from '../src/start.ts'
import { call, clientOf, eachWithSandbox, order, PAYMENT, row, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date(2026, 10, 21, 12) })

const NAMED = { mobile: '09123456789', name: 'سارا محمدی', email: 'sara@example.ir' }

const kinds = async (id: string) => [...((await sandbox().detail(id)).history ?? [])].map(({ kind }) => kind)

/** Creates order 1 in a status. */
const orderIn = async (status: string) => {
  const { create, refund } = sandbox()
  if (status === 'unknown') return
  const payment = status === 'paid' && { payment: PAYMENT }
  await create(order('1', status === 'needs_review' ? SHORT : { ...payment }))
  if (status === 'refunded') await refund('1')
}

describe('each request of a store in each status', () => {
  const DRAFT = { error: { code: 'not_finalized' } }
  const UNKNOWN = { error: { code: 'not_found' } }
  test.each<[request: 'create' | 'read' | 'pay' | 'refund', status: string, answer: number, body: object]>([
    ['create', 'unknown', 201, { status: 'invoiced', receipt_number: null, duplicate: false }],
    ['create', 'needs_review', 200, { status: 'needs_review', duplicate: true }],
    ['create', 'paid', 200, { status: 'paid', receipt_number: 1, duplicate: true }],
    ['create', 'refunded', 200, { status: 'refunded', return_number: 1, duplicate: true }],
    ['read', 'unknown', 404, UNKNOWN],
    ['read', 'needs_review', 200, { status_display: 'نیازمند بررسی', error: /stock/ }],
    ['read', 'invoiced', 200, { status: 'invoiced', status_display: 'فاکتور شده', invoice_status: 'posted' }],
    ['read', 'paid', 200, { status: 'paid', status_display: 'پرداخت شده', receipt_number: 1, error: null }],
    ['read', 'refunded', 200, { status: 'refunded', status_display: 'مرجوع شده', return_number: 1 }],
    ['pay', 'unknown', 404, UNKNOWN],
    ['pay', 'needs_review', 400, DRAFT],
    ['pay', 'invoiced', 200, { status: 'paid', receipt_number: 1 }],
    ['pay', 'paid', 200, { status: 'paid', receipt_number: 1 }],
    ['pay', 'refunded', 200, { status: 'refunded', receipt_number: null, return_number: 1 }],
    ['refund', 'unknown', 404, UNKNOWN],
    ['refund', 'needs_review', 400, DRAFT],
    ['refund', 'invoiced', 200, { status: 'refunded', return_number: 1, receipt_number: null }],
    ['refund', 'paid', 200, { status: 'refunded', return_number: 1, receipt_number: 1 }],
    ['refund', 'refunded', 200, { status: 'refunded', return_number: 1 }],
  ])('%s, %s: %i', async (request, status, answer, body) => {
    await orderIn(status)
    const { create, stock, list } = sandbox()
    const reply = request === 'create' ? await create(order('1')) : await sandbox()[request]('1')
    const { error, ...fields } = body as { error?: unknown }
    expect(reply).toMatchObject({ status: answer, body: fields })
    if (error instanceof RegExp) expect(String(reply.body.error)).toMatch(error)
    else if (error !== undefined) expect(reply.body).toMatchObject({ error })
    if (request !== 'create') expect(reply.body).not.toHaveProperty('duplicate')
    // The invoice decreases the stock, and the return restores it.
    const orders = await list('orders')
    expect(orders).toHaveLength(status === 'unknown' && request !== 'create' ? 0 : 1)
    const isPosted = ['invoiced', 'paid'].includes(String(orders[0]?.status))
    expect(await stock('SKU-1')).toBe(isPosted ? 98 : 100)
  })
})

describe('creating an order', () => {
  test('that cannot be finalized returns a draft, a held payment and every cause', async () => {
    const { create, detail, settings, product, stock } = sandbox()
    await settings({ automaticFinalization: false, orderPaymentReceivingAccount: null })
    await product('SKU-3', { stock: 1 })
    const isOff = 'Automatic finalization is off'
    const noAccount = 'No receiving account is selected for order payments'
    const error = `Insufficient stock: "SKU-3" needs 2, available 1. ${isOff}. ${noAccount}`
    const draft = { invoice_number: 1, invoice_status: 'draft', receipt_number: null }
    expect(await create(order('1', { ...SHORT, payment: PAYMENT }))).toMatchObject({
      status: 201,
      body: { status: 'needs_review', ...draft, error },
    })
    expect((await detail('1')).held_payments).toMatchObject([PAYMENT])
    expect(await stock('SKU-3')).toBe(1)
    expect(await kinds('1')).toEqual(['created', 'held'])
    expect((await create(order('2'))).body.error).toBe(isOff)
    await settings({ automaticFinalization: true })
    expect((await create(order('3', { payment: PAYMENT }))).body.error).toBe(noAccount)
    expect((await create(order('4'))).body.status).toBe('invoiced')
  })

  test('twice ignores the second body; the same id from another source is another order', async () => {
    const { create, read } = sandbox()
    await create(order('1'))
    for (const body of [order('1', { items: [{ sku: 'unknown' }] }), { external_id: '1' }])
      expect(await create(body)).toMatchObject({ status: 200, body: { status: 'invoiced', duplicate: true } })
    expect((await create(order('1', { source: 'other' }))).status).toBe(201)
    expect((await read('1')).body).toMatchObject({ source: 'api', invoice_number: 1 })
    expect((await read('1', 'other')).body).toMatchObject({ source: 'other', invoice_number: 2 })
  })

  test('that exists returns the current state or, if so configured, the original result', async () => {
    const { create, pay, settings } = sandbox()
    const { body: original } = await create(order('1'))
    const paid = { ...(await pay('1')).body, duplicate: true }
    expect(await create(order('1'))).toMatchObject({ status: 200, body: paid })
    await settings({ duplicatesReturnOriginal: true })
    expect(await create(order('1'))).toMatchObject({ status: 200, body: { ...original, duplicate: true } })
  })
})

test.each([PAYMENT, { payment: PAYMENT }])('the payment %j pays the whole invoice', async body => {
  const { create, pay, detail } = sandbox()
  await create(order('1'))
  expect((await pay('1', body)).body).toMatchObject({ status: 'paid', receipt_number: 1 })
  expect((await detail('1')).receipts).toMatchObject([{ amount: '2200', reference: 'r-1' }])
})

test('holds the first payment of a draft until a retry; the same one again and another one are only recorded in the history', async () => {
  const { create, pay, detail, product, retry } = sandbox()
  await create(order('1', { ...SHORT, date: '2026-05-06' }))
  for (const payment of [PAYMENT, PAYMENT, { method: 'online', reference: 'r-2' }]) await pay('1', payment)
  const found = await detail('1')
  expect(found).toMatchObject({ held_payments: [{ ...PAYMENT, date: '2026-05-06' }], receipts: [] })
  expect([...(found.history ?? [])].slice(-3).map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
    'payment_held: Payment (card, 2026-05-06, reference r-1) held until the invoice is finalized',
    'payment_repeated: Payment (card, 2026-05-06, reference r-1) received again: it is already held',
    'payment_repeated: Payment (online, 2026-05-06, reference r-2) not held: another payment already is',
  ])
  await product('SKU-3', { stock: 2 })
  const paid = { status: 'paid', held_payments: [], receipts: [{ type: 'pos' }] }
  expect((await retry('1')).body).toMatchObject(paid)
})

describe('a payment of an invoiced order', () => {
  test.each([
    ['cash', 'cash'],
    ['card', 'pos'],
    ['online', 'transfer'],
  ])('by %s is registered without an account while none is selected', async (method, type) => {
    const { create, pay, settings, detail, act } = sandbox()
    await create(order('1'))
    await settings({ orderPaymentReceivingAccount: null })
    expect(await pay('1', { method })).toMatchObject({
      status: 200,
      body: { status: 'paid', receipt_number: 1 },
    })
    expect((await detail('1')).receipts).toMatchObject([{ type, amount: '2200', account: null }])
    await act('1', 'reverse-payment')
    const refused = { status: 400, body: { error: { code: 'no_receiving_account' } } }
    expect(await act('1', 'pay', { method })).toMatchObject(refused)
    await settings({ orderPaymentReceivingAccount: 'bank-1' })
    expect((await act('1', 'pay', { method })).body.receipts).toMatchObject([{ account: { code: 'bank-1' } }])
  })

  test('has the date of the order by default, even if that year is closed', async () => {
    const { create, pay, detail, put } = sandbox()
    await create(order('1', { date: '2026-05-06' }))
    await put('fiscal-years', { fiscalYears: [{ from: '2027-01-01', to: '2027-12-31' }] })
    const error = { code: 'outside_fiscal_years', field: 'date' }
    expect(await pay('1', { ...PAYMENT, date: '2026-05-06' })).toMatchObject({ status: 400, body: { error } })
    expect(await pay('1')).toMatchObject({ status: 200, body: { status: 'paid' } })
    expect((await detail('1')).receipts).toMatchObject([{ date: '2026-05-06' }])
  })
})

test('accepts the source in the query or the body, and requires both to match', async () => {
  const { create, pay, refund, url } = sandbox()
  for (const id of ['1', '2']) await create(order(id, { source: 'shop' }))
  expect((await pay('1')).status).toBe(404)
  const different = { status: 400, body: { error: { field: 'source' } } }
  expect(await pay('1', { ...PAYMENT, source: 'api' }, 'shop')).toMatchObject(different)
  expect(await refund('1', { source: 'api' }, 'shop')).toMatchObject(different)
  expect((await pay('1', PAYMENT, 'shop')).status).toBe(200)
  expect((await pay('2', { ...PAYMENT, source: 'shop' })).status).toBe(200)
  expect((await refund('1', { source: 'shop' })).status).toBe(200)
  expect((await refund('2', undefined, 'shop')).status).toBe(200)
  const created = await call(`${url}/api/v1/orders/?source=shop`, { method: 'POST', body: order('3') })
  expect(created.body).toMatchObject({ source: 'shop' })
})

/** Stores do not send what invoices say about the buyer. */
const NO_IDENTITY = { economicCode: '', nationalId: '', address: '', postalCode: '', phone: '' }

describe('customers (rules 1 to 3)', () => {
  test('with an unknown mobile number is created, and found in all four forms of the number', async () => {
    const { create, detail, list } = sandbox()
    for (const mobile of ['09123456789', '9123456789', '+989123456789', '۰۹۱۲۳۴۵۶۷۸۹', '۹۱۲۳۴۵۶۷۸۹']) {
      const name = mobile === NAMED.mobile ? NAMED.name : 'someone else'
      await create(order(mobile, { customer: { ...NAMED, mobile, name } }))
      expect((await detail(mobile)).customer).toEqual({ code: '09123456789', ...NAMED, ...NO_IDENTITY })
    }
    await create(order('unnamed', { customer: { mobile: '9351112233' } }))
    const unnamed = { code: '09351112233', mobile: '09351112233', name: '09351112233', email: null }
    expect((await detail('unnamed')).customer).toEqual({ ...unnamed, ...NO_IDENTITY })
    expect(await list('customers')).toHaveLength(3)
  })

  test('without a mobile number is the default customer, or refused if there is none', async () => {
    const { create, detail, read, settings } = sandbox()
    const customers = [undefined, null, {}, { mobile: null }, { mobile: '' }, { name: 'no number' }]
    for (const [index, customer] of customers.entries()) {
      expect((await create(order(String(index), { customer }))).status).toBe(201)
      expect((await detail(String(index))).customer).toMatchObject({ code: 'walk-in' })
    }
    await settings({ defaultCustomer: null })
    const error = { code: 'no_customer', field: 'customer.mobile' }
    expect(await create(order('refused'))).toMatchObject({ status: 400, body: { error } })
    expect((await read('refused')).status).toBe(404)
    expect((await create(order('refused', { customer: NAMED }))).status).toBe(201)
  })

  test('with an unknown number and automatic creation off is the default customer, or refused', async () => {
    const { create, detail, settings, list } = sandbox()
    await settings({ automaticCustomerCreation: false })
    await create(order('1', { customer: NAMED }))
    expect((await detail('1')).customer).toMatchObject({ code: 'walk-in' })
    await settings({ defaultCustomer: null })
    expect((await create(order('2', { customer: NAMED }))).body.error).toMatchObject({ code: 'no_customer' })
    expect(await list('customers')).toHaveLength(1)
  })
})

describe('rows (rules 4 and 5)', () => {
  test('have the product name unless the store names them; shipping is a separate taxed row', async () => {
    const { create, detail } = sandbox()
    const item = row('SKU-1', 1)
    const items = [item, { ...item, name: 'gift' }, { ...item, name: null }]
    expect((await create(order('1', { items, shipping: 500, discount: 300 }))).body.total).toBe('3520')
    const { rows, totals } = await detail('1')
    const own = 'چای سیاه ۵۰۰ گرمی'
    expect([...(rows ?? [])].map(({ name }) => name)).toEqual([own, 'gift', own, 'هزینه ارسال'])
    const amounts = { quantity: 1, amount: '1000', orderDiscount: '100', net: '900', tax: '90' }
    expect(rows?.[0]).toMatchObject({ kind: 'item', sku: 'SKU-1', unit_price: '1000', ...amounts })
    expect(rows?.[3]).toMatchObject({
      kind: 'shipping',
      sku: null,
      quantity: 1,
      unit_price: '500',
      amount: '500',
      orderDiscount: '0',
      net: '500',
      tax: '50',
    })
    expect(totals).toEqual({
      rowDiscounts: '0',
      amount: '3500',
      orderDiscount: '300',
      net: '3200',
      tax: '320',
      total: '3520',
    })
  })
})

describe('receipts (rule 6)', () => {
  test.each(
    ['online', 'transfer', 'card', 'pos', 'cash'].flatMap(method => [
      ['cash-1', method, 'cash'],
      ['bank-1', method, method === 'card' || method === 'pos' ? 'pos' : 'transfer'],
    ]),
  )('into %s by %s is of type %s', async (account, method, type) => {
    const { create, detail, settings } = sandbox()
    await settings({ orderPaymentReceivingAccount: account })
    await create(order('1', { payment: { method, reference: 'r-1', date: '2026-11-20' } }))
    expect((await detail('1')).receipts).toMatchObject([
      {
        number: 1,
        type,
        amount: '2200',
        reference: 'r-1',
        date: '2026-11-20',
        account: { code: account },
      },
    ])
  })

  test("have no reference and the order's date by default", async () => {
    const { create, detail } = sandbox()
    await create(order('1', { date: '2026-05-06', payment: { method: 'online' } }))
    expect((await detail('1')).receipts).toMatchObject([{ reference: '', date: '2026-05-06' }])
  })
})

describe('dates (rule 8)', () => {
  test.each([
    [undefined, '2026-11-22', '2026-11-21T20:30:00Z'],
    [undefined, '2026-11-21', '2026-11-21T20:29:59Z'],
    ['America/New_York', '2026-11-20', '2026-11-21T04:59:59Z'],
  ])('default to today in the time zone %s: %s at %s', async (timeZone, date, time) => {
    const zone = timeZone !== undefined && { timeZone }
    const { url, close } = await startSandbox({ port: 0, clock: () => new Date(time), ...zone })
    const { create, detail, refund } = clientOf(url)
    await create(order('1', { payment: { method: 'cash' } }))
    await refund('1')
    expect(await detail('1')).toMatchObject({ date, receipts: [{ date }], returns: [{ date }] })
    await close()
  })

  test('must be within a fiscal year, including its first and last day', async () => {
    const { create, put } = sandbox()
    const [year, earlier] = [
      { from: '2026-03-21', to: '2027-03-20' },
      { from: '2024-03-20', to: '2025-03-20' },
    ]
    await put('fiscal-years', { fiscalYears: [year, earlier] })
    for (const date of ['2026-03-21', '2027-03-20', '2024-12-31'])
      expect((await create(order(date, { date }))).status).toBe(201)
    const error = { code: 'outside_fiscal_years', field: 'date' }
    for (const date of ['2026-03-20', '2027-03-21', '2025-06-01'])
      expect((await create(order(date, { date }))).body).toMatchObject({ error })
  })
})

test('refuses an unknown sku, and does not treat the corrected order as a duplicate', async () => {
  const { create, list, stock } = sandbox()
  const rows = Array(500).fill(row('SKU-1', 0.1, 10))
  const refused = await create(order('1', { customer: NAMED, items: rows.with(499, row('no', 0.1, 10)) }))
  const error = { code: 'unknown_sku', field: 'items[499].sku', message: expect.stringContaining('"no"') }
  expect(refused).toMatchObject({ status: 400, body: { error } })
  expect([await list('orders'), await stock('SKU-1')]).toEqual([[], 100])
  expect(await list('customers')).toHaveLength(1)

  const created = await create(order('1', { customer: NAMED, items: rows }))
  expect(created).toMatchObject({ status: 201, body: { invoice_number: 1 } })
  expect(await stock('SKU-1')).toBe(50)
})

test("decreases stock by the exact sum of a product's rows", async () => {
  const { create, refund, stock, product } = sandbox()
  await product('SKU-1', { stock: 0.3 })
  const of = (quantity: number) => row('SKU-1', quantity)
  const short = await create(order('1', { items: [of(0.2), of(0.2)] }))
  expect(short.body.error).toBe('Insufficient stock: "SKU-1" needs 0.4, available 0.3')
  expect(await stock('SKU-1')).toBe(0.3)
  expect((await create(order('2', { items: [of(0.1), of(0.2)] }))).body.status).toBe('invoiced')
  expect(await stock('SKU-1')).toBe(0)
  await refund('2')
  expect(await stock('SKU-1')).toBe(0.3)
})
