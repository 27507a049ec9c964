import { shown } from '../decimal.ts'
import { valid } from '../refusal.ts'
import { type OrderRequest, orderKey, orderRequest } from '../requests.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import { finalize } from './finalize.ts'
import { customerFor, invoiceOf } from './invoice.ts'
import { findOrder, type Result, readOrder, resultOf } from './read-order.ts'
import { paymentOf } from './register.ts'

/** Stores the draft and its rows. */
const draft = (request: OrderRequest, store: Store) => {
  const { source, external_id } = request
  const { taxRate, pricesIncludeTax } = store.settings.read()
  const date = request.date ?? store.clock.today()
  requireFiscalYear('Field "date" is', date, store, 'date')
  const { rows, sums } = invoiceOf(request, { taxRate, pricesIncludeTax }, store)
  const invoice_number = store.orders.insert({
    ...{ source, external_id, status: 'needs_review', error: 'Not finalized yet', date },
    customer_code: customerFor(request.customer, store),
    tax_rate: shown(taxRate),
    prices_include_tax: pricesIncludeTax ? 1 : 0,
    ...sums,
  })
  store.invoiceRows.replace(invoice_number, rows)
  return findOrder({ source, external_id }, store)
}

const register = (request: OrderRequest, store: Store): Result => {
  const { source, external_id, payment } = request
  const invoice = draft(request, store)
  const { invoice_number, date } = invoice
  const message = `Order received${payment ? ' with its payment' : ''}, invoice ${invoice_number} drafted`
  store.history.add(invoice_number, 'created', message)
  const paid = payment ? paymentOf(payment, date, store, 'payment.date') : undefined
  const isFinal = finalize(invoice, paid, store)
  if (!isFinal && paid) store.heldPayments.put(invoice_number, paid)
  const result = readOrder({ source, external_id }, store)
  store.orders.index(invoice_number)
  store.orders.setOriginal(invoice_number, JSON.stringify(result))
  store.changes.note({ kind: 'order', source, external_id })
  return result
}

/** What a repeated create answers: the present state of the order, or by the settings the original result. */
const duplicateOf = (order: Order, store: Store): Result =>
  store.settings.read().duplicatesReturnOriginal ? JSON.parse(order.original) : resultOf(order)

/**
 * Turns a store order into an invoice, and a receipt if it is paid (spec: POST orders). For an order that is
 * already registered, ignores the rest of the body, even if it is invalid.
 *
 * @param body the parsed JSON body, not yet validated
 * @throws Refusal when the order is rejected; nothing is registered
 */
export const createOrder = (body: unknown, store: Store): Result & { duplicate: boolean } => {
  const key = valid(orderKey, body)
  return store.transact(() => {
    const registered = store.orders.find(key)
    if (registered !== undefined) return { ...duplicateOf(registered, store), duplicate: true }
    return { ...register(valid(orderRequest, body), store), duplicate: false }
  })
}
