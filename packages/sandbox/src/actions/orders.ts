import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Status } from '@order-relay/lib/protocol/status.ts'
import { shown } from '../decimal.ts'
import { sum } from '../pricing.ts'
import { quoted, Refusal, valid } from '../refusal.ts'
import { type OrderRequest, orderKey, orderRequest, type Payment } from '../requests.ts'
import type { Paid } from '../store/documents.ts'
import type { Store } from '../store/open.ts'
import type { ListedOrder, Order } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import { finalize, inWords, payInvoice, paymentOf, returnInvoice } from './documents.ts'
import { customerFor, invoiceOf } from './invoice.ts'

export const LABELS: Record<Status, string> = {
  needs_review: 'نیازمند بررسی',
  invoiced: 'فاکتور شده',
  paid: 'پرداخت شده',
  refunded: 'مرجوع شده',
}

/** The order result, without `duplicate` (spec: Order result). Drafts have an invoice number too. */
export const resultOf = (order: Order) => ({
  source: order.source,
  external_id: order.external_id,
  status: order.status,
  status_display: LABELS[order.status],
  total: order.total,
  invoice_number: order.invoice_number,
  invoice_status: order.status === 'needs_review' ? 'draft' : 'posted',
  receipt_number: order.receipt_number,
  return_number: order.return_number,
  error: order.error,
})

export type Result = ReturnType<typeof resultOf>

/** @throws Refusal when the order is not registered */
export const findOrder = (key: OrderKey, store: Store): ListedOrder => {
  const order = store.orders.find(key)
  if (order !== undefined) return order
  const name = `${quoted(key.external_id)} of source ${quoted(key.source)}`
  throw new Refusal('not_found', `Order ${name} is not registered`, 'external_id')
}

/** The order result (spec: GET orders). */
export const readOrder = (key: OrderKey, store: Store): Result => resultOf(findOrder(key, store))

/** A payment date that the store gives must be in a fiscal year (spec: business rule 8); a default is not refused. */
const requireDate = (field: string, payment: Payment | null | undefined, store: Store) => {
  if (payment?.date != null) requireFiscalYear(`Field "${field}" is`, payment.date, store, field)
}

/** Stores the draft and its rows. */
const draft = (request: OrderRequest, store: Store) => {
  const { source, external_id } = request
  const { taxRate, pricesIncludeTax } = store.settings.read()
  const date = request.date ?? store.clock.today()
  requireFiscalYear('Field "date" is', date, store, 'date')
  const { rows, sums } = invoiceOf(request, { taxRate, pricesIncludeTax }, store)
  const invoice_number = store.orders.insert({
    source,
    external_id,
    status: 'needs_review',
    error: 'Not finalized yet',
    date,
    customer_code: customerFor(request.customer, store),
    tax_rate: shown(taxRate),
    prices_include_tax: pricesIncludeTax ? 1 : 0,
    ...sums,
  })
  store.invoiceRows.replace(invoice_number, rows)
  return findOrder({ source, external_id }, store)
}

/**
 * Registers an order that is not registered yet. Runs in the caller's transaction.
 *
 * @param body the parsed JSON body, not yet validated
 * @throws Refusal when the order is rejected
 */
export const registerOrder = (body: unknown, store: Store): Result => {
  const request = valid(orderRequest, body)
  const { source, external_id, payment } = request
  const invoice = draft(request, store)
  const { invoice_number } = invoice
  const message = `Order received${payment ? ' with its payment' : ''}, invoice ${invoice_number} drafted`
  store.history.add(invoice_number, 'created', message)
  requireDate('payment.date', payment, store)
  const paid = payment ? [paymentOf(payment, invoice)] : []
  if (!finalize(invoice, paid, store)) for (const each of paid) store.heldPayments.insert(invoice, each)
  const result = readOrder({ source, external_id }, store)
  store.orders.index(invoice_number)
  store.orders.setOriginal(invoice_number, JSON.stringify(result))
  store.refusals.resolve(invoice)
  store.changes.note({ kind: 'order', source, external_id })
  return result
}

/** An order of 500 rows has about 60 KB. */
const LONGEST_BODY = 64 * 1024

/** Keeps a refused order for the accountant, who may be able to remove the cause. */
const noteRefusal = (
  { source, external_id }: OrderKey,
  given: unknown,
  refusal: Refusal,
  store: Store,
): void =>
  store.transact(() => {
    const key = { source, external_id }
    const { code, message, field = null } = refusal
    const body = JSON.stringify(given)
    store.refusals.add(key, { code, message, field, body: body.length > LONGEST_BODY ? null : body })
    store.changes.note({ kind: 'refusal', ...key })
  })

/** The response to a repeated create: the current state of the order or, by the settings, the original result. */
const duplicateOf = (order: Order, store: Store): Result =>
  store.settings.read().duplicatesReturnOriginal ? JSON.parse(order.original) : resultOf(order)

