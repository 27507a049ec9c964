import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { decimal, isLess, shown } from '../decimal.ts'
import type { PanelPayment, Repayment, Retry, Return } from '../panel-requests.ts'
import { rials, sum, whole } from '../pricing.ts'
import { quoted, Refusal, refusedField } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireCash } from './accounts.ts'
import { changeSettings, requireFiscalYear, requireKnown } from './catalogue.ts'
import { cannot, changeOrder, HAS_REPAYMENT, NO_CREDIT, requireUnchanged } from './change.ts'
import { type Earliest, requirePast } from './dates.ts'
import {
  balanceOf,
  datedLine,
  finalize,
  goodsOf,
  payInvoice,
  paymentOf,
  referenceOf,
  returnInvoice,
  rowsOf,
  settle,
} from './documents.ts'
import { cancel } from './reverse.ts'
import { restockGoods, setStock } from './stock.ts'

/** Sets the stock that an order needs. */
const setStocks = ({ invoice_number }: Order, { stock }: Retry, store: Store) => {
  for (const [index, change] of (stock ?? []).entries()) {
    const product = store.products.find(change.sku)
    if (product === undefined) {
      throw refusedField(
        `stock[${index}].sku`,
        `is ${quoted(change.sku)}: no product has this code`,
        'unknown_sku',
      )
    }
    const stock = decimal(change.stock)
    setStock(product, stock, { kind: 'set', invoice_number }, store)
    const [before, after] = [product.stock, stock].map(shown)
    const message = `Stock of ${product.sku} set from ${before} to ${after} by the accountant`
    store.history.add(invoice_number, 'stocked', message)
  }
}

/**
 * Finalizes a draft again after the accountant fixed the cause (spec: States and transitions). While a cause
 * remains, the order stays in `needs_review`.
 */
export const retryOrder = (key: OrderKey, store: Store, fix: Retry = {}): void =>
  changeOrder('retry', key, store, order => {
    const { invoice_number } = order
    setStocks(order, fix, store)
    if (fix.settings !== undefined) changeSettings(fix.settings, store)
    store.history.add(invoice_number, 'retried', 'Retried by the accountant')
    const held = store.heldPayments.list(invoice_number)
    if (finalize(order, held, store)) store.heldPayments.remove(invoice_number)
  })

/**
 * The rials of a payment or repayment; by default, the maximum. Only the order API can overpay.
 *
 * @param rule names the maximum: `what is due`
 */
const amountOf = ({ amount }: Pick<PanelPayment, 'amount'>, most: bigint, rule: string): string => {
  if (amount == null) return String(most)
  const given = whole(amount)
  if (given > most) throw refusedField('amount', `is ${rials(given)}: ${rule}, ${rials(most)}`)
  return String(given)
}

/**
 * The account of a payment or repayment; by default, the one that receives the payments of orders.
 *
 * @throws Refusal when it does not exist, or none is given and none is selected
 */
const accountOf = ({ account }: Pick<PanelPayment, 'account'>, name: string, store: Store): string => {
  requireKnown('account', account, account && store.accounts.find(account))
  const code = account || store.settings.read().orderPaymentReceivingAccount
  if (code !== null) return code
  throw new Refusal(
    'no_receiving_account',
    `Cannot register the ${name}: no receiving account is selected for order payments in the settings`,
  )
}

/**
 * The date of a document that the accountant registers.
 *
 * @param preset the default date, which must also be in an open fiscal year
 */
const dateOf = (
  { date }: { date?: string | null | undefined },
  preset: string,
  store: Store,
  earliest?: Earliest,
): string => {
  if (date == null) requireFiscalYear('Field "date" is', preset, store, 'date')
  else requirePast('date', date, store, earliest)
  return date ?? preset
}

/** Registers a full or partial payment of an invoice. */
export const payOrder = (key: OrderKey, payment: PanelPayment, store: Store): void =>
  changeOrder('pay', key, store, order => {
    const amount = amountOf(payment, balanceOf(order), 'must not exceed what is due')
    const paid = { ...paymentOf(payment, order), amount, date: dateOf(payment, order.date, store) }
    const account_code = accountOf(payment, 'payment', store)
    payInvoice(order, { ...paid, note: payment.note ?? '', account_code }, store)
  })

/** The document whose date gives the buyer a credit of this amount, apart from what was paid back. */
const creditOf = ({ invoice_number, total, repaid }: Order, amount: string, store: Store) => {
  const documents = [
    ...store.receipts.list(invoice_number).map(each => ({ ...each, name: `receipt ${each.number}` })),
    ...store.returns.list(invoice_number).map(each => ({ ...each, name: `sales return ${each.number}` })),
  ].toSorted((a, b) => a.date.localeCompare(b.date))
  let rest = BigInt(sum([total, repaid, amount]))
  return documents.find(each => {
    rest -= BigInt(each.amount)
    return rest <= 0n
  })
}

