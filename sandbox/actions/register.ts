import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'
import { rials } from '../pricing.ts'
import { Refusal } from '../refusal.ts'
import type { Payment } from '../requests.ts'
import type { Account } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { HeldPayment, Order, Receipt } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import { findOrder, type Result, readOrder } from './read-order.ts'
import { restockGoods } from './stock.ts'

/**
 * A payment with its defaults (spec: payment; the date defaults to the order date).
 *
 * @param field the name of the date in the request
 * @throws Refusal when no fiscal year covers its date
 */
export const paymentOf = (
  { method, reference, date: given }: Payment,
  orderDate: string,
  store: Store,
  field = 'date',
): HeldPayment => {
  const date = given ?? orderDate
  requireFiscalYear(`Field "${field}" is`, date, store, field)
  return { method, reference: reference ?? '', date }
}

/** The type of the receipt (spec: business rule 6). */
const receiptType = (kind: Account['kind'], method: Payment['method']): Receipt['type'] => {
  if (kind === 'cash') return 'cash'
  return method === 'card' || method === 'pos' ? 'pos' : 'transfer'
}

/**
 * Registers a receipt for the full amount of a finalized invoice. Runs in the caller's transaction.
 *
 * @throws Refusal when no receiving account is selected
 */
export const payInvoice = (
  { invoice_number, total: amount }: Order,
  { method, reference, date }: HeldPayment,
  store: Store,
): void => {
  const code = store.settings.read().orderPaymentReceivingAccount
  const account = code === null ? undefined : store.accounts.find(code)
  if (account === undefined) {
    throw new Refusal(
      'no_receiving_account',
      'Cannot register the payment: no receiving account is selected for order payments in the settings',
    )
  }
  const type = receiptType(account.kind, method)
  const receipt = { invoice_number, method, reference, date, type, amount, account_code: account.code }
  const number = store.receipts.insert(receipt)
  store.orders.setStatus(invoice_number, 'paid', null)
  const message = `Receipt ${number} (${type}) of ${rials(amount)} rials into ${account.name}`
  store.history.add(invoice_number, 'paid', message)
}

/**
 * Does what a store requests of an order in its status; in any other, the request has no effect.
 *
 * @param draft what becomes of the request while the invoice is not finalized
 * @throws Refusal when the invoice is not finalized
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

/** Holds the first payment; another one is only recorded, for the accountant to clear up. */
const hold = ({ invoice_number }: Order, payment: HeldPayment, store: Store) => {
  const { method, reference, date } = payment
  const isFirst = store.heldPayments.find(invoice_number) === undefined
  if (isFirst) store.heldPayments.put(invoice_number, payment)
  const label = `${method}, ${date}${reference && `, reference ${reference}`}`
  const outcome = isFirst ? 'held until the invoice is finalized' : 'not held: another payment already is'
  store.history.add(invoice_number, 'held', `Payment (${label}) ${outcome}`)
}

/**
 * Registers a payment of the whole invoice (spec: POST payment). Repeating it for a paid or refunded
 * order has no effect.
 *
 * @throws Refusal when the invoice is not finalized; the first payment is held and registered when it is
 */
export const registerPayment = (key: OrderKey, payment: Payment, store: Store): Result => {
  const by = (act: typeof hold) => (order: Order) => act(order, paymentOf(payment, order.date, store), store)
  const actions = { invoiced: by(payInvoice), needs_review: by(hold) }
  return register(key, actions, 'a payment is held and will be registered with it', store)
}

/** Registers a return of a finalized invoice. Runs in the caller's transaction. */
export const returnInvoice = ({ invoice_number }: Order, reason: string | null, store: Store) => {
  const number = store.returns.insert({ invoice_number, date: store.clock.today(), reason })
  restockGoods({ invoice_number }, store)
  store.orders.setStatus(invoice_number, 'refunded', null)
  const message = `Sales return ${number}${reason ? ` (${reason})` : ''}, goods back in stock`
  store.history.add(invoice_number, 'refunded', message)
}

/**
 * Registers a full return and puts the goods back in stock (spec: POST refund). Repeating it has no effect.
 *
 * @throws Refusal when the invoice is not finalized
 */
export const registerRefund = (key: OrderKey, reason: string | null, store: Store): Result => {
  const returned = (order: Order) => returnInvoice(order, reason, store)
  const refused = ({ invoice_number }: Order) =>
    store.history.add(invoice_number, 'refused', 'Return refused: the invoice is not finalized')
  const actions = { invoiced: returned, paid: returned, needs_review: refused }
  return register(key, actions, 'it cannot be returned', store)
}
