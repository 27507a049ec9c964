import { describe, expect, test } from '@jest/globals'
import { eachWithSandbox, type Json, order, PAYMENT, row, SHORT } from './world.ts'

// The first of Azar 1405 is 22 November 2026.
const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-27T12:00:00Z') })

const messages = (found: Json, kind: string) =>
  (found.history as Json[]).filter(each => String(each.kind) === kind).map(({ message }) => String(message))

describe('adding', () => {
  test('a product or an account with a code that exists is refused and changes nothing', async () => {
    const { put, list } = sandbox()
    const [products, accounts] = [await list('products'), await list('accounts')]
    const product = await put('products/SKU-1?new=true', { name: 'Other', stock: 1 })
    expect(product).toMatchObject({ status: 409, body: { error: { code: 'conflict', field: 'sku' } } })
    expect(product.body.error?.message).toBe('Field "sku" is "SKU-1": this code is already registered')
    const account = await put('accounts?new=true', { code: 'bank-1', name: 'Other', kind: 'cash' })
    expect(account).toMatchObject({ status: 409, body: { error: { code: 'conflict', field: 'code' } } })
    expect([await list('products'), await list('accounts')]).toEqual([products, accounts])
  })

  test('a new code is accepted, and a change without "new" replaces what exists', async () => {
    const { put } = sandbox()
    expect((await put('products/NEW?new=true', { name: 'New' })).body).toMatchObject({ sku: 'NEW', stock: 0 })
    expect((await put('products/NEW', { stock: 2 })).body).toMatchObject({ name: 'New', stock: 2 })
    const pos = { code: 'pos', name: 'POS', kind: 'bank' }
    expect((await put('accounts?new=true', pos)).body).toEqual({
      ...pos,
      openingBalance: 0,
      openingDate: null,
      inUse: false,
    })
    expect((await put('accounts', { ...pos, name: 'Till' })).body).toMatchObject({ name: 'Till' })
    expect((await put('accounts?new=yes', pos)).status).toBe(400)
  })

  test('a fiscal year that overlaps another one is refused, and the same one is not added twice', async () => {
    const { put, list } = sandbox()
    const before = await list('fiscal-years')
    const overlapping = { from: '2026-08-23', to: '2027-08-22' }
    expect((await put('fiscal-years', overlapping)).body.error).toMatchObject({
      code: 'invalid',
      field: 'from',
      message: 'Field "from" is 2026-08-23: must not overlap the fiscal year from 2026-03-21 to 2027-03-20',
    })
    expect((await put('fiscal-years', { fiscalYears: [...before, overlapping] })).status).toBe(400)
    expect((await put('fiscal-years', before[0])).status).toBe(200)
    const added = await put('fiscal-years?new=true', before[0])
    expect(added).toMatchObject({ status: 409, body: { error: { code: 'conflict', field: 'from' } } })
    expect(added.body.error?.message).toMatch(/this fiscal year is already registered$/)
    expect((await put('fiscal-years?new=true', { fiscalYears: before })).status).toBe(200)
    expect(await list('fiscal-years')).toEqual(before)
  })
})

test('payments, repayments and prices are whole rials; quantities may have fractions', async () => {
  const { create, act, product } = sandbox()
  await create(order('1', { payment: PAYMENT }))
  await create(order('2', { items: [row('SKU-1', 2.5)] }))
  await act('1', 'return', { rows: [{ row: 1, quantity: 0.5 }] })
  const whole = { message: expect.stringContaining('must be a whole number of rials') }
  expect((await act('2', 'pay', { method: 'cash', amount: 1000.5 })).body.error).toMatchObject(whole)
  expect((await act('1', 'repay', { method: 'cash', amount: 10.5 })).body.error).toMatchObject(whole)
  expect((await product('SKU-1', { price: 1.5 })).body.error).toMatchObject(whole)
  expect((await product('SKU-1', { price: 1500, stock: 2.5 })).status).toBe(200)
  expect((await act('2', 'pay', { method: 'cash', amount: 1000 })).status).toBe(200)
})

