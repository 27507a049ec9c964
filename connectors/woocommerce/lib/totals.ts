import { amountOf, percentOf, sum } from './amounts.ts'
import type { Settings } from './settings.ts'

/** The share of each row in the order discount, by largest remainder; ties go to the earlier row. */
const spread = (discount: bigint, amounts: readonly bigint[]): bigint[] => {
  const whole = sum(amounts)
  if (discount === 0n || whole === 0n) return amounts.map(() => 0n)
  const shares = amounts.map(amount => (discount * amount) / whole)
  const byRemainder = amounts
    .map((amount, index) => ({ index, remainder: (discount * amount) % whole }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder < b.remainder ? 1 : -1))
  const raised = byRemainder.slice(0, Number(discount - sum(shares))).map(({ index }) => index)
  return shares.map((share, index) => share + (raised.includes(index) ? 1n : 0n))
}

/** The total of the invoice that the accounting service makes (spec: business rules 4 and 5, Tax rate), in rials. */
export const totalOf = (
  { amounts, shipping, discount }: { amounts: readonly bigint[]; shipping: bigint; discount: bigint },
  { pricesIncludeTax, taxRate }: Pick<Settings, 'pricesIncludeTax' | 'taxRate'>,
): bigint => {
  const shares = spread(discount, amounts)
  const rows = [...amounts.map((amount, index) => amount - (shares[index] ?? 0n)), shipping]
  if (pricesIncludeTax) return sum(rows)
  return sum(rows.map(row => row + percentOf(row, amountOf(taxRate))))
}
