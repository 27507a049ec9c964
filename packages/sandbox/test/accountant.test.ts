import { describe, expect, test } from '@jest/globals'
import { eachWithSandbox, order, PAYMENT, row, SHORT } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const YEAR = { from: '2029-03-21', to: '2030-03-20' }

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
    'payment_held: Payment (card, 2026-11-21) held until the invoice is finalized',
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
      ['reverse-payment', 'no receipt', 'no receipt', 'invoiced', 'reverse its return first'],
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
    [409, 'no held payment was sent for the whole invoice', { heldPayment: 'received' }],
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

  test("do not restrict a store's refund, but restrict a return in the panel, even without a given date", async () => {
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