/**
 * A receipt is booked by the kind of its account, whatever its method (spec: business rule 6). A repayment has no such type, so
 * its method and account must agree.
 */
const requireAgreement = (method: Repayment['method'], code: string, store: Store): void => {
  const isCash = method === 'cash'
  if ((store.accounts.find(code)?.kind === 'cash') === isCash) return
  throw refusedField(
    'account',
    `is ${quoted(code)}: ${isCash ? 'must be a cash box for cash' : 'must be a bank account, except for cash'}`,
    // The request is valid in itself: only the stored kind of the account rules it out.
    'conflict',
  )
}

/**
 * Registers money that is paid back to the buyer, from the credit left by a return or an overpayment (spec: refund). The
 * status of the order does not change.
 */
export const repayOrder = (key: OrderKey, repayment: Repayment, store: Store): void =>
  changeOrder('repay', key, store, order => {
    const { invoice_number } = order
    const credit = -balanceOf(order)
    if (credit <= 0n) throw cannot('repay', order, NO_CREDIT)
    const amount = amountOf(repayment, credit, 'must not exceed the credit of the buyer')
    const date = dateOf(repayment, store.clock.today(), store, creditOf(order, amount, store))
    const { method, note } = repayment
    const paid = { method, reference: referenceOf(repayment), note: note ?? '', amount, date }
    const account_code = accountOf(repayment, 'repayment', store)
    requireAgreement(repayment.method, account_code, store)
    requireCash(order, { account_code, amount, date }, store)
    const number = store.repayments.insert({ ...paid, invoice_number, account_code })
    settle(order, store)
    const from = store.accounts.find(account_code)?.name
    const message = `Repayment ${number} of ${rials(amount)} rials from ${from}`
    store.history.add(invoice_number, 'repaid', message + datedLine(date, store))
  })

/** The quantities to return, by position of the row. */
const quantitiesOf = ({ rows: given }: Return, order: Order, store: Store) => {
  if (given == null) return undefined
  const rows = rowsOf(order, store)
  const quantities = new Map(
    given.map(({ row: number, quantity }, index) => {
      const row = rows[number - 1]
      if (row === undefined) {
        throw refusedField(`rows[${index}].row`, `is ${number}: the invoice has ${rows.length} rows`)
      }
      if (isLess(row.left, decimal(quantity))) {
        const state = `is ${shown(decimal(quantity))}: must not exceed what is not returned, ${shown(row.left)}`
        throw refusedField(`rows[${index}].quantity`, state)
      }
      return [row.position, decimal(quantity)] as const
    }),
  )
  if (quantities.size < given.length) throw refusedField('rows', 'has a row twice: must have each row once')
  if ([...quantities.values()].every(({ units }) => units === 0n)) {
    throw refusedField('rows[0].quantity', 'is 0: must be greater than zero in at least one row')
  }
  return quantities
}

/** Registers a return of the given quantities, or of all remaining goods, and puts the goods back in stock. */
export const returnOrder = (key: OrderKey, change: Return, store: Store): void =>
  changeOrder('return', key, store, order => {
    const date = dateOf(change, store.clock.today(), store, { name: 'the invoice', date: order.date })
    requireUnchanged('return', order, change.unchangedSince)
    const quantities = quantitiesOf(change, order, store)
    returnInvoice(order, { reason: change.reason ?? null, date, quantities }, store)
  })

/**
 * Turns an invoice back into a draft. Its returns and receipts are cancelled, and the payments are held with their amounts
 * until the next finalization: a correction does not change the money that was received. The goods go back to stock, unless a
 * return already put them there.
 *
 * @param error the reason, for the order result
 */
export const reviewOrder = (key: OrderKey, error: string, store: Store): void =>
  changeOrder('review', key, store, order => {
    const { invoice_number, date } = order
    // Its receipts, which the next finalization registers again, would no longer have the money that was paid back.
    if (order.repaid !== '0') throw cannot('review', order, HAS_REPAYMENT)
    requireFiscalYear(`Invoice ${invoice_number} is dated`, date, store)
    const [returns, receipts] = [store.returns.list(invoice_number), store.receipts.list(invoice_number)]
    restockGoods(goodsOf(order, store), { kind: 'reviewed', invoice_number }, store)
    cancel('Sales return', store.returns, returns, error, store)
    cancel('Receipt', store.receipts, receipts, error, store)
    for (const receipt of receipts) store.heldPayments.insert(order, receipt)
    store.orders.setDraft(invoice_number, error)
    const undone = [
      ...(order.status === 'refunded' ? [] : ['goods back in stock']),
      ...returns.map(({ number }) => `sales return ${number} cancelled`),
      ...receipts.map(({ number }) => `receipt ${number} cancelled, its payment held`),
    ]
    const message = `Moved back to review by the accountant (${error}): ${undone.join(', ')}`
    store.history.add(invoice_number, 'reviewed', message)
  })
