import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { decimal } from '../../sandbox/decimal.ts'
import { type Priceable, price } from '../../sandbox/pricing.ts'

const priced = (order: Priceable, taxRate = 10, pricesIncludeTax = false) =>
  price(order, { taxRate: decimal(taxRate), pricesIncludeTax })

// Rounding, discounts and shipping are in the vectors of test/sandbox/orders.test.ts.
test('of equal remainders of the order discount, the earlier row has the rial', () => {
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

test('the rows of every invoice add up to its total', () => {
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
