import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { decimal, decimalFrom } from '../src/decimal.ts'
import { partOf } from '../src/pricing.ts'
import { eachWithSandbox, order, PAYMENT, row } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date('2026-11-21T12:00:00Z') })

const act = async (action: string, body: unknown = {}) => (await sandbox().act('1', action, body)).body

const announced = async () => (await sandbox().list('deliveries')).map(({ status }) => String(status))

/** An invoiced order of 5,610 rials, in three rows: two products and shipping. */
const invoiced = async (changes: object = {}) => {
  const { create, register } = sandbox()
  const items = [row('SKU-1', 3, 1000), row('SKU-2', 1, 2000)]
  await create(order('1', { items, shipping: 200, discount: 100, ...changes }))
  await register('http://127.0.0.1:9/')
}

const result = async () => {
  const { status, total, receipt_number, return_number } = (await sandbox().read('1')).body
  return { status, total, receipt_number, return_number }
}

const OPEN = { status: 'invoiced', total: '5610', receipt_number: null, return_number: null }

describe('partial payments', () => {
  test('leave the order result unchanged until the receipts cover the total, and then send a webhook', async () => {
    await invoiced()
    const first = await act('pay', { method: 'cash', amount: 2000, reference: 'a' })
    expect(first).toMatchObject({
      received: '2000',
      balance: '3610',
      receipts: [{ number: 1, amount: '2000' }],
    })
    expect(await result()).toEqual(OPEN)
    await act('pay', { method: 'card', amount: 600, reference: 'b' })
    expect([await result(), await announced()]).toEqual([OPEN, []])

    const last = await act('pay', PAYMENT)
    expect(last).toMatchObject({
      status: 'paid',
      received: '5610',
      balance: '0',
      receipts: [{}, {}, { amount: '3010' }],
    })
    expect(await result()).toEqual({ ...OPEN, status: 'paid', receipt_number: 3 })
    expect(await announced()).toEqual(['paid'])
    const kinds = [...(last.history ?? [])].map(({ kind }) => String(kind))
    expect(kinds.slice(-4)).toEqual(['received', 'received', 'paid', 'webhook'])
  })

  test.each<[unknown, string]>([
    [0, 'is 0: must be at least 1'],
    [0.4, 'is 0.4: must be at least 1'],
    [3611, 'is 3,611: must not exceed what is due, 3,610'],
    [-1, 'is -1: must not be negative'],
    ['1', 'must be a number'],
  ])('of %j rials are refused', async (amount, rule) => {
    await invoiced()
    await act('pay', { method: 'cash', amount: 2000 })
    const { error } = await act('pay', { method: 'cash', amount })
    expect(error).toMatchObject({ field: 'amount', message: expect.stringContaining(rule) })
    expect((await sandbox().detail('1')).receipts).toHaveLength(1)
  })

  test('do not change the payments of stores, which pay the whole total', async () => {
    await invoiced()
    await act('pay', { method: 'cash', amount: 2000 })
    const { body } = await sandbox().pay('1', PAYMENT)
    expect(body).toMatchObject({ status: 'paid', receipt_number: 2, total: '5610' })
    expect(await sandbox().detail('1')).toMatchObject({
      receipts: [{ amount: '2000' }, { amount: '5610' }],
      received: '7610',
      balance: '-2000',
    })
    // The accountant cancels the wrong receipt; the other one still pays the order.
    expect(await act('reverse-payment', { receipt: 1 })).toMatchObject({ status: 'paid', balance: '0' })
    expect(await announced()).toEqual([])
  })

  test('are reversed one by one or together', async () => {
    await invoiced()
    expect((await act('reverse-payment')).error).toMatchObject({
      message: expect.stringMatching(/has no receipt$/),
    })
    for (const amount of [1000, 4610]) await act('pay', { method: 'cash', amount })
    const wrong = (await act('reverse-payment', { receipt: 3 })).error
    expect(wrong).toMatchObject({ field: 'receipt', message: 'Field "receipt" is 3: must be one of 1, 2' })
    expect(await act('reverse-payment', { receipt: 2 })).toMatchObject({
      status: 'invoiced',
      balance: '4610',
    })
    expect(await result()).toEqual(OPEN)
    await act('pay', { method: 'cash' })
    expect(await act('reverse-payment')).toMatchObject({ status: 'invoiced', receipts: [], balance: '5610' })
    expect(await announced()).toEqual(['invoiced', 'paid', 'invoiced', 'paid'])
  })

  test('are held in review and registered with their amounts, and a payment of the store is held in addition', async () => {
    await invoiced()
    for (const amount of [1000, 2000]) await act('pay', { method: 'cash', amount })
    const inReview = await act('review', { error: 'Wrong goods' })
    expect(inReview).toMatchObject({ received: '0', held_payments: [{ amount: '1000' }, { amount: '2000' }] })
    expect(await act('retry')).toMatchObject({ status: 'invoiced', received: '3000', held_payments: [] })

    await act('review', { error: 'Wrong goods' })
    expect((await sandbox().pay('1', PAYMENT)).status).toBe(400)
    expect((await act('retry')).receipts).toMatchObject([
      { amount: '1000' },
      { amount: '2000' },
      { amount: '5610' },
    ])
    expect(await result()).toMatchObject({ status: 'paid', receipt_number: 7 })
  })

  test('keep their amounts when the invoice is corrected in review, and what is due or owed changes', async () => {
    await invoiced({ payment: PAYMENT, shipping: 0, discount: 0 })
    await act('review', { error: 'Other goods' })
    // It is paid, as far as the store knows.
    expect((await sandbox().pay('1', PAYMENT)).status).toBe(400)
    const change = (quantity: number) => act('correct', { items: [row('SKU-1', quantity)] })
    expect(await change(6)).toMatchObject({ total: '6600', held_payments: [{ amount: '5500' }] })
    expect(await act('retry')).toMatchObject({
      status: 'invoiced',
      receipts: [{ number: 2, amount: '5500' }],
      balance: '1100',
    })
    await act('review', { error: 'Other goods' })
    await change(4)
    expect(await act('retry')).toMatchObject({ status: 'paid', received: '5500', balance: '-1100' })
    expect(await announced()).toEqual(['paid', 'needs_review', 'invoiced', 'needs_review'])
  })

  test('of stores that are held before the first finalization pay the whole corrected invoice', async () => {
    await sandbox().create(order('1', { items: [row('SKU-3', 2)], payment: PAYMENT }))
    expect(await act('correct', { items: [row('SKU-1', 4)] })).toMatchObject({
      total: '4400',
      held_payments: [{ amount: null, total: '2200' }],
    })
    expect(await act('retry')).toMatchObject({ status: 'paid', received: '4400', balance: '0' })
  })

  test.each([
    [1, { status: 'paid', balance: '-1100' }],
    [4, { status: 'invoiced', balance: '2200' }],
  ])(
    'of stores that are held keep the amount that came in if the accountant chooses so, with a quantity of %s',
    async (quantity, after) => {
      await sandbox().create(order('1', { items: [row('SKU-3', 2)], payment: PAYMENT }))
      const correct = (quantity: number, choice: object) =>
        act('correct', { items: [row('SKU-1', quantity)], ...choice })
      // Whoever did not choose yet can still do so.
      await correct(3, { reason: 'Out of\nstock' })
      await correct(3, { heldPayment: 'invoice' })
      expect(await correct(quantity, { heldPayment: 'received' })).toMatchObject({
        held_payments: [{ amount: '2200', total: '2200' }],
      })
      const { history: entries = [] } = await sandbox().detail('1')
      const history = entries.filter(({ kind }) => String(kind) === 'corrected')
      expect(history.map(({ message }) => String(message).split('\n').at(-1))).toEqual([
        'Held payment: 3,300 rials, the whole invoice; 2,200 rials when it came in',
        'Held payment: 2,200 rials, the amount when it came in',
      ])
      expect(history[0]?.message).toMatch(
        /^Corrected by the accountant \(Out of stock\), total 2,200 to 3,300/,
      )
      // Until the invoice is finalized, the choice can be undone; it stays if a correction does not mention it.
      expect(await correct(quantity, { heldPayment: 'invoice' })).toMatchObject({
        held_payments: [{ amount: null, total: '2200' }],
      })
      await correct(quantity, { heldPayment: 'received' })
      expect(await correct(quantity, { reason: 'By phone' })).toMatchObject({
        held_payments: [{ amount: '2200', whole: true }],
      })
      expect(await act('retry')).toMatchObject({ ...after, received: '2200' })
    },
  )

  test('of stores that keep their amount are not received twice if the store repeats them, but another payment is', async () => {
    await sandbox().create(order('1', { items: [row('SKU-3', 2)], payment: PAYMENT }))
    const correct = (quantity: number, choice = {}) =>
      act('correct', { items: [row('SKU-1', quantity)], ...choice })
    await correct(1, { heldPayment: 'received' })
    expect((await sandbox().pay('1', PAYMENT)).status).toBe(400)
    // The date of the order is the default of the payment's.
    expect((await correct(4, { date: '2026-11-20' })).held_payments).toMatchObject([{ amount: '2200' }])
    expect((await sandbox().pay('1', PAYMENT)).status).toBe(400)
    const once = { status: 'invoiced', receipts: [{ amount: '2200' }], balance: '2200' }
    expect(await act('retry')).toMatchObject(once)
    // The relay sends a payment again when its invoice is finalized without it.
    expect(await sandbox().pay('1', PAYMENT)).toMatchObject({ status: 200, body: { status: 'invoiced' } })
    expect(await sandbox().detail('1')).toMatchObject(once)
    expect((await sandbox().pay('1', { ...PAYMENT, reference: 'r-2' })).status).toBe(200)
    const after = { status: 'paid', receipts: [{ amount: '2200' }, { amount: '4400' }], balance: '-2200' }
    expect(await sandbox().detail('1')).toMatchObject(after)
    expect(await act('reverse-payment', { receipt: 2 })).toMatchObject({
      status: 'invoiced',
      balance: '2200',
    })
  })

  test('limit a correction to totals that are not below them, and a total equal to their sum pays the order', async () => {
    await invoiced({ shipping: 0, discount: 0 })
    await act('pay', { method: 'cash', amount: 2200 })
    const change = (quantity: number) => ({ items: [row('SKU-1', quantity)] })
    const message = expect.stringContaining(
      'the new total is 1,100 rials, its receipts have 2,200; reverse its payment',
    )
    expect((await act('correct', change(1))).error).toMatchObject({ code: 'conflict', message })
    expect(await act('correct', change(4))).toMatchObject({
      status: 'invoiced',
      total: '4400',
      balance: '2200',
    })
    expect(await act('correct', change(2))).toMatchObject({ status: 'paid', total: '2200', balance: '0' })
    expect(await announced()).toEqual(['paid'])
  })
})

