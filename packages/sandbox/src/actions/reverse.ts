import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { refusedField } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import { requireFiscalYear } from './catalogue.ts'
import { cannot, changeOrder, HAS_REPAYMENT, NO_RECEIPT, NO_REPAYMENT } from './change.ts'
import { settle } from './documents.ts'

/** The documents that can be cancelled alone, because the money did not arrive or was not paid back. */
const KINDS = {
  receipt: {
    table: 'receipts',
    name: 'Receipt',
    action: 'reverse the payment of',
    missing: NO_RECEIPT,
    entry: 'reversed',
    message: (number: number) => `Payment reversed by the accountant, receipt ${number} cancelled`,
  },
  repayment: {
    table: 'repayments',
    name: 'Repayment',
    action: 'reverse the repayment of',
    missing: NO_REPAYMENT,
    entry: 'repayment_reversed',
    message: (number: number) => `Repayment reversed by the accountant, repayment ${number} cancelled`,
  },
} as const

/** Cancels documents of an invoice; they keep their numbers. Runs in the caller's transaction. */
export const cancel = <Document extends { number: number; date: string }>(
  name: string,
  documents: { cancel: (number: number) => void },
  cancelled: readonly Document[],
  store: Store,
): void => {
  for (const { number, date } of cancelled) {
    requireFiscalYear(`${name} ${number} is dated`, date, store)
    documents.cancel(number)
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

/**
 * Cancels a document of an order.
 *
 * @param number of the document; by default, all documents of this kind
 */
export const reverse = (
  kind: keyof typeof KINDS,
  key: OrderKey,
  number: number | undefined,
  store: Store,
): void => {
  const { table, name, action, missing, entry, message } = KINDS[kind]
  changeOrder(action, key, store, order => {
    const { invoice_number } = order
    const all: { number: number; date: string }[] = store[table].list(invoice_number)
    if (all.length === 0) throw cannot(action, order, missing)
    if (kind !== 'repayment' && order.repaid !== '0') throw cannot(action, order, HAS_REPAYMENT)
    const documents = chosen(kind, number, all)
    cancel(name, store[table], documents, store)
    settle(order, store)
    for (const { number } of documents) store.history.add(invoice_number, entry, message(number))
  })
}