/**
 * Turns a store order into an invoice, and a receipt if it is paid (spec: POST orders). For an order that is
 * already registered, ignores the rest of the body, even if it is invalid.
 *
 * @param body the parsed JSON body, not yet validated
 * @throws Refusal when the order is rejected; nothing is registered, and the accountant sees the refusal
 */
export const createOrder = (body: unknown, store: Store): Result & { duplicate: boolean } => {
  const key = valid(orderKey, body)
  try {
    return store.transact(() => {
      const registered = store.orders.find(key)
      if (registered !== undefined) return { ...duplicateOf(registered, store), duplicate: true }
      return { ...registerOrder(body, store), duplicate: false }
    })
  } catch (error) {
    if (error instanceof Refusal) noteRefusal(key, body, error, store)
    throw error
  }
}

/**
 * Carries out a store's request in the statuses that allow it; in any other, the request has no effect.
 *
 * @param draft what happens to the request while the invoice is not finalized
 * @throws Refusal if the invoice is not finalized
 */
const register = (
  key: OrderKey,
  actions: Partial<Record<Status, (order: Order) => void>>,
  draft: string,
  store: Store,
): Result => {
  const order = store.transact(() => {
    const found = findOrder(key, store)
    const act = actions[found.status]
    if (act === undefined) return found
    act(found)
    store.orders.index(found.invoice_number)
    store.changes.note({ kind: 'order', ...key })
    return found
  })
  if (order.status !== 'needs_review') return readOrder(key, store)
  throw new Refusal('not_finalized', `The invoice is not finalized (${order.error}): ${draft}`)
}

/**
 * Whether a store sends a payment again, for example because it received no response. Without a date, its default may have
 * changed.
 */
const isSamePayment = (given: Payment, payment: Paid, known: Paid) =>
  payment.method === known.method &&
  payment.reference === known.reference &&
  (given.date == null || payment.date === known.date)

/** A payment of a store, in the history of an order. */
const shownPayment = ({ method, reference, date }: Paid) =>
  `${inWords(method)}, ${date}${reference && `, reference ${reference}`}`

/**
 * Holds a payment of the whole invoice, unless it is held already, or the held payments cover the invoice. Further payments are
 * only recorded, for the accountant to resolve.
 */
const hold = (order: Order, given: Payment, store: Store) => {
  const { invoice_number, total } = order
  const payment = paymentOf(given, order)
  const held = store.heldPayments.list(invoice_number)
  const note = (kind: 'payment_held' | 'payment_repeated', outcome: string) =>
    store.history.add(invoice_number, kind, `Payment (${shownPayment(payment)}) ${outcome}`)
  if (held.some(each => each.whole === 1 && isSamePayment(given, payment, each)))
    return note('payment_repeated', 'received again: it is already held')
  const isCovered = held.length > 0 && BigInt(sum(held.map(({ amount }) => amount ?? total))) >= BigInt(total)
  if (isCovered) return note('payment_repeated', 'not held: another payment already is')
  store.heldPayments.insert(order, payment)
  return note('payment_held', 'held until the invoice is finalized')
}

/**
 * Registers a payment of the whole invoice, unless it already has a receipt: the order is still invoiced if the payment was held and
 * the accountant has chosen its amount.
 */
const pay = (order: Order, given: Payment, store: Store) => {
  const { invoice_number } = order
  const payment = paymentOf(given, order)
  const isRegistered = store.receipts
    .ofStore(invoice_number)
    .some(each => isSamePayment(given, payment, each))
  if (!isRegistered) return payInvoice(order, payment, store)
  const message = `Payment (${shownPayment(payment)}) received again: it already has a receipt`
  return store.history.add(invoice_number, 'payment_repeated', message)
}

/**
 * Registers a payment of the whole invoice, regardless of the accountant's receipts (spec: POST payment). Repeating it, or any
 * payment of a paid or refunded order, has no effect.
 *
 * @throws Refusal when the invoice is not finalized; the first payment is held and registered when it is. Otherwise only
 * for what the store can correct, its date, because a store may take 400 to mean that the payment is held
 */
export const registerPayment = (key: OrderKey, payment: Payment, store: Store): Result => {
  const actions = {
    invoiced: (order: Order) => {
      requireDate('date', payment, store)
      pay(order, payment, store)
    },
    needs_review: (order: Order) => hold(order, payment, store),
  }
  return register(key, actions, 'a payment is held and will be registered with it', store)
}

/**
 * Registers a return of all remaining goods and puts them back in stock (spec: POST refund). Repeating it has no effect.
 *
 * @throws Refusal when the invoice is not finalized
 */
export const registerRefund = (key: OrderKey, reason: string | null, store: Store): Result => {
  const returned = (order: Order) => returnInvoice(order, { reason, date: store.clock.today() }, store)
  const refused = ({ invoice_number }: Order) =>
    store.history.add(invoice_number, 'refused', 'Return refused: the invoice is not finalized')
  const actions = { invoiced: returned, paid: returned, needs_review: refused }
  return register(key, actions, 'it cannot be returned', store)
}
