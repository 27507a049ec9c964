import type { OrderRequest } from 'order-relay-store'
import { type Amount, amountOf, rialsOf, sum, timesQuantity, unitPrice } from './amounts.ts'
import type { Attention, CaseCode } from './cases.ts'
import { mobileOf } from './mobile.ts'
import { FACTORS, methodOf, type Settings } from './settings.ts'
import { dayIn, isPaid, type Line, type ShopOrder } from './shop-order.ts'
import { totalOf } from './totals.ts'

export type Mapped = {
  /** Undefined if the order cannot become an invoice. */
  request?: OrderRequest
  /** Why it cannot, or why the total differs. Amounts are in rials. */
  problems: readonly Attention[]
  /** The totals of the shop and of the invoice, in rials. */
  total: bigint
  invoiceTotal?: bigint
  /** The accounting service does not accept the phone number, so it is not sent. */
  isPhoneOmitted: boolean
}

/** An amount including or excluding tax, like the accounting service's prices. */
const chargeOf = (
  { total, total_tax }: { total: string | number; total_tax: string | number },
  { pricesIncludeTax }: Pick<Settings, 'pricesIncludeTax'>,
): Amount => amountOf(total) + (pricesIncludeTax ? amountOf(total_tax) : 0n)

/**
 * The largest difference between the shop's total and the sum of its rows that rounding can cause: half of the currency's
 * smallest unit for the total and for each row and its tax, and half a rial for each converted row.
 */
const roundingOf = (
  { line_items, shipping_lines, fee_lines }: ShopOrder,
  factor: number,
  decimals: number,
) => {
  const rows = line_items.length + shipping_lines.length + fee_lines.length
  const unit = Math.ceil(factor / 10 ** decimals)
  return BigInt((rows + 1) * (unit + 1))
}

const isSafe = (value: bigint) => value <= BigInt(Number.MAX_SAFE_INTEGER)

/**
 * A row of an invoice: the price before coupons, and the coupons as its discount. Prices are whole rials, so three items
 * for 100 become a price of 34 and a discount of 2.
 */
const itemOf = (line: Line, amount: bigint, before: bigint) => {
  const quantity = amountOf(line.quantity)
  const unit_price = unitPrice(before > amount ? before : amount, quantity)
  const discount = timesQuantity(unit_price, quantity) - amount
  return {
    sku: line.sku,
    quantity: line.quantity,
    unit_price: Number(unit_price),
    ...(discount > 0n && { discount: Number(discount) }),
    ...(line.name !== '' && { name: line.name }),
  }
}

const problemsOf = ({ line_items }: ShopOrder): Attention[] => {
  if (line_items.length === 0) return [{ code: 'no_items', detail: '' }]
  return line_items.flatMap((line): Attention[] => {
    const detail = line.name || line.sku || `#${line.product_id}`
    if (line.quantity <= 0) return [{ code: 'bad_quantity', detail }]
    if (amountOf(line.total) < 0n) return [{ code: 'bad_amount', detail }]
    return line.sku === '' ? [{ code: 'no_sku', detail }] : []
  })
}

/**
 * The create request for a shop's order. The totals of items already include coupons. Shipping and fees become one
 * amount, and negative fees the discount of the order. If prices include tax, the invoice has the shop's total: the
 * largest row absorbs the rounding difference. Pure.
 */
export const mapOrder = (order: ShopOrder, settings: Settings): Mapped => {
  const factor = FACTORS[order.currency]
  const isPhoneOmitted = order.billing.phone !== '' && mobileOf(order.billing.phone) === undefined
  if (factor === undefined)
    return { problems: [{ code: 'currency', detail: order.currency }], total: 0n, isPhoneOmitted }
  const total = rialsOf(amountOf(order.total), factor)
  const problems = problemsOf(order)
  if (problems.length > 0) return { problems, total, isPhoneOmitted }

  const rials = (amount: Amount) => rialsOf(amount, factor)
  const fees = order.fee_lines.map(fee => chargeOf(fee, settings))
  const shippings = order.shipping_lines.map(line => chargeOf(line, settings))
  const shipping = rials(sum([...shippings, ...fees.filter(fee => fee > 0n)]))
  const discount = rials(-sum(fees.filter(fee => fee < 0n)))
  const amounts = order.line_items.map(line => rials(chargeOf(line, settings)))
  const refused = (code: CaseCode, detail = ''): Mapped => ({
    problems: [{ code, detail }],
    total,
    isPhoneOmitted,
  })

  if (settings.pricesIncludeTax) {
    const difference = total - (sum(amounts) + shipping - discount)
    const largest = amounts.reduce((best, each, index) => (each > (amounts[best] ?? 0n) ? index : best), 0)
    const corrected = (amounts[largest] ?? 0n) + difference
    const rounding = roundingOf(order, factor, settings.decimals)
    if (difference > rounding || difference < -rounding || corrected < 0n)
      return refused('rows_and_total', String(difference))
    amounts[largest] = corrected
  }
  if (discount > sum(amounts)) return refused('discount_too_large')
  const items = order.line_items.map((line, index) => {
    const { subtotal, subtotal_tax } = line
    const before = rials(chargeOf({ total: subtotal, total_tax: subtotal_tax }, settings))
    return itemOf(line, amounts[index] ?? 0n, before)
  })
  if (![total, shipping, discount, ...items.map(({ unit_price }) => BigInt(unit_price))].every(isSafe))
    return refused('too_large')

  const mobile = mobileOf(order.billing.phone)
  const name = `${order.billing.first_name} ${order.billing.last_name}`.trim()
  const { email } = order.billing
  const request: OrderRequest = {
    external_id: String(order.id),
    date: dayIn(settings.timeZone, order.date_created_gmt),
    customer: { ...(mobile !== undefined && { mobile }), ...(name && { name }), ...(email && { email }) },
    items,
    ...(shipping > 0n && { shipping: Number(shipping) }),
    ...(discount > 0n && { discount: Number(discount) }),
    ...(isPaid(order) && { payment: paymentOf(order, settings) }),
  }
  const invoiceTotal = totalOf({ amounts, shipping, discount }, settings)
  const difference = invoiceTotal - total
  return {
    request,
    problems: difference === 0n ? [] : [{ code: 'tax_rounding', detail: String(difference) }],
    total,
    invoiceTotal,
    isPhoneOmitted,
  }
}

/** The payment of an order that {@link isPaid}. */
export const paymentOf = (order: ShopOrder, { payments, timeZone }: Settings) => ({
  method: payments[order.payment_method] ?? methodOf(order.payment_method),
  ...(order.transaction_id !== '' && { reference: order.transaction_id }),
  ...(order.date_paid_gmt && { date: dayIn(timeZone, order.date_paid_gmt) }),
})
