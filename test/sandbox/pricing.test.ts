import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { decimal } from '../../sandbox/decimal.ts'
import { type Priceable, price } from '../../sandbox/pricing.ts'

const priced = (order: Priceable, taxRate = 10, pricesIncludeTax = false) =>
  price(order, { taxRate: decimal(taxRate), pricesIncludeTax })

const amounts = ({ rows }: ReturnType<typeof price>) => rows.map(({ amount }) => amount)
const shares = ({ rows }: ReturnType<typeof price>) => rows.map(({ orderDiscount }) => orderDiscount)

describe('rounding', () => {
  test('is half up, on the exact product of quantity and price', () => {
    const rows = (quantity: number, unit_price: number) => priced({ items: [{ quantity, unit_price }] })
    expect(amounts(rows(0.5, 7))).toEqual([4n])
    expect(amounts(rows(1.005, 1000))).toEqual([1005n])
    expect(amounts(rows(0.1, 4.9))).toEqual([0n])
    expect(amounts(rows(1.15, 10))).toEqual([12n])
  })

  test('of the spread discount favours the largest remainders, and the earlier row in a tie', () => {
    const items = [1, 1, 1].map(unit_price => ({ quantity: 1, unit_price: unit_price * 100 }))
    expect(shares(priced({ items, discount: 10 }))).toEqual([4n, 3n, 3n])
    expect(shares(priced({ items, discount: 11 }))).toEqual([4n, 4n, 3n])
    const uneven = [10, 20, 70].map(unit_price => ({ quantity: 1, unit_price }))
    expect(shares(priced({ items: uneven, discount: 7 }))).toEqual([1n, 1n, 5n])
  })
})

describe('a discount', () => {
  const items = [{ quantity: 1, unit_price: 100, discount: 40 }]

  test('can reduce a row, or the whole order, to zero', () => {
    expect(priced({ items: [{ quantity: 1, unit_price: 100, discount: 100 }] }).totals.total).toBe(0n)
    expect(priced({ items, discount: 60 }).totals.total).toBe(0n)
  })
})

test('shipping of zero has no row, and the order discount does not affect shipping', () => {
  const items = [{ quantity: 1, unit_price: 100 }]
  expect(priced({ items, shipping: 0 }).rows).toHaveLength(1)
  expect(priced({ items, shipping: 50, discount: 100 }).rows[1]).toMatchObject({ kind: 'shipping', net: 50n })
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