describe('the history of a correction', () => {
  const corrected = async (change: object) => {
    expect((await sandbox().act('1', 'correct', change)).status).toBe(200)
    return messages(await sandbox().detail('1'), 'corrected')
  }
  const TEA = { ...row('SKU-1', 2), name: 'Tea' }

  test('names only what changed', async () => {
    const { create } = sandbox()
    await create(order('1', { items: [TEA], shipping: 50, discount: 10 }))
    const same = { items: [{ ...TEA, discount: 0 }], shipping: 50, discount: 10 }
    expect(await corrected(same)).toEqual([])
    expect(await corrected({ ...same, customer: { mobile: '09123456789', name: 'Sara; Ali' } })).toEqual([
      'Corrected by the accountant, total 2,244 rials\nCustomer "مشتری متفرقه" to "Sara; Ali"',
    ])
    const namesake = { customer: { mobile: '09351112233', name: 'Sara; Ali' } }
    expect((await corrected(namesake)).at(-1)).toContain('\nCustomer "09123456789" to "09351112233"')
  })

  test('has the old and new values of rows, shipping and discount', async () => {
    const { create } = sandbox()
    await create(order('1', { items: [TEA, row('SKU-2', 1)] }))
    const items = [
      { ...TEA, quantity: 1.5, unit_price: 1200, discount: 100 },
      { ...row('SKU-1', 3), name: 'Mint' },
    ]
    expect(await corrected({ items, shipping: 90, discount: 5 })).toEqual([
      [
        'Corrected by the accountant, total 3,300 to 5,264 rials',
        '"Tea" (SKU-1): quantity 2 to 1.5',
        '"Tea" (SKU-1): unit price 1,000 to 1,200 rials',
        '"Tea" (SKU-1): discount 0 to 100 rials',
        'Row removed: 1 × "قهوه ترک ۲۵۰ گرمی" (SKU-2), unit price 1,000 rials, discount 0 rials',
        'Row added: 3 × "Mint" (SKU-1), unit price 1,000 rials, discount 0 rials',
        'Shipping 0 to 90 rials',
        'Order discount 0 to 5 rials',
      ].join('\n'),
    ])
  })
})

test('a correction changes a wrong date of an invoice, and of a held payment outside the open fiscal years', async () => {
  const { create, act, panel } = sandbox()
  await create(order('1', { date: '2026-11-02', payment: PAYMENT }))
  const { body } = await act('1', 'correct', { date: '2026-11-01' })
  expect(body).toMatchObject({ status: 'paid', date: '2026-11-01', receipts: [{ date: '2026-11-02' }] })
  expect(messages(body, 'corrected')).toEqual([
    'Corrected by the accountant, total 2,200 rials\nDate 2026-11-02 to 2026-11-01',
  ])
  const count = async (day: string) => (await panel(`sums?from=${day}&to=${day}`)).body.totals?.count
  expect([await count('2026-11-01'), await count('2026-11-02')]).toEqual([1, 0])

  await create(order('2', { ...SHORT, date: '2026-11-20' }))
  await sandbox().pay('2', { ...PAYMENT, date: '2019-01-01' })
  await sandbox().product('SKU-3', { stock: 2 })
  expect((await act('2', 'retry')).body.error).toMatch('held payment of 2019-01-01')
  await act('2', 'correct', { paymentDate: '2026-11-21' })
  const paid = (await act('2', 'retry')).body
  expect(paid).toMatchObject({ status: 'paid', date: '2026-11-20', receipts: [{ date: '2026-11-21' }] })
  expect(messages(paid, 'corrected')).toEqual([
    'Corrected by the accountant, total 2,200 rials\nDate of the held payment 2019-01-01 to 2026-11-21',
  ])
})

