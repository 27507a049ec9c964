import * as v from 'valibot'
import { decimalOf, ExactNumber, type JsonNumber } from './json.ts'
import { externalId, hasPayment, OBJECT, text } from './order.ts'

// Only the rules of the spec; the service decides what the spec leaves open.

/** valibot accepts an array as an object; JSON distinguishes them. */
export const object = <const Entries extends v.ObjectEntries>(entries: Entries, message = OBJECT) =>
  v.pipe(
    v.unknown(),
    v.check(body => !Array.isArray(body), message),
    v.looseObject(entries, message),
  )

/** No invoice needs more digits. */
const MAX_DIGITS = 40

/** Includes every double, from 5e-324 to 1.8e308; exact arithmetic on 1e999999999 would not terminate. */
const MAX_EXPONENT = 350

export const number = v.pipe(
  v.union([v.number(), v.instance(ExactNumber)], 'must be a number'),
  v.check((value: JsonNumber) => {
    const decimal = decimalOf(value)
    return (
      decimal !== undefined &&
      decimal.digits.length <= MAX_DIGITS &&
      Math.abs(decimal.exponent) <= MAX_EXPONENT
    )
  }, `must have at most ${MAX_DIGITS} digits and an exponent of at most ${MAX_EXPONENT}`),
)

const isNegative = (value: JsonNumber) => decimalOf(value)?.negative === true
const isZero = (value: JsonNumber) => decimalOf(value)?.digits === '0'

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
  method: v.nullish(v.picklist(PAYMENT_METHODS, `must be one of ${PAYMENT_METHODS.join(', ')}`)),
  reference: v.nullish(text),
  date: v.nullish(date),
}

/** A payment (spec: payment). */
const payment = object(paymentEntries)

/** One row of an order (spec: item). */
export const item = object({
  sku: text,
  quantity,
  unit_price: number,
  discount: v.nullish(number),
  name: v.nullish(text),
})

/** The buyer (spec: customer). */
export const customer = object({ mobile: v.nullish(text), name: v.nullish(text), email: v.nullish(text) })

const keyEntries = { external_id: externalId, source: v.nullish(text) }

const BODY = 'must be a JSON object'

/** The fields that identify the order of a create request. */
export const orderIdentity = object(keyEntries, BODY)

/** The body of create order (spec: Order request). */
export const orderRequest = object(
  {
    ...keyEntries,
    date: v.nullish(date),
    customer: v.nullish(customer),
    items: v.pipe(v.array(item, 'must be an array'), v.minLength(1, 'must have at least one item')),
    shipping: v.nullish(number),
    discount: v.nullish(number),
    payment: v.nullish(payment),
  },
  BODY,
)

/** A payment with its fields at the top level of the body, or nested in `payment` (spec: Endpoints, payment). */
export const directPayment = object({ source: v.nullish(text), ...paymentEntries }, BODY)
export const nestedPayment = object({ source: v.nullish(text), payment })

/** The body of register payment. */
export const paymentRequest = v.lazy(body => (hasPayment(body) ? nestedPayment : directPayment))

/** The body of register full return (spec: Endpoints, refund). */
export const refundRequest = object({ source: v.nullish(text), reason: v.nullish(text) }, BODY)