describe('partial returns', () => {
  const give = (...quantities: number[]) =>
    act('return', { reason: 'x', rows: quantities.map((quantity, index) => ({ row: index + 1, quantity })) })

  test('put goods back in stock and leave the order result unchanged until everything is returned', async () => {
    await invoiced({ payment: PAYMENT })
    const { stock } = sandbox()
    const paid = { ...OPEN, status: 'paid', receipt_number: 1 }
    expect(await give(0.5, 1)).toMatchObject({
      status: 'paid',
      returned: '2695',
      balance: '-2695',
      rows: [{ returned: 0.5 }, { returned: 1 }, { returned: 0 }],
      returns: [
        {
          number: 1,
          reason: 'x',
          amount: '2695',
          rows: [
            { row: 1, quantity: 0.5 },
            { row: 2, quantity: 1 },
          ],
        },
      ],
    })
    expect([await stock('SKU-1'), await stock('SKU-2')]).toEqual([97.5, 100])
    await give(2.5)
    expect([await result(), await announced(), await stock('SKU-1')]).toEqual([paid, [], 100])
    // Shipping is a row of the invoice, too.
    expect(await give(0, 0, 1)).toMatchObject({ status: 'refunded', returned: '5610', balance: '-5610' })
    expect(await result()).toEqual({ ...paid, status: 'refunded', return_number: 3 })
    expect(await announced()).toEqual(['refunded'])
  })

  test('are completed by a refund of the store, which returns the remaining goods', async () => {
    await invoiced()
    await give(1)
    const { body } = await sandbox().refund('1', { reason: 'y' })
    expect(body).toMatchObject({ status: 'refunded', return_number: 2, receipt_number: null, total: '5610' })
    const { returns, returned } = await sandbox().detail('1')
    expect(returns?.[1]).toMatchObject({
      reason: 'y',
      rows: [{ row: 1, quantity: 2 }, { row: 2 }, { row: 3 }],
    })
    expect([returned, await sandbox().stock('SKU-1'), await announced()]).toEqual(['5610', 100, []])
    expect((await sandbox().refund('1')).body).toMatchObject({ return_number: 2 })
  })

  test('reduce the amount due, and pay an order whose receipts then cover it', async () => {
    await invoiced({ shipping: 0, discount: 0 })
    await act('pay', { method: 'cash', amount: 3300 })
    expect(await give(1)).toMatchObject({ status: 'invoiced', balance: '1100' })
    expect(await give(1)).toMatchObject({ status: 'paid', receipt_number: 1, balance: '0' })
    expect(await announced()).toEqual(['paid'])
    // The interface has no partial returns or receipts: a payment pays the whole total.
    await act('reverse-payment')
    await sandbox().pay('1', PAYMENT)
    expect(await sandbox().detail('1')).toMatchObject({ status: 'paid', received: '5500', balance: '-2200' })
  })

  test.each<[unknown[], string, string]>([
    [[], 'rows', 'must have at least one row'],
    [[{ row: 1, quantity: 0 }], 'rows[0].quantity', 'must be greater than zero in at least one row'],
    [[{ row: 4, quantity: 1 }], 'rows[0].row', 'is 4: the invoice has 3 rows'],
    [[{ row: 1, quantity: 2.5 }], 'rows[0].quantity', 'is 2.5: must not exceed what is not returned, 2'],
    [
      [
        { row: 2, quantity: 1 },
        { row: 2, quantity: 1 },
      ],
      'rows',
      'must have each row once',
    ],
    [[{ row: 1, quantity: -1 }], 'rows[0].quantity', 'must not be negative'],
    [[{ row: 0, quantity: 1 }], 'rows[0].row', 'must be at least 1'],
  ])('of %j are refused', async (rows, field, rule) => {
    await invoiced()
    await give(1)
    const { error } = await act('return', { rows })
    expect(error).toMatchObject({ field, message: expect.stringContaining(rule) })
    expect((await sandbox().detail('1')).returns).toHaveLength(1)
  })

  test('are reversed one by one or together, with a reason, and take their goods from stock', async () => {
    await invoiced({ payment: PAYMENT })
    const { stock, product, panel } = sandbox()
    for (const quantities of [[1], [2, 1, 1]]) await give(...quantities)
    expect(await result()).toMatchObject({ status: 'refunded', return_number: 2 })
    await product('SKU-1', { stock: 1 })
    expect((await act('reverse-return', { return: 2 })).error).toMatchObject({
      message: expect.stringMatching(/"SKU-1" needs 2, available 1; add stock first$/),
    })
    expect(await sandbox().detail('1')).toMatchObject({
      returns: [{ shortages: [] }, { shortages: [{ sku: 'SKU-1', needed: '2', available: '1' }] }],
      returned_shortages: [{ sku: 'SKU-1', needed: '3', available: '1' }],
    })
    expect(await act('reverse-return', { return: 1, reason: 'اشتباه' })).toMatchObject({
      status: 'paid',
      returns: [{ number: 2 }],
      rows: [{ returned: 2 }, { returned: 1 }, {}],
    })
    expect([await stock('SKU-1'), await result()]).toEqual([
      0,
      { ...OPEN, status: 'paid', receipt_number: 1 },
    ])
    expect(await give(1)).toMatchObject({ status: 'refunded', returned: '5610' })
    await product('SKU-1', { stock: 3 })
    expect(await act('reverse-return')).toMatchObject({ status: 'paid', returned: '0', balance: '0' })
    expect([await stock('SKU-1'), await stock('SKU-2')]).toEqual([0, 99])
    const { history } = await sandbox().detail('1')
    expect(history?.map(({ message }) => String(message))).toContain(
      'Return reversed by the accountant (اشتباه), sales return 1 cancelled, goods taken from stock',
    )
    expect((await panel('documents?kind=return')).body.documents).toMatchObject([
      ...[{ cancel_reason: null }, { cancel_reason: null }, { number: 1, cancel_reason: 'اشتباه' }],
    ])
    expect(await announced()).toEqual(['paid', 'refunded', 'paid', 'refunded'])

    await give(1)
    await act('repay', PAYMENT)
    expect((await act('reverse-return')).error).toMatchObject({
      message: expect.stringMatching(/it has a repayment; reverse its repayment first$/),
    })
  })

  test('are cancelled in review, which restocks only the goods that were not returned', async () => {
    await invoiced()
    await give(1)
    const message = expect.stringContaining('a part of it is returned; move it back to review first')
    expect((await act('correct', { shipping: 0 })).error).toMatchObject({ code: 'conflict', message })
    expect(await act('review', { error: 'Wrong goods' })).toMatchObject({ returned: '0', returns: [] })
    expect(await sandbox().stock('SKU-1')).toBe(100)
    expect(await act('retry')).toMatchObject({ status: 'invoiced', rows: [{ returned: 0 }, {}, {}] })
    expect(await sandbox().stock('SKU-1')).toBe(97)
    expect(await give(3, 1, 1)).toMatchObject({ status: 'refunded', return_number: 2 })
  })

  test('of any quantities add up to the row', () => {
    const parts = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 8 })
    const amount = fc.bigInt({ min: 0n, max: 10n ** 20n })
    fc.assert(
      fc.property(parts, amount, amount, (parts, net, tax) => {
        const quantity = String(parts.reduce((a, b) => a + b, 0) / 1000)
        let before = 0
        const sums = { net: 0n, tax: 0n }
        for (const part of parts) {
          const given = partOf(
            { quantity, net: `${net}`, tax: `${tax}` },
            decimal(before / 1000),
            decimalFrom(`${part / 1000}`),
            { net: String(net - sums.net), tax: String(tax - sums.tax) },
          )
          before += part
          sums.net += BigInt(given.net)
          sums.tax += BigInt(given.tax)
          expect(BigInt(given.net)).toBeGreaterThanOrEqual(0n)
        }
        expect(sums).toEqual({ net, tax })
      }),
    )
  })
})

