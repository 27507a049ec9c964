import { describe, expect, test } from '@jest/globals'
import { eachWithSandbox, order } from './world.ts'

const sandbox = eachWithSandbox({ clock: () => new Date(2026, 10, 21, 12) })

const OUT_OF_STOCK = { items: [{ sku: 'SKU-3', quantity: 2, unit_price: 1000 }] }
const PAYMENT = { method: 'card', reference: 'r-1' }

const kinds = async (id: string) => [...((await sandbox().detail(id)).history ?? [])].map(({ kind }) => kind)

describe('creating an order', () => {
  test('without a payment results in invoiced', async () => {
    const { status, body } = await sandbox().create(order('1', { source: 'shop' }))
    expect(status).toBe(201)
    expect(body).toEqual({
      source: 'shop',
      external_id: '1',
      status: 'invoiced',
      status_display: 'فاکتور شده',
      total: '2200',
      invoice_number: 1,
      invoice_status: 'posted',
      receipt_number: null,
      return_number: null,
      error: null,
      duplicate: false,
    })
    expect(await sandbox().stock('SKU-1')).toBe(98)
  })

  test('with a payment results in paid, with a receipt', async () => {
    const { status, body } = await sandbox().create(order('1', { payment: PAYMENT }))
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'paid', status_display: 'پرداخت شده', receipt_number: 1 })
    expect(await kinds('1')).toEqual(['created', 'finalized', 'paid'])
  })

  test('that cannot be finalized results in needs_review: a draft, a held payment, no change of stock', async () => {
    const { create, detail, product, stock } = sandbox()
    await product('SKU-3', { stock: 1 })
    const { status, body } = await create(order('1', { ...OUT_OF_STOCK, payment: PAYMENT }))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: 'needs_review',
      status_display: 'نیازمند بررسی',
      invoice_number: 1,
      invoice_status: 'draft',
      receipt_number: null,
      return_number: null,
      error: 'Insufficient stock: "SKU-3" needs 2, available 1',
      duplicate: false,
    })
    expect((await detail('1')).held_payment).toMatchObject(PAYMENT)
    expect(await stock('SKU-3')).toBe(1)
    expect(await kinds('1')).toEqual(['created', 'held'])
  })

  test('reports every cause of the review', async () => {
    const { create, settings } = sandbox()
    await settings({ automaticFinalization: false, orderPaymentReceivingAccount: null })
    const unpaid = await create(order('1'))
    expect(unpaid.body).toMatchObject({ status: 'needs_review', error: 'Automatic finalization is off' })
    const paid = await create(order('2', { ...OUT_OF_STOCK, payment: PAYMENT }))
    expect(paid.body.error).toBe(
      'Insufficient stock: "SKU-3" needs 2, available 0. Automatic finalization is off. ' +
        'No receiving account is selected for order payments',
    )
    await settings({ automaticFinalization: true })
    const account = await create(order('3', { payment: PAYMENT }))
    expect(account.body.error).toBe('No receiving account is selected for order payments')
    expect((await create(order('4'))).body.status).toBe('invoiced')
  })

  test('again returns 200 with the current state, whatever the second body contains', async () => {
    const { create, pay, panel } = sandbox()
    await create(order('1'))
    await pay('1')
    const again = [order('1'), order('1', { items: [{ sku: 'unknown' }] }), { external_id: '1' }]
    for (const body of again) {
      const reply = await create(body)
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({ status: 'paid', receipt_number: 1, duplicate: true })
    }
    expect((await panel('orders')).body.orders).toHaveLength(1)
  })

  test('with the same id from another source is another order', async () => {
    const { create, read } = sandbox()
    await create(order('1'))
    expect((await create(order('1', { source: 'other' }))).status).toBe(201)
    expect((await read('1')).body).toMatchObject({ source: 'api', invoice_number: 1 })
    expect((await read('1', 'other')).body).toMatchObject({ source: 'other', invoice_number: 2 })
  })
})

