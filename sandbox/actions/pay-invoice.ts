import { rials } from '../pricing.ts'
import { Refusal } from '../refusal.ts'
import type { Payment } from '../requests.ts'
import type { Account } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { HeldPayment, Order, Receipt } from '../store/orders.ts'
import { requireFiscalYear } from './fiscal-year.ts'

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