test('a correction does not give several held payments the same date', async () => {
  const { create, act, put, detail } = sandbox()
  await create(order('1', { date: '2026-03-01' }))
  await act('1', 'pay', { ...PAYMENT, amount: 1000, date: '2026-03-05' })
  await act('1', 'pay', { ...PAYMENT, amount: 1200, date: '2026-03-06' })
  await act('1', 'review', { error: 'Other goods' })
  await put('fiscal-years', { from: '2025-03-21', to: '2026-03-20', closed: true })
  expect(await act('1', 'correct', { paymentDate: '2026-11-21' })).toMatchObject({
    status: 409,
    body: {
      error: { message: expect.stringContaining('2 held payments are dated outside the open fiscal years') },
    },
  })
  expect((await detail('1')).held_payments?.map(({ date }) => date)).toEqual(['2026-03-05', '2026-03-06'])
})

test('an order with a return of free goods cannot be corrected', async () => {
  const { create, act, stock } = sandbox()
  await create(order('1', { items: [row('SKU-1', 2, 0)] }))
  await act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
  expect((await act('1', 'correct', { items: [row('SKU-2', 1, 0)] })).status).toBe(409)
  expect(await stock('SKU-1')).toBe(99)
})

test('a retry that sets the stock says so in the history, and is refused as a whole', async () => {
  const { create, act, detail, stock } = sandbox()
  await create(order('1', SHORT))
  const wrong = {
    stock: [
      { sku: 'SKU-3', stock: 1 },
      { sku: 'none', stock: 1 },
    ],
  }
  expect((await act('1', 'retry', wrong)).body.error).toMatchObject({ field: 'stock[1].sku' })
  expect(await stock('SKU-3')).toBe(0)
  const [{ needed, sku } = {} as Json] = (await detail('1')).shortages ?? []
  const { status, body } = await act('1', 'retry', { stock: [{ sku, stock: Number(needed) + 0.5 }] })
  expect([status, body.status]).toEqual([200, 'invoiced'])
  expect(messages(body, 'stocked')).toEqual([
    `Stock of SKU-3 set from 0 to ${Number(needed) + 0.5} by the accountant`,
  ])
  expect(await stock('SKU-3')).toBe(0.5)
})

test('a retry changes settings with the stock, or nothing if one of them is refused', async () => {
  const { create, act, panel, settings, stock } = sandbox()
  await settings({ orderPaymentReceivingAccount: null })
  await create(order('1', { ...SHORT, payment: PAYMENT }))
  const account = async () => (await panel('settings')).body.orderPaymentReceivingAccount
  const fix = (code: string, stock: number) => ({
    settings: { orderPaymentReceivingAccount: code },
    stock: [{ sku: 'SKU-3', stock }],
  })
  for (const [refused, field] of [
    [fix('bank-1', -1), 'stock[0].stock'],
    [{ ...fix('bank-1', 2), stock: [{ sku: 'none', stock: 2 }] }, 'stock[0].sku'],
    [fix('none', 2), 'orderPaymentReceivingAccount'],
  ] as const) {
    expect((await act('1', 'retry', refused)).body.error).toMatchObject({ field })
    expect([await account(), await stock('SKU-3')]).toEqual([null, 0])
  }
  expect((await act('1', 'retry', fix('bank-1', 2))).body).toMatchObject({ status: 'paid' })
  expect(await account()).toBe('bank-1')
})

