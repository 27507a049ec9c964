import * as v from 'valibot'
import { decimalOf, ExactNumber, type JsonNumber } from './json.ts'
import { normaliseMobile } from './mobile.ts'
import { DEFAULT_SOURCE, externalId, source } from './order.ts'

/** No invoice needs more, and arithmetic on 1e999999999 would never end. */
const MAX_DIGITS = 40

const number = v.pipe(
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

/** Rials; refunds and discounts have fields of their own, so a negative amount is a mistake. */
export const amount = v.pipe(
  number,
  v.check(value => !isNegative(value), 'must not be negative'),
)

export const quantity = v.pipe(
  number,
  v.check(value => !isNegative(value) && !isZero(value), 'must be greater than zero'),
)

const isCalendarDate = (text: string) => {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

export const date = v.pipe(
  v.string('must be a string'),
  v.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date, YYYY-MM-DD (Gregorian)'),
  v.check(isCalendarDate, 'must be a day of the calendar'),
)

const text = v.string('must be a string')

export const PAYMENT_METHODS = ['online', 'transfer', 'card', 'pos', 'cash'] as const

/** A payment (spec: payment). */
export const payment = v.looseObject(
  {
    method: v.picklist(PAYMENT_METHODS, `must be one of ${PAYMENT_METHODS.join(', ')}`),
    reference: v.nullish(text),
    date: v.nullish(date),
  },
  'must be an object',
)

/** One line of an order (spec: item). */
export const item = v.looseObject(
  {
    sku: v.pipe(text, v.nonEmpty('must not be empty')),
    quantity,
    unit_price: amount,
    discount: v.nullish(amount),
    name: v.nullish(text),
  },
  'must be an object',
)

/** Who buys (spec: customer). An empty mobile number counts as none. */
export const customer = v.looseObject(
  {
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
  },
  'must be an object',
)

const orderSource = v.nullish(source, DEFAULT_SOURCE)

/** The body of create order (spec: Order request). */
export const orderRequest = v.looseObject(
  {
    external_id: externalId,
    source: orderSource,
    date: v.nullish(date),
    customer: v.nullish(customer),
    items: v.pipe(v.array(item, 'must be an array'), v.minLength(1, 'must have at least one item')),
    shipping: v.nullish(amount),
    discount: v.nullish(amount),
    payment: v.nullish(payment),
  },
  'must be a JSON object',
)

const nestedPayment = v.looseObject({ source: v.nullish(source), payment })
const directPayment = v.looseObject(
  { source: v.nullish(source), ...payment.entries },
  'must be a JSON object',
)

/** The body of register payment, its fields direct or inside `payment` (spec: Endpoints, payment). */
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
export const refundRequest = v.looseObject(
  { source: v.nullish(source), reason: v.nullish(text) },
  'must be a JSON object',
)

/** The body of webhook registration and removal (spec: Webhook registration). */
export const webhookRequest = v.looseObject(
  { url: v.pipe(text, v.url('must be a URL'), v.regex(/^https?:\/\//i, 'must be an http or https URL')) },
  'must be a JSON object',
)

export type Payment = v.InferOutput<typeof payment>
export type OrderRequest = v.InferOutput<typeof orderRequest>
export type RefundRequest = v.InferOutput<typeof refundRequest>
