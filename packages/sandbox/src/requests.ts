import { decimalOf } from '@order-relay/lib/protocol/json.ts'
import { DEFAULT_SOURCE, externalId, text } from '@order-relay/lib/protocol/order.ts'
import { date, number, object, PAYMENT_METHODS, quantity } from '@order-relay/lib/protocol/requests.ts'
import * as v from 'valibot'
import { normalizeMobile } from './mobile.ts'

/**
 * The requests that this service accepts. Where the spec leaves a rule open (negative amounts, a payment without
 * `method`, other forms of a mobile number, an empty source), the rules here are the service's own.
 */

/** Text that must not be empty, such as a code or a source. */
export const nonEmptyText = v.pipe(text, v.nonEmpty('must not be empty'))

const SEARCH_MAX = 500

/** Words to search for. Each is a condition of a query, and SQLite combines at most a thousand. */
export const searchText = v.pipe(
  text,
  v.check(q => [...q].length <= SEARCH_MAX, `must have at most ${SEARCH_MAX} characters`),
  v.metadata({ maxLength: SEARCH_MAX }),
)

/** Rials. Refunds and discounts have their own fields, so a negative amount is an error. */
export const amount = v.pipe(
  number,
  v.check(value => decimalOf(value)?.negative !== true, 'must not be negative'),
  v.metadata({ minimum: 0 }),
)

export const paymentEntries = {
  method: v.picklist(PAYMENT_METHODS, `must be one of ${PAYMENT_METHODS.join(', ')}`),
  reference: v.nullish(text),
  date: v.nullish(date),
}

/** A payment (spec: payment). */
export const payment = object(paymentEntries)

/** One row of an order (spec: item). */
export const item = object({
  sku: nonEmptyText,
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
        mobile => mobile === '' || normalizeMobile(mobile) !== undefined,
        'must be a mobile number such as 09123456789',
      ),
      v.metadata({ pattern: '^(\\s*(\\+[9۹٩][8۸٨]|[0۰٠])?[9۹٩][0-9۰-۹٠-٩]{9}\\s*)?$' }),
    ),
  ),
  name: v.nullish(text),
  email: v.nullish(text),
})

/** The fields of a create request that identify its order. */
const keyEntries = {
  external_id: externalId,
  source: v.nullish(nonEmptyText, DEFAULT_SOURCE),
}

const BODY = 'must be a JSON object'

export const orderKey = object(keyEntries, BODY)

export const orderEntries = {
  ...keyEntries,
  date: v.nullish(date),
  customer: v.nullish(customer),
  items: v.pipe(v.array(item, 'must be an array'), v.minLength(1, 'must have at least one item')),
  shipping: v.nullish(amount),
  discount: v.nullish(amount),
  payment: v.nullish(payment),
}

/** The body of create order (spec: Order request). */
export const orderRequest = object(orderEntries, BODY)

/** Register payment with the fields nested in `payment`. */
export const nestedPayment = object({ source: v.nullish(nonEmptyText), payment })
/** Register payment with the fields at the top level. */
export const directPayment = object({ source: v.nullish(nonEmptyText), ...paymentEntries }, BODY)

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
export const refundRequest = object({ source: v.nullish(nonEmptyText), reason: v.nullish(text) }, BODY)

const isWeb = (url: string) => /^https?:\/\//i.test(url)

const hasCredentials = (url: string) => {
  const parsed = URL.parse(url)
  return parsed !== null && parsed.username + parsed.password !== ''
}

const webhookUrl = v.pipe(
  text,
  v.url('must be a URL'),
  v.check(isWeb, 'must be an http or https URL'),
  v.check(url => !hasCredentials(url), 'must not contain a user name or password'),
  v.metadata({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+([/?#]|$)' }),
)

/** The body of webhook registration (spec: Webhook registration). */
export const webhookRequest = object({ url: webhookUrl }, BODY)

/** Webhook removal (spec: Webhook registration). Any text will do: what was never registered needs no removal. */
export const webhookRemoval = object({ url: text }, BODY)

/** The body of webhook removal, whose URL may be in the query instead. */
export const webhookRemovalBody = object({ url: v.nullish(text) }, BODY)

export type Payment = v.InferOutput<typeof payment>
export type OrderRequest = v.InferOutput<typeof orderRequest>
