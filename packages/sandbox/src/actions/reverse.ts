import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { refusedField } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { requireFiscalYear } from './catalogue.ts'
import { cannot, changeOrder, HAS_REPAYMENT, NO_RECEIPT, NO_REPAYMENT, NO_RETURN } from './change.ts'
import { settle } from './documents.ts'
import { describeShortages, issueGoods, shortagesOf } from './stock.ts'

/** The documents that can be cancelled alone, because neither money nor goods were moved. */
const KINDS = {
  receipt: {
    table: 'receipts',
    name: 'Receipt',
    action: 'reverse the payment of',
    missing: NO_RECEIPT,
    entry: 'reversed',
    message: (number: number, why: string) =>
      `Payment reversed by the accountant${why}, receipt ${number} cancelled`,
  },
  return: {
    table: 'returns',
    name: 'Sales return',
    action: 'reverse the return of',
    missing: NO_RETURN,
    entry: 'return_reversed',
    message: (number: number, why: string) =>
      `Return reversed by the accountant${why}, sales return ${number} cancelled, goods taken from stock`,
  },
  repayment: {
    table: 'repayments',
    name: 'Repayment',
    action: 'reverse the repayment of',
    missing: NO_REPAYMENT,
    entry: 'repayment_reversed',
    message: (number: number, why: string) =>
      `Repayment reversed by the accountant${why}, repayment ${number} cancelled`,
  },
} as const

/** Cancels documents of an invoice; they keep their numbers. Runs in the caller's transaction. */
export const cancel = <Document extends { number: number; date: string }>(
  name: string,
  documents: { cancel: (number: number, reason: string | null) => void },
  cancelled: readonly Document[],
  reason: string | null,
  store: Store,
): void => {
  for (const { number, date } of cancelled) {
    requireFiscalYear(`${name} ${number} is dated`, date, store)
    documents.cancel(number, reason)
  }
}

/**
 * The documents with this number; by default, all.
 *
 * @throws Refusal when none of them has this number
 */
const chosen = <Document extends { number: number }>(
  field: string,
  number: number | undefined,
  all: readonly Document[],
) => {
  const found = all.filter(each => each.number === (number ?? each.number))
  if (found.length > 0) return found
  const numbers = all.map(each => each.number).join(', ')
  throw refusedField(field, `is ${number}: must be one of ${numbers}`)
}

/** The goods that the reversal of returns takes from stock again. */
const goodsIn = (
  { invoice_number }: Pick<Order, 'invoice_number'>,
  returns: readonly { number: number }[],
  store: Store,
) => {
  const rows = store.invoiceRows.list(invoice_number)
  const numbers = new Set(returns.map(({ number }) => number))
  return store.returnRows
    .list(invoice_number)
    .filter(({ return_number }) => numbers.has(return_number))
    .map(({ position, quantity }) => ({ sku: rows[position]?.sku ?? null, quantity }))
}

/** The products whose stock is insufficient to reverse these returns together. */
export const returnShortagesOf = (...given: Parameters<typeof goodsIn>) =>
  shortagesOf(goodsIn(...given), given[2])

/** Takes the goods of returns from stock again. */
const takeBack = (order: Order, returns: readonly { number: number }[], store: Store) => {
  const goods = goodsIn(order, returns, store)
  const short = describeShortages(shortagesOf(goods, store))
  if (short) throw cannot('reverse the return of', order, `${short}; add stock first`)
  issueGoods(goods, { kind: 'return_reversed', invoice_number: order.invoice_number }, store)
}

/** The number of the document to cancel, by default all of its kind, and why. */
type Reversal = { number?: number | undefined; reason?: string | null | undefined }

/** Cancels documents of an order. Money that was paid back stays covered, so repayments are cancelled before the others. */
export const reverse = (
  kind: keyof typeof KINDS,
  key: OrderKey,
  { number, reason }: Reversal,
  store: Store,
): void => {
  const { table, name, action, missing, entry, message } = KINDS[kind]
  changeOrder(action, key, store, order => {
    const { invoice_number } = order
    const all: { number: number; date: string }[] = store[table].list(invoice_number)
    if (all.length === 0) throw cannot(action, order, missing)
    if (kind !== 'repayment' && order.repaid !== '0') throw cannot(action, order, HAS_REPAYMENT)
    const documents = chosen(kind, number, all)
    if (kind === 'return') takeBack(order, documents, store)
    cancel(name, store[table], documents, reason || null, store)
    settle(order, store)
    const why = reason ? ` (${reason})` : ''
    for (const { number } of documents) store.history.add(invoice_number, entry, message(number, why))
  })
}
