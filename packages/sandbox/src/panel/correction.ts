import type { Values } from '@order-relay/web/form-values.ts'
import { decimal, exactNumber, serial } from '@order-relay/web/format.ts'
import { adjustableIn } from '../held.ts'
import type { SchemaData } from './api.ts'
import { changedIn } from './pieces.tsx'

type Order = SchemaData<'OrderDetail'>

/** An item of the order. The names of its fields contain its id, which stays the same when other items are removed. */
export type Line = { id: number } & Record<
  'sku' | 'name' | 'quantity' | 'unit_price' | 'discount',
  string | number
>

export const linesOf = ({ rows }: Order): readonly Line[] =>
  rows.flatMap(({ sku, ...row }, id) => (sku === null ? [] : [{ ...row, id, sku }]))

export const mobileOf = ({ customer }: Order) => serial(customer?.mobile ?? '')

export const shippingOf = ({ rows }: Order) => rows.find(({ kind }) => kind === 'shipping')?.unit_price ?? '0'

/** An amount in whole rials. An unchanged amount from the store keeps its fraction. */
const rialsIn = (values: Values, field: string, before: string | number) =>
  values.text(field) === decimal(before) ? values.number(field) : values.rials(field)

/** The order to correct, and the date of its held payment if that date is outside the open fiscal years. */
export type Corrected = { order: Order; heldAs: string | undefined }

/** The item that the fields of a line describe. */
const itemOf = (values: Values, { id, sku, name, unit_price, discount }: Line) => {
  const of = (field: string) => `items[${id}].${field}`
  const chosen = values.required(of('sku'))
  return {
    sku: chosen,
    // Another product gets its own name.
    ...(chosen === sku && name !== '' && { name }),
    quantity: values.number(of('quantity')),
    unit_price: rialsIn(values, of('unit_price'), unit_price),
    discount:
      values.text(of('discount')) === '' ? exactNumber('0') : rialsIn(values, of('discount'), discount),
  }
}

/** The items, if one was changed, added or removed. */
const itemsOf = (values: Values, lines: readonly Line[], order: Order) => {
  const items = lines.map(line => itemOf(values, line))
  const isChanged =
    lines.length !== linesOf(order).length ||
    items.some((item, index) => Object.keys(changedIn(item, lines[index] ?? {})).length > 0)
  return isChanged && { items }
}

/** The corrections of fields other than the items. */
const othersOf = (values: Values, { order, heldAs }: Corrected) => ({
  ...changedIn(
    { shipping: rialsIn(values, 'shipping', shippingOf(order)), discount: values.rials('discount') },
    { shipping: shippingOf(order), discount: order.totals.orderDiscount },
  ),
  ...(values.date('date') !== order.date && { date: values.date('date') }),
  ...(heldAs !== undefined &&
    values.date('paymentDate') !== heldAs && { paymentDate: values.date('paymentDate') }),
  ...(values.text('reason') !== '' && { reason: values.text('reason') }),
  // An unchanged empty mobile number is not sent: it would move the order to the current default customer.
  ...(values.text('mobile') !== mobileOf(order) && {
    customer: { mobile: values.text('mobile'), name: values.text('customer-name') },
  }),
})

/** The correction that the fields describe. @throws Refusal if one is missing or not a number */
export const correctionOf = (values: Values, lines: readonly Line[], about: Corrected) => {
  const { order } = about
  const items = itemsOf(values, lines, order)
  const held = adjustableIn(order.held_payments) && { heldPayment: values.text('heldPayment') }
  return {
    ...items,
    ...othersOf(values, about),
    ...held,
    // Items and held payment replace the stored ones: they must not undo what others have changed since the dialog was opened.
    ...((items || held) && { unchangedSince: order.updated_at }),
  }
}
