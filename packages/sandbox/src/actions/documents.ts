import { latinDigits } from '@order-relay/web/calendar.ts'
import { bankReceipt } from '../booking.ts'
import { type Decimal, decimalFrom, minus, plus, rounded, shown, ZERO } from '../decimal.ts'
import { partOf, rials, sum } from '../pricing.ts'
import type { Payment } from '../requests.ts'
import type { Account } from '../store/catalogue.ts'
import type { HeldPayment, Paid, Receipt } from '../store/documents.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { describeShortages, type Goods, issueGoods, restockGoods, shortagesOf } from './stock.ts'

type Invoice = Pick<Order, 'invoice_number'>

/** The rows of an invoice with their returned and remaining quantities, and what is left of their amounts. */
export const rowsOf = ({ invoice_number }: Invoice, store: Store) => {
  const returns = store.returnRows.list(invoice_number)
  return store.invoiceRows.list(invoice_number).map((row, position) => {
    const parts = returns.filter(each => each.position === position)
    const returned = parts.reduce((all, { quantity }) => plus(all, decimalFrom(quantity)), ZERO)
    const leftOf = (name: 'net' | 'tax') => sum([row[name], ...parts.map(part => `-${part[name]}`)])
    return {
      ...row,
      position,
      returned,
      left: minus(decimalFrom(row.quantity), returned),
      leftAmounts: { net: leftOf('net'), tax: leftOf('tax') },
    }
  })
}

/** The goods of an invoice that were not returned. */
export const goodsOf = (invoice: Invoice, store: Store): Goods =>
  rowsOf(invoice, store).map(({ sku, left }) => ({ sku, quantity: shown(left) }))

/** The discounts of rows, each in whole rials. */
export const rowDiscountsOf = (rows: readonly { discount: string }[]): string =>
  sum(rows.map(({ discount }) => String(rounded(decimalFrom(discount)))))

type Amounts = Pick<Order, 'total' | 'received' | 'returned' | 'repaid'>

/** The amount that the customer owes for an invoice; negative if it is owed to the customer. */
export const balanceOf = ({ total, received, returned, repaid }: Amounts) =>
  BigInt(total) - BigInt(returned) - BigInt(received) + BigInt(repaid)

const amountOf = ({ amount }: { amount: string }) => amount

/**
 * Derives status, sums and numbers of a finalized invoice from its documents. It is refunded once everything is returned,
 * and paid once its receipts cover the remaining total. Until then it is invoiced, and the order result shows neither
 * receipts nor returns, because the interface has no partial ones. Runs in the caller's transaction.
 *
 * @returns the status
 */
export const settle = (order: Order, store: Store) => {
  const { invoice_number, total } = order
  const [receipts, returns] = [store.receipts.list(invoice_number), store.returns.list(invoice_number)]
  const [received, returned] = [sum(receipts.map(amountOf)), sum(returns.map(amountOf))]
  const repaid = sum(store.repayments.list(invoice_number).map(amountOf))
  const isReturned = returns.length > 0 && rowsOf(order, store).every(({ left }) => left.units === 0n)
  const isPaid = receipts.length > 0 && balanceOf({ total, received, returned, repaid }) <= 0n
  const status = isReturned ? 'refunded' : isPaid ? 'paid' : 'invoiced'
  const receipt = { refunded: order.receipt_number, paid: receipts.at(-1)?.number, invoiced: null }[status]
  store.orders.settle(invoice_number, {
    status,
    received,
    returned,
    repaid,
    receipt_number: receipt ?? null,
    return_number: (isReturned && returns.at(-1)?.number) || null,
  })
  return status
}

/** The reference with Latin digits, which searches and spreadsheets find. */
export const referenceOf = ({ reference }: Pick<Payment, 'reference'>) => latinDigits(reference ?? '')

/** A payment of a whole invoice with its defaults (spec: payment; the date defaults to the order date). */
export const paymentOf = ({ method, reference, date }: Payment, order: Order): Paid => ({
  amount: null,
  method,
  reference: referenceOf({ reference }),
  note: '',
  date: date ?? order.date,
  account_code: null,
})

/** A payment method or the type of a receipt, in the history of an order. */
export const inWords = (name: Payment['method'] | Receipt['type']) => (name === 'pos' ? 'card reader' : name)

/** A separate line in the history, with the date of a document that is not dated on the day of its registration. */
export const datedLine = (date: string, store: Store) =>
  date === store.clock.today() ? '' : `\nDated ${date}`

/** The type of the receipt (spec: business rule 6); without an account, it follows from the method alone. */
const receiptType = (account: Account | undefined, method: Payment['method']): Receipt['type'] => {
  if ((account?.kind ?? method) === 'cash') return 'cash'
  return bankReceipt(method)
}

/**
 * Registers a receipt of a finalized invoice, by default in the receiving account; without an account if none is selected.
 * Runs in the caller's transaction.
 */