test('reading returns the order without "duplicate", or 404', async () => {
  const { create, read } = sandbox()
  const { body } = await create(order('1'))
  const { duplicate, ...result } = body
  expect(duplicate).toBe(false)
  expect(await read('1')).toMatchObject({ status: 200, body: result })
  expect((await read('1')).body).not.toHaveProperty('duplicate')
  expect(await read('1', 'other')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
})

describe('paying an order', () => {
  test('that is invoiced results in paid in full, with the fields direct or inside "payment"', async () => {
    const { create, pay, detail } = sandbox()
    for (const [id, body] of [
      ['1', PAYMENT],
      ['2', { payment: PAYMENT }],
    ] as const) {
      await create(order(id))
      const reply = await pay(id, body)
      expect(reply).toMatchObject({ status: 200, body: { status: 'paid', receipt_number: Number(id) } })
      expect(reply.body).not.toHaveProperty('duplicate')
      expect((await detail(id)).receipt).toMatchObject({ amount: '2200', reference: 'r-1' })
    }
  })

  test('that needs review is a 400 and holds the payment; another one is only in the history', async () => {
    const { create, pay, detail, product, retry } = sandbox()
    await create(order('1', { ...OUT_OF_STOCK, date: '2026-05-06' }))
    for (const payment of [PAYMENT, { method: 'online', reference: 'r-2' }]) {
      expect(await pay('1', payment)).toMatchObject({
        status: 400,
        body: { error: { code: 'not_finalized' } },
      })
    }
    const held = { ...PAYMENT, date: '2026-05-06' }
    const found = await detail('1')
    expect(found).toMatchObject({ status: 'needs_review', held_payment: held, receipt: null })
    expect([...(found.history ?? [])].at(-1)).toMatchObject({
      kind: 'held',
      message: 'Payment (online, 2026-05-06, reference r-2) not held: another payment already is',
    })
    await product('SKU-3', { stock: 2 })
    expect((await retry('1')).body).toMatchObject({
      status: 'paid',
      held_payment: null,
      receipt: { type: 'pos' },
    })
  })

  test('that is paid or refunded has no effect', async () => {
    const { create, pay, refund, detail } = sandbox()
    await create(order('1', { payment: PAYMENT }))
    expect(await pay('1')).toMatchObject({ status: 200, body: { status: 'paid', receipt_number: 1 } })
    await refund('1')
    await create(order('2'))
    await refund('2')
    expect(await pay('2')).toMatchObject({ status: 200, body: { status: 'refunded', receipt_number: null } })
    expect((await detail('2')).receipt).toBeNull()
  })

  test('without a receiving account is refused, and succeeds after one is selected', async () => {
    const { create, pay, settings, read } = sandbox()
    await create(order('1'))
    await settings({ orderPaymentReceivingAccount: null })
    expect(await pay('1')).toMatchObject({ status: 400, body: { error: { code: 'no_receiving_account' } } })
    expect((await read('1')).body.status).toBe('invoiced')
    await settings({ orderPaymentReceivingAccount: 'cash-1' })
    expect((await pay('1')).body).toMatchObject({ status: 'paid', receipt_number: 1 })
  })

  test('that is unknown is a 404, without a method a 400', async () => {
    const { create, pay } = sandbox()
    expect((await pay('1')).status).toBe(404)
    await create(order('1'))
    expect(await pay('1', {})).toMatchObject({ status: 400, body: { error: { field: 'method' } } })
    expect(await pay('1', { payment: { reference: 'x' } })).toMatchObject({
      status: 400,
      body: { error: { field: 'payment.method' } },
    })
  })
})

describe('refunding an order', () => {
  test('that is invoiced or paid results in refunded, with a return, its reason, and the goods in stock', async () => {
    const { create, refund, detail, stock } = sandbox()
    await create(order('1'))
    await create(order('2', { payment: PAYMENT }))
    expect(await stock('SKU-1')).toBe(96)
    expect(await refund('1', { reason: 'changed his mind' })).toMatchObject({
      status: 200,
      body: { status: 'refunded', status_display: 'مرجوع شده', return_number: 1, receipt_number: null },
    })
    expect(await refund('2')).toMatchObject({
      status: 200,
      body: { status: 'refunded', return_number: 2, receipt_number: 1, invoice_status: 'posted' },
    })
    expect(await stock('SKU-1')).toBe(100)
    expect((await detail('1')).return).toMatchObject({ number: 1, reason: 'changed his mind' })
    expect((await detail('2')).return).toMatchObject({ number: 2, reason: null })
  })

  test('that is refunded has no effect', async () => {
    const { create, refund, stock } = sandbox()
    await create(order('1'))
    await refund('1')
    expect(await refund('1')).toMatchObject({ status: 200, body: { status: 'refunded', return_number: 1 } })
    expect(await stock('SKU-1')).toBe(100)
  })

  test('that needs review is a 400, that is unknown a 404', async () => {
    const { create, refund, read } = sandbox()
    await create(order('1', OUT_OF_STOCK))
    expect(await refund('1')).toMatchObject({ status: 400, body: { error: { code: 'not_finalized' } } })
    expect((await read('1')).body).toMatchObject({ status: 'needs_review', return_number: null })
    expect((await refund('2')).status).toBe(404)
  })
})

describe("the accountant's retry", () => {
  test('without a held payment results in invoiced and takes the goods', async () => {
    const { create, product, retry, stock } = sandbox()
    await create(order('1', OUT_OF_STOCK))
    await product('SKU-3', { stock: 5 })
    expect(await retry('1')).toMatchObject({
      status: 200,
      body: { status: 'invoiced', invoice_status: 'posted', error: null, receipt_number: null },
    })
    expect(await stock('SKU-3')).toBe(3)
    expect(await kinds('1')).toEqual(['created', 'held', 'retried', 'finalized'])
  })

  test('with a held payment results in paid', async () => {
    const { create, settings, retry } = sandbox()
    await settings({ orderPaymentReceivingAccount: null })
    await create(order('1', { payment: PAYMENT }))
    await settings({ orderPaymentReceivingAccount: 'bank-1' })
    expect((await retry('1')).body).toMatchObject({
      status: 'paid',
      receipt: { number: 1, reference: 'r-1' },
    })
  })

  test('leaves the order in review with the current cause while one remains', async () => {
    const { create, settings, retry, product } = sandbox()
    await settings({ automaticFinalization: false })
    await create(order('1', OUT_OF_STOCK))
    await product('SKU-3', { stock: 1 })
    expect((await retry('1')).body).toMatchObject({
      status: 'needs_review',
      error: 'Insufficient stock: "SKU-3" needs 2, available 1. Automatic finalization is off',
    })
    await product('SKU-3', { stock: 2 })
    expect((await retry('1')).body.error).toBe('Automatic finalization is off')
    await settings({ automaticFinalization: true })
    expect((await retry('1')).body).toMatchObject({ status: 'invoiced', error: null })
  })
})

describe('the source', () => {
  test('can be in the query or in the body of a payment, a refund and an order', async () => {
    const { create, pay, refund, url } = sandbox()
    await create(order('1', { source: 'shop' }))
    await create(order('2', { source: 'shop' }))
    expect((await pay('1')).status).toBe(404)
    expect((await pay('1', PAYMENT, 'shop')).status).toBe(200)
    expect((await pay('2', { ...PAYMENT, source: 'shop' })).status).toBe(200)
    expect((await refund('1', { source: 'shop' })).status).toBe(200)
    expect((await refund('2', undefined, 'shop')).status).toBe(200)
    const headers = { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' }
    const body = JSON.stringify(order('3'))
    const created = await fetch(`${url}/api/v1/orders/?source=shop`, { method: 'POST', headers, body })
    expect(await created.json()).toMatchObject({ source: 'shop' })
  })

  test('that differs between query and body is refused', async () => {
    const { create, pay, refund } = sandbox()
    await create(order('1', { source: 'shop' }))
    for (const reply of [
      await pay('1', { ...PAYMENT, source: 'api' }, 'shop'),
      await refund('1', { source: 'api' }, 'shop'),
    ]) {
      expect(reply).toMatchObject({ status: 400, body: { error: { field: 'source' } } })
    }
  })
})