test('the money columns of an export count finalized invoices only, and say in Persian what a draft waits for', async () => {
  const { act, create, settings, url } = sandbox()
  await create(order('due'))
  await settings({ automaticFinalization: false })
  await create(order('draft'))
  const cells = async (query = '') => {
    const csv = await (await fetch(`${url}/panel/orders.csv?sort=invoice_number${query}`)).text()
    return csv
      .replace('\uFEFF', '')
      .trim()
      .split('\r\n')
      .map(line => line.split(','))
  }
  const [names = [], due = [], draft = []] = await cells()
  const of = (line: string[], ...columns: string[]) => columns.map(name => line[names.indexOf(name)])
  expect(of(due, 'net', 'tax', 'total', 'balance', 'draft_total')).toEqual([
    '2000',
    '200',
    '2200',
    '2200',
    '',
  ])
  expect(of(draft, 'net', 'tax', 'total', 'balance', 'draft_total')).toEqual(['', '', '', '', '2200'])
  const causes = async () => (await cells('&language=fa')).at(-1)?.[names.indexOf('error')]
  expect(await causes()).toBe('قطعی‌سازی خودکار خاموش است')
  await settings({ automaticFinalization: true })
  expect(await causes()).toBe('مانعی برای قطعی شدن نیست')
  await act('draft', 'correct', { items: [row('SKU-3', 1.5)] })
  expect(await causes()).toBe('کمبود موجودی: «زعفران یک مثقالی» (SKU-3) نیاز 1.5، موجود 0')
})

test('documents of the panel are not dated in the future, and a return has a date', async () => {
  const { create, act } = sandbox()
  await create(order('1', { date: '2026-11-01' }))
  const future = { message: 'Field "date" is 2026-11-28: must not be after today, 2026-11-27' }
  for (const [action, body] of [
    ['pay', { method: 'cash' }],
    ['return', {}],
  ] as const)
    expect((await act('1', action, { ...body, date: '2026-11-28' })).body.error).toMatchObject(future)
  await act('1', 'pay', { method: 'cash', date: '2026-11-27' })
  const rows = [{ row: 1, quantity: 1 }]
  expect((await act('1', 'return', { rows, date: '2026-11-20' })).body.returns).toMatchObject([
    { date: '2026-11-20' },
  ])
  expect((await act('1', 'return', { rows, date: '1999-01-01' })).body.error).toMatchObject({
    code: 'outside_fiscal_years',
    field: 'date',
  })
  expect((await act('1', 'repay', { method: 'cash', date: '2026-11-28' })).body.error).toMatchObject(future)
})

test('a return is not dated before its invoice, nor a repayment before the document that gives the credit', async () => {
  const { create, act, stock } = sandbox()
  await create(order('1', { date: '2026-11-10' }))
  const rows = [{ row: 1, quantity: 1 }]
  expect((await act('1', 'return', { rows, date: '2026-11-09' })).body.error).toMatchObject({
    code: 'invalid',
    field: 'date',
    message: 'Field "date" is 2026-11-09: must not be before the invoice, 2026-11-10',
  })
  expect(await stock('SKU-1')).toBe(98)
  expect((await act('1', 'return', { rows, date: '2026-11-10' })).status).toBe(200)

  // Money may come in before the invoice.
  for (const date of ['2026-11-20', '2026-11-08'])
    await act('1', 'pay', { method: 'cash', amount: 550, date })
  await act('1', 'return', { date: '2026-11-15' })
  const repay = (date: string, amount: number) => act('1', 'repay', { method: 'transfer', date, amount })
  const refused = (document: string, date: string) => ({
    error: {
      code: 'invalid',
      field: 'date',
      message: expect.stringContaining(`before ${document}, ${date}`),
    },
  })
  expect((await repay('2026-11-14', 550)).body).toMatchObject(refused('sales return 2', '2026-11-15'))
  expect((await repay('2026-11-15', 550)).status).toBe(200)
  // The rest of the credit is that of the last payment.
  expect((await repay('2026-11-19', 1)).body).toMatchObject(refused('receipt 1', '2026-11-20'))
  expect((await repay('2026-11-20', 550)).body.repayments).toMatchObject([{}, { date: '2026-11-20' }])
})