test('a dry run of a correction or return returns the same response and changes nothing', async () => {
  await invoiced({ payment: PAYMENT })
  await act('reverse-payment')
  const change = { items: [row('SKU-2', 2, 5000)], customer: { mobile: '09123456789' }, shipping: 0 }
  const { detail, stock, list } = sandbox()
  const before = [await detail('1'), await stock('SKU-2'), await list('customers')]
  const rehearsed = await act('correct', { ...change, dryRun: true })
  expect(rehearsed).toMatchObject({ total: '10890', customer: { mobile: '09123456789' } })
  expect([await detail('1'), await stock('SKU-2'), await list('customers')]).toEqual(before)
  const { updated_at: _, history: __, ...real } = await act('correct', change)
  expect(rehearsed).toMatchObject(real)
  const { error } = await act('correct', { items: [row('no', 1)], dryRun: true })
  expect(error).toMatchObject({ field: 'items[0].sku' })
  expect(await act('return', { dryRun: true })).toMatchObject({ status: 'refunded', returned: '10890' })
  expect(await detail('1')).toMatchObject({ status: 'invoiced', returned: '0' })
})

test('the sums and the export contain receipts and returns, in Persian with Jalali dates and complete mobile numbers', async () => {
  const { create, panel, url } = sandbox()
  await invoiced({ date: '2026-04-23', customer: { mobile: '09123456789', name: 'سارا' } })
  for (const amount of [1000, 2000]) await act('pay', { method: 'cash', amount, reference: `r${amount}` })
  await act('return', { rows: [{ row: 2, quantity: 1 }] })
  await create(order('2', { items: [row('SKU-3', 1)], payment: PAYMENT }))
  const { totals } = (await panel('sums')).body
  expect(totals).toMatchObject({ total: '6710', received: '3000', returned: '2156' })
  await create(order('unnamed', { customer: { mobile: '9120000001' } }))
  const response = await fetch(
    `${url}/panel/orders.csv?language=fa&calendar=persian&sort=invoice_number&from=2026-04-23`,
  )
  expect(response.headers.get('content-disposition')).toBe(
    'attachment; filename="orders-from-1405-02-03.csv"',
  )
  const lines = Buffer.from(await response.arrayBuffer())
    .toString()
    .split('\r\n')
  expect(lines[0]).toMatch(/^\uFEFFفروشگاه,شماره سفارش,تاریخ,نام مشتری,موبایل,وضعیت,شماره فاکتور,/)
  expect(lines[1]).toBe(
    'api,1,1405/02/03,سارا,"=""09123456789""",فاکتور شده,1,1؛ 2,1,r1000؛ r2000,نقدی,100,200,5100,510,5610,3000,2156,0,454,,,,196,,0',
  )
  expect(lines[2]).toBe(
    'api,2,1405/08/30,مشتری متفرقه,,نیازمند بررسی,2,,,,,,,,,,0,0,0,,کمبود موجودی: «زعفران یک مثقالی» (SKU-3) نیاز 1، موجود 0,,,0,1100,1100',
  )
  expect(lines[3]).toContain('unnamed,1405/08/30,"=""09120000001""","=""09120000001""",')
})
