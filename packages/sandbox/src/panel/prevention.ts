import { decimal, formatDate, serial } from '@order-relay/web/format.ts'
import { listed } from '@order-relay/web/language.ts'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'

type Order = SchemaData<'OrderDetail'>

type Dated = { date: string }
type Shortages = Order['shortages']
type Years = SchemaData<'FiscalYears'>['fiscalYears']

/** The last day, up to today, on which a document can be dated; today if there is none. */
export const lastOpenDay = (years: Years, today: string) =>
  years
    .filter(({ closed, from }) => !closed && from <= today)
    .map(({ to }) => (to < today ? to : today))
    .toSorted()
    .at(-1) ?? today

/** Why the service would refuse an action although the order is in its status. */
export type Prevention =
  | { kind: 'repaid' }
  | { kind: 'returned'; isRepaid: boolean }
  | { kind: 'outside'; name: string; date: string }
  | { kind: 'short'; shortages: Shortages; isRepaid: boolean }
  | Undated

/**
 * No possible date of a new document is in an open fiscal year; `since` is the earliest possible date, if there is one.
 */
type Undated = { kind: 'undated'; since?: string }

/** What is missing in stock. */
export const describeGoods = (shortages: Shortages) =>
  listed(
    shortages.map(({ sku, needed, available }) =>
      t('{code}: {needed} needed, {available} in stock', {
        code: sku,
        needed: decimal(needed),
        available: decimal(available),
      }),
    ),
  )

/** Names the actions that are prevented, with the reason and, if there is one, the step that makes them possible. */
export const describePrevention = (prevention: Prevention, actions: string) => {
  switch (prevention.kind) {
    case 'repaid':
      return t('Possible once the repayment is reversed: {actions}', { actions })
    case 'returned':
      return prevention.isRepaid
        ? t(
            'Possible once the repayment and then the return are reversed (you can register them again afterwards): {actions}',
            { actions },
          )
        : t('Possible once the return is reversed (you can register it again afterwards): {actions}', {
            actions,
          })
    case 'short': {
      const about = { goods: describeGoods(prevention.shortages), actions }
      return prevention.isRepaid
        ? t(
            'Possible once the repayment is reversed and the returned goods are in stock again ({goods}): {actions}',
            about,
          )
        : t('Possible once the returned goods are in stock again ({goods}): {actions}', about)
    }
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

/** The date of the receipt or return that gives the buyer the present credit: no repayment of it can be dated earlier. */
const creditSince = ({ total, repaid, receipts, returns }: Order) => {
  const documents = [...receipts, ...returns].toSorted((a, b) => a.date.localeCompare(b.date))
  let rest = BigInt(total) + BigInt(repaid)
  return documents.find(({ amount }) => {
    rest -= BigInt(amount)
    return rest < 0n
  })?.date
}

/**
 * What prevents the actions on an order. A document outside the open fiscal years comes before a repayment, because reversing
 * the repayment would not make the action possible.
 */
export const preventionsOf = (order: Order, years: Years, today: string) => {
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
  /** Other orders may have taken the returned goods since. A repayment outside the open fiscal years prevents more. */
  const short = (shortages: Shortages): Prevention | undefined =>
    shortages.length === 0 || repaid?.kind === 'outside'
      ? undefined
      : { kind: 'short', shortages, isRepaid: repaid !== undefined }
  const openReturns = order.returns.filter(isOpen)
  const isAnyInStock = openReturns.some(({ shortages }) => shortages.length === 0)
  const reverseReturn =
    allClosed(returns) ?? (isAnyInStock ? undefined : short(openReturns[0]?.shortages ?? [])) ?? repaid
  /** What prevents the reversal of a receipt once all goods are returned. */
  const returned: Prevention =
    reverseReturn?.kind === 'outside' ? reverseReturn : { kind: 'returned', isRepaid: repaid !== undefined }
  return {
    isOpen,
    actions: {
      pay: undated(),
      repay: undated(creditSince(order)),
      return: undated(order.date),
      'reverse-payment': allClosed(receipts) ?? (order.status === 'refunded' ? returned : repaid),
      'reverse-return': reverseReturn,
      'reverse-repayment': allClosed(repayments),
      review: closedIn([invoice, ...returns, ...receipts]) ?? repaid,
      correct: order.status === 'needs_review' ? undefined : closedIn([invoice]),
    },
    /** Cancelling all returns individually, without the receipts, so that the order can be corrected. */
    cancelReturns: closedIn([invoice, ...returns]) ?? repaid ?? short(order.returned_shortages),
  }
}
