import { midnight } from '@order-relay/web/calendar.ts'
import { rials } from '../pricing.ts'
import { quoted } from '../refusal.ts'
import type { Store } from '../store/open.ts'
import type { Order } from '../store/orders.ts'
import { shortfallFrom } from './accounts.ts'

const DAY_MS = 86_400_000

/** A receipt dated more than this many days before its invoice is probably a typing error. */
const USUAL_DAYS = 30

const daysBetween = (from: string, to: string) =>
  Math.round((midnight(to).getTime() - midnight(from).getTime()) / DAY_MS)

/** Warnings about cash boxes that are negative without the cancelled receipts of an order. */
const shortBoxesOf = ({ invoice_number }: Pick<Order, 'invoice_number'>, store: Store) => {
  const cancelled = store.receipts.cancelled(invoice_number)
  return [...Map.groupBy(cancelled, ({ account_code }) => account_code)].flatMap(([code, receipts]) => {
    const [first = ''] = receipts.map(({ date }) => date).sort()
    const box = code === null ? undefined : shortfallFrom(first, code, store)
    if (box === undefined) return []
    const state = `has ${rials(box.balance)} rials on ${box.date}`
    return [`Without the cancelled receipts, the cash box ${quoted(box.name)} ${state}`]
  })
}

/** Warnings about the dates, references and cancelled receipts of an order. None of them causes a refusal. */
export const warningsOf = ({ invoice_number, date }: Order, store: Store): string[] => {
  const today = store.clock.today()
  const receipts = store.receipts.list(invoice_number)
  const dated = [
    { name: `Invoice ${invoice_number}`, date },
    ...receipts.map(receipt => ({ name: `Receipt ${receipt.number}`, date: receipt.date })),
    ...store.heldPayments.list(invoice_number).map(held => ({ name: 'The held payment', date: held.date })),
  ]
  return [
    ...dated.flatMap(each =>
      each.date > today ? [`${each.name} is dated in the future, ${each.date}`] : [],
    ),
    ...receipts.flatMap(({ number, date: paid }) => {
      const days = daysBetween(paid, date)
      return days > USUAL_DAYS ? [`Receipt ${number} is dated ${days} days before the invoice`] : []
    }),
    ...receipts.flatMap(({ number, reference }) => {
      const other = reference === '' ? undefined : store.documentList.withReference(reference, number)
      return other === undefined
        ? []
        : [
            `Receipt ${number} has the reference of receipt ${other.number}, order ${quoted(other.external_id)}`,
          ]
    }),
    ...shortBoxesOf({ invoice_number }, store),
  ]
}
