import { type Decimal, decimalFrom, isLess, minus, plus, shown, ZERO } from '../decimal.ts'
import { rials } from '../pricing.ts'
import type { Payment } from '../requests.ts'
import type { Account, Product } from '../store/catalogue.ts'
import type { Store } from '../store/open.ts'
import type { HeldPayment, Order, Receipt } from '../store/orders.ts'

type Invoice = Pick<Order, 'invoice_number'>

/** A product of an invoice and its total quantity over all rows. */
type Demand = { product: Product; quantity: Decimal }

const demandOf = ({ invoice_number }: Invoice, store: Store): Demand[] => {
  const quantities = new Map<string, Decimal>()
  for (const { sku, quantity } of store.invoiceRows.list(invoice_number)) {
    if (sku !== null) quantities.set(sku, plus(quantities.get(sku) ?? ZERO, decimalFrom(quantity)))
  }
  return [...quantities].flatMap(([sku, quantity]) => {
    const product = store.products.find(sku)
    return product === undefined ? [] : [{ product, quantity }]
  })
}

/** The quantities by which an invoice exceeds the stock. */
export const shortagesOf = (invoice: Invoice, store: Store) =>
  demandOf(invoice, store)
    .filter(({ product, quantity }) => isLess(product.stock, quantity))
    .map(({ product: { sku, name, stock }, quantity }) => ({
      ...{ sku, name },
      needed: shown(quantity),
      available: shown(stock),
    }))

/** Shortages, described for the accountant. */
export const describeShortages = (shortages: ReturnType<typeof shortagesOf>): string =>
  shortages.map(({ sku, needed, available }) => `"${sku}" needs ${needed}, available ${available}`).join('; ')

const move = (invoice: Invoice, store: Store, moved: typeof plus) => {
  for (const { product, quantity } of demandOf(invoice, store)) {
    store.products.setStock(product.sku, moved(product.stock, quantity))
    store.changes.note({ kind: 'product', sku: product.sku })
  }
}

/** Takes the goods of an invoice from stock. Runs in the caller's transaction. */
export const issueGoods = (invoice: Invoice, store: Store): void => move(invoice, store, minus)

/** Puts the goods of an invoice back in stock. Runs in the caller's transaction. */
export const restockGoods = (invoice: Invoice, store: Store): void => move(invoice, store, plus)

/** A payment with its defaults (spec: payment; the date defaults to the order date). */
export const paymentOf = ({ method, reference, date }: Payment, order: Order): HeldPayment => ({
  method,
  reference: reference ?? '',
  date: date ?? order.date,
})

/** A payment method or the type of a receipt, in the history of an order. */
export const inWords = (name: Payment['method'] | Receipt['type']) => (name === 'pos' ? 'card reader' : name)

/** The type of the receipt (spec: business rule 6); without an account, only the method tells. */
const receiptType = (account: Account | undefined, method: Payment['method']): Receipt['type'] => {
  if ((account?.kind ?? method) === 'cash') return 'cash'
  return method === 'card' || method === 'pos' ? 'pos' : 'transfer'
}

/**
 * Registers a receipt for the full amount of a finalized invoice, without an account if none is selected. Runs in the
 * caller's transaction.
 */
export const payInvoice = (
  { invoice_number, total: amount }: Order,
  { method, reference, date }: HeldPayment,
  store: Store,
): void => {
  const code = store.settings.read().orderPaymentReceivingAccount
  const account = code === null ? undefined : store.accounts.find(code)
  const type = receiptType(account, method)
  const receipt = { invoice_number, method, reference, date, type, amount, account_code: code }
  const number = store.receipts.insert(receipt)
  store.orders.setStatus(invoice_number, 'paid', null)
  const message = `Receipt ${number} (${inWords(type)}) of ${rials(amount)} rials`
  const into = account === undefined ? ' without an account' : ` into ${account.name}`
  store.history.add(invoice_number, 'paid', message + into)
}

/** Registers a return of a finalized invoice. Runs in the caller's transaction. */
export const returnInvoice = ({ invoice_number }: Order, reason: string | null, store: Store) => {
  const number = store.returns.insert({ invoice_number, date: store.clock.today(), reason })
  restockGoods({ invoice_number }, store)
  store.orders.setStatus(invoice_number, 'refunded', null)
  const message = `Sales return ${number}${reason ? ` (${reason})` : ''}, goods back in stock`
  store.history.add(invoice_number, 'refunded', message)
}

export const OBSTACLES = ['stock', 'finalization', 'account', 'year'] as const

/** Everything that currently prevents finalization, described for the accountant (spec: `needs_review`). */
const obstaclesOf = (order: Order, payment: HeldPayment | undefined, store: Store) => {
  const { automaticFinalization, orderPaymentReceivingAccount } = store.settings.read()
  const shortages = shortagesOf(order, store)
  const dates = [['invoice', order.date], ...(payment ? [['held payment', payment.date]] : [])] as const
  const outside = dates.filter(([, date]) => !store.fiscalYears.cover(date))
  const all = {
    stock: shortages.length > 0 && `Insufficient stock: ${describeShortages(shortages)}`,
    finalization: !automaticFinalization && 'Automatic finalization is off',
    account:
      payment !== undefined &&
      orderPaymentReceivingAccount === null &&
      'No receiving account is selected for order payments',
    year:
      outside.length > 0 &&
      `Outside the fiscal years: ${outside.map(([name, date]) => `${name} of ${date}`).join('; ')}`,
  }
  const obstacles = OBSTACLES.flatMap(kind => (all[kind] === false ? [] : [{ kind, message: all[kind] }]))
  return { obstacles, shortages }
}

/** What currently prevents an order in review from being finalized, regardless of the cause at the last attempt. */
export const obstaclesNow = (order: Order, store: Store) =>
  order.status === 'needs_review'
    ? obstaclesOf(order, store.heldPayments.find(order.invoice_number), store)
    : { obstacles: [], shortages: [] }

/**
 * Finalizes a draft, takes its goods from stock and registers its payment, if any; or leaves it in
 * `needs_review` with the reason (spec: States and transitions). Runs in the caller's transaction.
 *
 * @returns whether the draft was finalized
 */
export const finalize = (order: Order, payment: HeldPayment | undefined, store: Store): boolean => {
  const { invoice_number } = order
  const { obstacles } = obstaclesOf(order, payment, store)
  if (obstacles.length > 0) {
    const error = obstacles.map(({ message }) => message).join('. ')
    store.orders.setStatus(invoice_number, 'needs_review', error)
    store.history.add(invoice_number, 'held', error)
    return false
  }
  issueGoods(order, store)
  store.orders.setStatus(invoice_number, 'invoiced', null)
  const message = `Invoice ${invoice_number} finalized, goods taken from stock`
  store.history.add(invoice_number, 'finalized', message)
  if (payment !== undefined) payInvoice(order, payment, store)
  return true
}
