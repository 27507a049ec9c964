import { formatDate, serial } from '@order-relay/web/format.ts'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'

type Order = SchemaData<'OrderDetail'>

type Dated = { date: string }

/** Why the service would refuse an action although the order is in its status. */
export type Prevention = { kind: 'repaid' } | { kind: 'outside'; name: string; date: string } | Undated

/**
 * No possible date of a new document is in an open fiscal year; `since` is the earliest possible date, if there is one.
 */
type Undated = { kind: 'undated'; since?: string }

/** Names the actions that are prevented, with the reason and, if there is one, the step that makes them possible. */
export const describePrevention = (prevention: Prevention, actions: string) => {
  switch (prevention.kind) {
    case 'repaid':
      return t('Possible once the repayment is reversed: {actions}', { actions })
    case 'outside':
      return t('Not possible, because {document} is dated {date}, outside the open fiscal years: {actions}', {
        document: prevention.name,
        date: formatDate(prevention.date),
        actions,
      })
    case 'undated':
      return prevention.since === undefined
        ? t('Not possible without an open fiscal year: {actions}', { actions })
        : t('Not possible, because no day from {date} to today is in an open fiscal year: {actions}', {
            date: formatDate(prevention.since),
            actions,
          })
  }
}

/** The documents of an order by their names within a sentence. */
const namedIn = (order: Order) => ({
  invoice: { name: t('invoice {number}', { number: serial(order.invoice_number) }), date: order.date },
  receipts: order.receipts.map(({ number, date }) => ({
    name: t('receipt {number}', { number: serial(number) }),
    date,
  })),
  returns: order.returns.map(({ number, date }) => ({
    name: t('sales return {number}', { number: serial(number) }),
    date,
  })),
  repayments: order.repayments.map(({ number, date }) => ({
    name: t('repayment {number}', { number: serial(number) }),
    date,
  })),
})

/**
 * What prevents the actions on an order. A document outside the open fiscal years comes before a repayment, because reversing
 * the repayment would not make the action possible.
 */
export const preventionsOf = (
  order: Order,
  years: SchemaData<'FiscalYears'>['fiscalYears'],
  today: string,
) => {
  const open = years.filter(({ closed }) => !closed)
  const isOpen = ({ date }: Dated) => open.some(({ from, to }) => from <= date && date <= to)
  const { invoice, receipts, returns, repayments } = namedIn(order)
  const closedIn = (documents: readonly (Dated & { name: string })[]): Prevention | undefined => {
    const document = documents.find(each => !isOpen(each))
    return document && { kind: 'outside', ...document }
  }
  // One document that can be reversed is enough.
  const allClosed = (documents: typeof receipts) => (documents.some(isOpen) ? undefined : closedIn(documents))
  const undated = (since?: string): Prevention | undefined =>
    open.some(({ from, to }) => from <= today && to >= (since ?? from))
      ? undefined
      : { kind: 'undated', ...(since !== undefined && { since }) }
  const repaid: Prevention | undefined =
    order.repaid === '0' ? undefined : (closedIn(repayments) ?? { kind: 'repaid' })
  return {
    isOpen,
    actions: {
      pay: undated(),
      repay: undated(),
      return: undated(order.date),
      'reverse-payment': allClosed(receipts) ?? repaid,
      'reverse-return': allClosed(returns) ?? repaid,
      'reverse-repayment': allClosed(repayments),
      review: closedIn([invoice, ...returns, ...receipts]) ?? repaid,
      correct: order.status === 'needs_review' ? undefined : closedIn([invoice]),
    },
    /** Cancelling all returns individually, without the receipts, so that the order can be corrected. */
    cancelReturns: closedIn([invoice, ...returns]) ?? repaid,
  }
}
