import * as v from 'valibot'

const decimal = v.union([v.string(), v.number()])
const charge = v.looseObject({ name: v.nullish(v.string()), total: decimal, total_tax: decimal })

/** An order of wc/v3 as the connector reads it. */
export const shopOrder = v.looseObject({
  id: v.number(),
  number: v.nullish(v.string()),
  status: v.string(),
  currency: v.string(),
  date_created_gmt: v.string(),
  date_paid_gmt: v.nullish(v.string()),
  total: decimal,
  billing: v.looseObject({
    first_name: v.nullish(v.string(), ''),
    last_name: v.nullish(v.string(), ''),
    phone: v.nullish(v.string(), ''),
    email: v.nullish(v.string(), ''),
  }),
  payment_method: v.nullish(v.string(), ''),
  transaction_id: v.nullish(v.string(), ''),
  line_items: v.array(
    v.looseObject({
      name: v.nullish(v.string(), ''),
      // Null if the product was deleted.
      sku: v.nullish(v.string(), ''),
      product_id: v.nullish(v.number(), 0),
      variation_id: v.nullish(v.number(), 0),
      quantity: v.number(),
      subtotal: decimal,
      subtotal_tax: decimal,
      total: decimal,
      total_tax: decimal,
    }),
  ),
  shipping_lines: v.array(charge),
  fee_lines: v.array(charge),
  meta_data: v.nullish(v.array(v.looseObject({ key: v.string(), value: v.unknown() })), []),
  refunds: v.nullish(v.array(v.looseObject({ id: v.number(), total: decimal })), []),
})

export type ShopOrder = v.InferOutput<typeof shopOrder>
export type Line = ShopOrder['line_items'][number]

/** The requested fields. Complete orders are fifty times as large, mostly because of metadata. */
export const ORDER_FIELDS = Object.keys(shopOrder.entries)

/**
 * Whether the customer has paid. The status alone does not show it: cash on delivery is `processing` without a payment date.
 * Nor does the date: it remains when the order is cancelled or its payment fails.
 */
export const isPaid = ({ date_paid_gmt, status }: ShopOrder): boolean =>
  Boolean(date_paid_gmt) && status !== 'cancelled' && status !== 'failed'

/**
 * The day of a `…_gmt` time in a time zone, as YYYY-MM-DD. The shop's local times change with its time zone setting.
 */
export const dayIn = (timeZone: string, gmt: string): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(
    new Date(`${gmt}Z`),
  )
