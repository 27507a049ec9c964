import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { ExactNumber } from '@order-relay/lib/protocol/json.ts'
import fc from 'fast-check'
import { decimal } from '../src/decimal.ts'
import { type Priceable, price } from '../src/pricing.ts'
import { eachWithSandbox } from './world.ts'

const sandbox = eachWithSandbox()

test('invoices match the independent pricing vectors, over HTTP', async () => {
  const { create, detail, settings, product } = sandbox()
  const { cases } = JSON.parse(readFileSync('test/vectors/pricing.json', 'utf8'))
  for (let sku = 0; sku < 5; sku++) await product(`SKU-${sku}`, { stock: 1_000_000 })
  for (const [index, { taxRate, pricesIncludeTax, order, expect: expected }] of cases.entries()) {
    await settings({ taxRate, pricesIncludeTax })
    const { status, body } = await create({ ...order, external_id: String(index) })
    expect({ status, total: body.total }).toEqual({ status: 201, total: expected.total })
    const { rows, tax_rate, prices_include_tax } = await detail(String(index))
    expect([tax_rate, prices_include_tax]).toEqual([taxRate, pricesIncludeTax])
    const asText = (row: object) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))
    expect(rows).toMatchObject(expected.rows.map(asText))
  }
})

const priced = (order: Priceable, taxRate = 10, pricesIncludeTax = false) =>
  price(order, { taxRate: decimal(taxRate), pricesIncludeTax })

test('with equal remainders, assigns the last rial of the order discount to the earlier row', () => {
  const items = Array(3).fill({ quantity: 1, unit_price: 100 })
  const { rows } = priced({ items, discount: 10 })
  expect(rows.map(({ orderDiscount }) => orderDiscount)).toEqual([4n, 3n, 3n])
})

const orders = fc
  .array(
    fc.record({
      quantity: fc.oneof(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 9999 }).map(n => n / 1000),
      ),
      unit_price: fc.oneof(
        fc.nat(100_000_000),
        fc.stringMatching(/^[1-9][0-9]{17,25}$/).map(text => new ExactNumber(text)),
      ),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .chain(items => {
    const sum = priced({ items }).totals.amount
    return fc.record({
      items: fc.constant(items),
      discount: fc.bigInt({ min: 0n, max: sum }).map(value => new ExactNumber(String(value))),
      shipping: fc.nat(1_000_000),
    })
  })

test('the rows of each invoice add up to its total', () => {
  fc.assert(
    fc.property(orders, fc.constantFrom(0, 8.5, 9, 10, 100), fc.boolean(), (order, rate, included) => {
      const { rows, totals } = priced(order, rate, included)
      const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n)
      const discount = BigInt(order.discount.text)
      expect(sum(rows.map(row => row.orderDiscount))).toBe(discount)
      expect(totals.total).toBe(sum(rows.map(row => row.net + row.tax)))
      for (const row of rows) {
        expect(row.orderDiscount >= 0n && row.orderDiscount <= row.amount).toBe(true)
        expect(row.net >= 0n && row.tax >= 0n).toBe(true)
        if (row.kind === 'shipping') expect(row.orderDiscount).toBe(0n)
      }
      if (included) expect(totals.total).toBe(totals.amount - discount)
      else expect(totals.net).toBe(totals.amount - discount)
    }),
  )
})
