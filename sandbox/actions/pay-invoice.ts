import type { Clock } from '../clock.ts'
import { rials } from '../pricing.ts'
import { Refusal } from '../refusal.ts'
import type { Payment } from '../requests.ts'
import type { Account } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { HeldPayment, Order, Receipt } from '../store/orders.ts'

/** A payment with its defaults (spec: payment; the date defaults to the order date). */
export const paymentOf = ({ method, reference, date }: Payment, orderDate: string): HeldPayment => ({
  method,
  reference: reference ?? '',
  date: date ?? orderDate,
})

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
  order: Pick<Order, 'invoice_number' | 'total'>,
  payment: HeldPayment,
  store: Store,
  clock: Clock,
): void => {
  const code = store.settings.read().orderPaymentReceivingAccount
  const account = code === null ? undefined : store.accounts.find(code)
  if (account === undefined) {
    throw new Refusal(
      'no_receiving_account',
      'Cannot register the payment: no receiving account is selected for order payments in the settings',
    )
  }
  const { reference, date } = payment
  const type = receiptType(account.kind, payment.method)
  const receipt = { type, amount: order.total, reference, date, account_code: account.code }
  const number = store.receipts.insert(order.invoice_number, receipt)
  const at = clock().toISOString()
  store.orders.setStatus(order.invoice_number, 'paid', null, at)
  const message = `Receipt ${number} (${type}) of ${rials(order.total)} rials into ${account.name}`
  store.history.add(order.invoice_number, { at, kind: 'paid', message })
}
