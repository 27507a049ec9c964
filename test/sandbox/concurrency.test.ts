import { expect, test } from '@jest/globals'
import { eachWithSandbox, order } from './world.ts'

const sandbox = eachWithSandbox()

test('50 simultaneous creates of the same order register it once, with 49 duplicates', async () => {
  const { create, detail, stock, panel } = sandbox()
  const body = order('1', { payment: { method: 'online' }, customer: { mobile: '09123456789' } })
  const replies = await Promise.all(Array.from({ length: 50 }, () => create(body)))
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
  const duplicates = replies.filter(({ status }) => status === 200)
  expect(duplicates).toHaveLength(49)
  for (const { body: result } of duplicates) {
    expect(result).toMatchObject({ duplicate: true, status: 'paid', invoice_number: 1, receipt_number: 1 })
  }
  expect((await panel('orders')).body.orders).toHaveLength(1)
  expect((await detail('1')).receipt).toMatchObject({ number: 1 })
  expect(await stock('SKU-1')).toBe(98)
})

test('simultaneous orders get sequential numbers without gaps and share the stock', async () => {
  const { create, product, stock, pay, refund } = sandbox()
  await product('SKU-1', { stock: 80 })
  const ids = Array.from({ length: 60 }, (_, index) => String(index))
  const replies = await Promise.all(ids.map(id => create(order(id))))
  const numbers = replies.map(({ body }) => Number(body.invoice_number))
  expect(numbers.toSorted((a, b) => a - b)).toEqual(ids.map((_, index) => index + 1))
  const invoiced = ids.filter((_, index) => String(replies[index]?.body.status) === 'invoiced')
  expect(invoiced).toHaveLength(40)
  expect(await stock('SKU-1')).toBe(0)

  const twice = [...invoiced, ...invoiced]
  const paid = await Promise.all(twice.map(id => pay(id)))
  const receipts = new Set(paid.map(({ body }) => Number(body.receipt_number)))
  expect([...receipts].toSorted((a, b) => a - b)).toEqual(invoiced.map((_, index) => index + 1))
  const returned = await Promise.all(twice.map(id => refund(id)))
  const returns = new Set(returned.map(({ body }) => Number(body.return_number)))
  expect([...returns].toSorted((a, b) => a - b)).toEqual(invoiced.map((_, index) => index + 1))
  expect(await stock('SKU-1')).toBe(80)
})

test('refused requests leave no gaps in the numbers', async () => {
  const { create } = sandbox()
  const numbers: number[] = []
  for (let id = 0; id < 5; id++) {
    await create(order(`${id}-refused`, { discount: 1e9 }))
    await create(order(`${id}-refused`, { items: [{ sku: 'no', quantity: 1, unit_price: 1 }] }))
    numbers.push(Number((await create(order(String(id)))).body.invoice_number))
  }
  expect(numbers).toEqual([1, 2, 3, 4, 5])
})