test('a refused order has its rows, its total, its customer and the products that are still missing', async () => {
  const { create, list, product } = sandbox()
  const items = [row('SHOE-42', 2), { ...row('BAG-7', 1, 500), name: 'Bag', discount: 100 }]
  const customer = { name: 'Sara', mobile: '12' }
  await create(order('1', { items, customer, shipping: 50, discount: 10, date: '2026-11-20' }))
  const [refused] = await list('refusals')
  expect(refused).toMatchObject({
    customer: 'Sara',
    missing: [{ sku: 'SHOE-42' }, { sku: 'BAG-7', name: 'Bag' }],
    sent: {
      items: [
        { sku: 'SHOE-42', name: null, quantity: 2, unit_price: 1000, discount: 0 },
        { sku: 'BAG-7', name: 'Bag', quantity: 1, unit_price: 500, discount: 100 },
      ],
      shipping: 50,
      discount: 10,
      date: '2026-11-20',
      method: null,
      total: '2684',
    },
  })
  await product('SHOE-42', { stock: 1 })
  expect(await list('refusals')).toMatchObject([{ missing: [{ sku: 'BAG-7' }] }])
  await create(order('2', { items: [row('SKU-1', 1), { sku: 'SKU-2', quantity: -1, unit_price: 5 }] }))
  expect(await list('refusals')).toMatchObject([{ external_id: '2', sent: null, missing: [] }, {}])
})

describe('the buyer on an invoice', () => {
  test('has a name, by which orders are found', async () => {
    const { create, put, panel } = sandbox()
    await create(order('1', { customer: { mobile: '09123456789', name: 'Sra' } }))
    expect((await put('customers/09123456789', { name: 'Sara' })).body).toMatchObject({ name: 'Sara' })
    expect((await put('customers/09123456789', { name: '' })).status).toBe(400)
    const found = async (q: string) => (await panel(`sums?q=${q}`)).body.counts?.invoiced
    expect([await found('Sara'), await found('Sra')]).toEqual([1, 0])
  })

  test.each<[field: string, value: string, status: number]>([
    ['nationalId', '0012345679', 200],
    ['nationalId', '۰۰۱۲۳۴۵۶۷۹', 200],
    ['nationalId', '0012345678', 400],
    ['nationalId', '1111111111', 400],
    ['nationalId', '10380284790', 200],
    ['nationalId', '10380284791', 400],
    ['nationalId', '123', 400],
    ['nationalId', '', 200],
    ['economicCode', '411111111111', 200],
    ['economicCode', 'abc', 400],
    ['economicCode', '10380284790', 200],
    ['economicCode', '۰۰۱۲۳۴۵۶۷۹۰۰۰۱', 200],
    ['economicCode', '4111111111', 400],
    ['economicCode', '4111111111111', 400],
    ['economicCode', '', 200],
    ['phone', '021-8888 7777', 200],
    ['phone', '+98 (21) 88887777', 200],
    ['phone', 'xyz', 400],
  ])('%s %j is answered %d', async (field, value, status) => {
    expect((await sandbox().put('customers/walk-in', { [field]: value })).status).toBe(status)
    expect((await sandbox().put('seller', { [field]: value })).status).toBe(status)
  })
})

test('references and numbers typed in Persian digits are stored in Latin digits', async () => {
  const { create, act, put } = sandbox()
  await create(order('1', { items: [row('SKU-1', 4)] }))
  await create(order('2', { payment: { ...PAYMENT, reference: '۹۸۷' } }))
  expect((await sandbox().detail('2')).receipts).toMatchObject([{ reference: '987' }])
  const paid = await act('1', 'pay', { method: 'cash', account: 'cash-1', reference: 'پ-۱۲۳' })
  expect(paid.body.receipts).toMatchObject([{ reference: 'پ-123' }])
  await act('1', 'return', { rows: [{ row: 1, quantity: 1 }] })
  const repaid = await act('1', 'repay', { method: 'cash', account: 'cash-1', reference: '٤٥' })
  expect(repaid.body.repayments).toMatchObject([{ reference: '45' }])
  expect((await put('customers/walk-in', { postalCode: '۱۲۳۴۵۶۷۸۹۰' })).body.postalCode).toBe('1234567890')
})