export const payInvoice = (
  order: Order,
  paid: Paid & Partial<Pick<HeldPayment, 'whole'>>,
  store: Store,
): void => {
  const { invoice_number, total } = order
  const { method, reference, note, date } = paid
  const amount = paid.amount ?? total
  const account_code = paid.account_code ?? store.settings.read().orderPaymentReceivingAccount
  const account = account_code === null ? undefined : store.accounts.find(account_code)
  const type = receiptType(account, method)
  const { whole = paid.amount === null ? 1 : 0 } = paid
  const receipt = { invoice_number, method, type, reference, note, date, amount, account_code, whole }
  const number = store.receipts.insert(receipt)
  const kind = settle(order, store) === 'paid' ? 'paid' : 'received'
  const message = `Receipt ${number} (${inWords(type)}) of ${rials(amount)} rials`
  const into = account === undefined ? ' without an account' : ` into ${account.name}`
  store.history.add(invoice_number, kind, message + into + datedLine(date, store))
}

type Returned = {
  reason: string | null
  date: string
  /** By position of the row; by default, all remaining goods. */
  quantities?: ReadonlyMap<number, Decimal> | undefined
}

/** Registers a return of a finalized invoice and puts its goods back in stock. Runs in the caller's transaction. */
export const returnInvoice = (order: Order, { reason, date, quantities }: Returned, store: Store): void => {
  const { invoice_number } = order
  const rows = rowsOf(order, store).flatMap(row => {
    const quantity = quantities === undefined ? row.left : (quantities.get(row.position) ?? ZERO)
    return quantity.units === 0n
      ? []
      : [{ ...row, quantity: shown(quantity), ...partOf(row, row.returned, quantity, row.leftAmounts) }]
  })
  const amount = sum(rows.flatMap(({ net, tax }) => [net, tax]))
  const number = store.returns.insert({ invoice_number, date, reason, amount })
  for (const { position, sku, name, unit, unit_price, quantity, net, tax } of rows)
    store.returnRows.insert(number, { position, sku, name, unit, unit_price, quantity, net, tax })
  restockGoods(rows, { kind: 'returned', invoice_number }, store)
  const kind = settle(order, store) === 'refunded' ? 'refunded' : 'returned'
  const message = `Sales return ${number} of ${rials(amount)} rials${reason ? ` (${reason})` : ''}, goods back in stock`
  store.history.add(invoice_number, kind, message + datedLine(date, store))
}

export const OBSTACLES = ['stock', 'finalization', 'account', 'year'] as const

/** Everything that currently prevents finalization, described for the accountant (spec: `needs_review`). */
const obstaclesOf = (order: Order, payments: readonly Paid[], store: Store) => {
  const { automaticFinalization, orderPaymentReceivingAccount } = store.settings.read()
  const shortages = shortagesOf(store.invoiceRows.list(order.invoice_number), store)
  const dates = [['invoice', order.date], ...payments.map(({ date }) => ['held payment', date])] as const
  const outside = dates.filter(([, date]) => !store.fiscalYears.cover(date))
  const all = {
    stock: shortages.length > 0 && `Insufficient stock: ${describeShortages(shortages)}`,
    finalization: !automaticFinalization && 'Automatic finalization is off',
    account:
      payments.some(({ account_code }) => account_code === null) &&
      orderPaymentReceivingAccount === null &&
      'No receiving account is selected for order payments',
    year:
      outside.length > 0 &&
      `Outside the open fiscal years: ${outside.map(([name, date]) => `${name} of ${date}`).join('; ')}`,
  }
  const obstacles = OBSTACLES.flatMap(kind => (all[kind] === false ? [] : [{ kind, message: all[kind] }]))
  return { obstacles, shortages }
}

/** Obstacles, as the reason of an order in review. */
export const describeObstacles = (obstacles: readonly { message: string }[]) =>
  obstacles.map(({ message }) => message).join('. ')

/** What currently prevents an order in review from being finalized, regardless of the cause at the last attempt. */
export const obstaclesNow = (order: Order, store: Store) =>
  order.status === 'needs_review'
    ? obstaclesOf(order, store.heldPayments.list(order.invoice_number), store)
    : { obstacles: [], shortages: [] }

/**
 * Finalizes a draft, takes its goods from stock and registers its payments, or leaves it in `needs_review` with the
 * reason (spec: States and transitions). Runs in the caller's transaction.
 *
 * @returns whether the draft was finalized
 */
export const finalize = (order: Order, payments: readonly (Paid | HeldPayment)[], store: Store): boolean => {
  const { invoice_number } = order
  const { obstacles } = obstaclesOf(order, payments, store)
  if (obstacles.length > 0) {
    const error = describeObstacles(obstacles)
    store.orders.setDraft(invoice_number, error)
    store.history.add(invoice_number, 'held', error)
    return false
  }
  issueGoods(store.invoiceRows.list(invoice_number), { kind: 'issued', invoice_number }, store)
  settle(order, store)
  const message = `Invoice ${invoice_number} finalized, goods taken from stock`
  store.history.add(invoice_number, 'finalized', message)
  for (const payment of payments) payInvoice(order, payment, store)
  return true
}
