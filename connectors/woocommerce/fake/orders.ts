/** An order of the fake shop, as wc/v3 shows it. */
export type FakeOrder = {
  id: number
  number: string
  status: string
  currency: string
  date_created_gmt: string
  date_modified_gmt: string
  date_paid_gmt: string | null
  total: string
  total_tax: string
  prices_include_tax: boolean
  billing: { first_name: string; last_name: string; phone: string; email: string }
  payment_method: string
  payment_method_title: string
  transaction_id: string
  line_items: FakeLine[]
  shipping_lines: FakeCharge[]
  fee_lines: FakeCharge[]
  refunds: { id: number; reason: string; total: string }[]
  meta_data: { id: number; key: string; value: unknown }[]
}

type FakeCharge = { id: number; name: string; total: string; total_tax: string }

type FakeLine = FakeCharge & {
  product_id: number
  variation_id: number
  sku: string | null
  quantity: number
  subtotal: string
  subtotal_tax: string
}

/** A new order of a customer or program; amounts are decimals in the shop's currency. */
export type NewOrder = {
  status?: string
  currency?: string
  phone?: string
  payment_method?: string
  transaction_id?: string
  /** @default whether orders with this status are paid */
  set_paid?: boolean
  items?: readonly {
    sku: string | null
    name?: string
    quantity?: number
    product_id?: number
    variation_id?: number
    /** Before coupons; the total by default. */
    subtotal?: string
    subtotal_tax?: string
    total: string
    total_tax?: string
  }[]
  shipping?: { total: string; total_tax?: string }
  fees?: readonly { name: string; total: string; total_tax?: string }[]
  /** Otherwise the sum of the rows. */
  total?: string
}

export const gmt = (time: Date): string => time.toISOString().slice(0, 19)

/** Totals of refunds can be `-`. */
const cents = (text: string) => Math.round((Number(text) || 0) * 1e6)

const decimals = (amount: number) => (amount / 1e6).toFixed(6).replace(/\.?0+$/, '')

/** The sum of a shop's amounts. */
export const sumOf = (amounts: readonly string[]): string =>
  decimals(amounts.reduce((sum, each) => sum + cents(each), 0))

const PAID_STATUSES = ['processing', 'completed']

/** An order as the shop stores it. */
export const newOrder = (id: number, now: Date, given: NewOrder): FakeOrder => {
  const { status = 'processing', items = [{ sku: 'SKU-1', total: '1500000' }] } = given
  const line_items = items.map((item, index): FakeLine => {
    const { total, total_tax = '0' } = item
    return {
      id: id * 100 + index,
      name: item.name ?? `Product ${item.sku}`,
      product_id: item.product_id ?? 1,
      variation_id: item.variation_id ?? 0,
      sku: item.sku,
      quantity: item.quantity ?? 1,
      total,
      total_tax,
      subtotal: item.subtotal ?? total,
      subtotal_tax: item.subtotal_tax ?? total_tax,
    }
  })
  const charge = (name: string, { total, total_tax = '0' }: { total: string; total_tax?: string }) => ({
    id: id * 100 + 99,
    name,
    total,
    total_tax,
  })
  const shipping_lines = given.shipping === undefined ? [] : [charge('Shipping', given.shipping)]
  const fee_lines = (given.fees ?? []).map(fee => charge(fee.name, fee))
  const rows = [...line_items, ...shipping_lines, ...fee_lines]
  const payment_method = given.payment_method ?? 'zarinpal'
  // Cash on delivery is paid when the order is completed, regardless of `set_paid`.
  const isPaid =
    payment_method === 'cod' ? status === 'completed' : (given.set_paid ?? PAID_STATUSES.includes(status))
  return {
    id,
    number: String(id),
    status,
    currency: given.currency ?? 'IRR',
    date_created_gmt: gmt(now),
    date_modified_gmt: gmt(now),
    date_paid_gmt: isPaid ? gmt(now) : null,
    total: given.total ?? sumOf(rows.flatMap(row => [row.total, row.total_tax])),
    total_tax: sumOf(rows.map(row => row.total_tax)),
    prices_include_tax: true,
    billing: { first_name: 'مریم', last_name: 'رضایی', phone: given.phone ?? '09121234567', email: '' },
    payment_method,
    payment_method_title: payment_method,
    transaction_id: given.transaction_id ?? '',
    line_items,
    shipping_lines,
    fee_lines,
    refunds: [],
    meta_data: [],
  }
}
