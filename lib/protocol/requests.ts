import * as v from 'valibot'
import { decimalOf, ExactNumber, type JsonNumber } from './json.ts'
import { normaliseMobile } from './mobile.ts'
import { DEFAULT_SOURCE, externalId, source, text } from './order.ts'

/** valibot accepts an array as an object; JSON distinguishes them. */
export const object = <const Entries extends v.ObjectEntries>(
  entries: Entries,
  message = 'must be an object',
) =>
  v.pipe(
    v.unknown(),
    v.check(body => !Array.isArray(body), message),
    v.looseObject(entries, message),
  )

/** No invoice needs more digits, and exact arithmetic on 1e999999999 would not terminate. */
const MAX_DIGITS = 40

export const number = v.pipe(
  v.union([v.number(), v.instance(ExactNumber)], 'must be a number'),
  v.check((value: JsonNumber) => {
    const decimal = decimalOf(value)
    return (
      decimal !== undefined && decimal.digits.length <= MAX_DIGITS && Math.abs(decimal.exponent) <= MAX_DIGITS
    )
  }, `must have at most ${MAX_DIGITS} digits`),
)

const isNegative = (value: JsonNumber) => decimalOf(value)?.negative === true
const isZero = (value: JsonNumber) => decimalOf(value)?.digits === '0'

/** Rials. Refunds and discounts have their own fields, so a negative amount is an error. */
export const amount = v.pipe(
  number,
  v.check(value => !isNegative(value), 'must not be negative'),
  v.metadata({ minimum: 0 }),
)

export const quantity = v.pipe(
  number,
  v.check(value => !isNegative(value) && !isZero(value), 'must be greater than zero'),
  v.metadata({ exclusiveMinimum: 0 }),
)

const isCalendarDate = (text: string) => {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

export const date = v.pipe(
  v.string('must be a string'),
  v.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date, YYYY-MM-DD (Gregorian)'),
  v.check(isCalendarDate, 'must be a day of the calendar'),
  v.metadata({ format: 'date' }),
)

export const PAYMENT_METHODS = ['online', 'transfer', 'card', 'pos', 'cash'] as const

const paymentEntries = {
  method: v.picklist(PAYMENT_METHODS, `must be one of ${PAYMENT_METHODS.join(', ')}`),
  reference: v.nullish(text),
  date: v.nullish(date),
}

/** A payment (spec: payment). */
const payment = object(paymentEntries)

/** One line of an order (spec: item). */
export const item = object({
  sku: v.pipe(text, v.nonEmpty('must not be empty')),
  quantity,
  unit_price: amount,
  discount: v.nullish(amount),
  name: v.nullish(text),
})

/** The buyer (spec: customer). An empty mobile number counts as missing. */
export const customer = object({
  mobile: v.nullish(
    v.pipe(
      text,
      v.check(
        mobile => mobile === '' || normaliseMobile(mobile) !== undefined,
        'must be a mobile number such as 09123456789',
      ),
    ),
  ),
  name: v.nullish(text),
  email: v.nullish(text),
})

/** The fields of a create request that identify its order. */
const keyEntries = {
  external_id: externalId,
  source: v.nullish(source, DEFAULT_SOURCE),
}

const BODY = 'must be a JSON object'

/** The body of create order (spec: Order request). */
export const orderRequest = object(
  {
    ...keyEntries,
    date: v.nullish(date),
    customer: v.nullish(customer),
    items: v.pipe(v.array(item, 'must be an array'), v.minLength(1, 'must have at least one item')),
    shipping: v.nullish(amount),
    discount: v.nullish(amount),
    payment: v.nullish(payment),
  },
  BODY,
)

/** Register payment with the fields nested in `payment`. */
const nestedPayment = object({ source: v.nullish(source), payment })
/** Register payment with the fields at the top level. */
const directPayment = object({ source: v.nullish(source), ...paymentEntries }, BODY)

/** The body of register payment, with its fields at the top level or nested in `payment` (spec: Endpoints, payment). */
export const paymentRequest = v.pipe(
  v.lazy((body: unknown) =>
    typeof body === 'object' && body !== null && 'payment' in body && body.payment !== null
      ? nestedPayment
      : directPayment,
  ),
  v.transform(body => ({
    source: body.source,
    payment: 'payment' in body && body.payment != null ? (body.payment as Payment) : (body as Payment),
  })),
)

/** The body of register full return (spec: Endpoints, refund). */
export const refundRequest = object({ source: v.nullish(source), reason: v.nullish(text) }, BODY)

export type Payment = v.InferOutput<typeof payment>
export type OrderRequest = v.InferOutput<typeof orderRequest>
export type RefundRequest = v.InferOutput<typeof refundRequest>
