import { addDays } from '@order-relay/web/calendar.ts'
import type { DocumentsQuery } from '../panel-queries.ts'
import { sum } from '../pricing.ts'
import type { DocumentFilter, DocumentKind, DocumentSums, ListedDocument } from '../store/document-list.ts'
import { RECEIPT_TYPES } from '../store/documents.ts'
import type { Store } from '../store/open.ts'

/** The latest possible date. */
const LAST_DAY = '9999-12-31'

/** A document as the start of the next page. */
const cursorOf = ({ date, kind, number }: ListedDocument) => `${date}.${kind}.${number}`

/** @param cursor of a valid query */
const placeOf = (cursor: string) => {
  const [date = '', kind = '', number = ''] = cursor.split('.')
  return { date, kind: kind as DocumentKind, number: Number(number) }
}

const shownDocument = ({ account_code: code, account_name: name, ...document }: ListedDocument) => {
  const { customer_name: customer, national_id: _, economic_code: __, ...rest } = document
  return { ...rest, customer, account: code === null ? null : { code, name: name ?? code } }
}

/** The sums of some documents. */
const summed = (sums: readonly DocumentSums[]) => ({
  count: sums.reduce((count, each) => count + each.count, 0),
  amount: sum(sums.map(({ amount }) => amount)),
})

type Code = DocumentSums['account_code']

/** The money received into an account and paid back from it. */
const movementsOf = (sums: readonly DocumentSums[], code: Code) => {
  const [received, repaid] = (['receipt', 'repayment'] as const).map(
    wanted => summed(sums.filter(each => each.account_code === code && each.kind === wanted)).amount,
  ) as [string, string]
  return { received, repaid, balance: sum([received, `-${repaid}`]) }
}

/**
 * The balances of the accounts before the days of a filter. Undefined if the filter selects only some documents of an account,
 * or selects them by registration: balances follow the dates of the documents.
 */
const openingsOf = (filter: DocumentFilter, store: Store): Map<Code, string> | undefined => {
  const { kind, type, q, days = 'document', account: only, from, to = LAST_DAY } = filter
  if ([kind, type, q].some(each => each !== undefined) || days !== 'document') return undefined
  const earlier = (['receipt', 'repayment'] as const).flatMap(kind =>
    from === undefined ? [] : store.documentList.sums({ kind, account: only, to: addDays(from, -1) }),
  )
  const accounts = store.accounts.list().filter(({ code }) => code === (only ?? code))
  return new Map([
    ...earlier.map(({ account_code: code }) => [code, movementsOf(earlier, code).balance] as const),
    ...accounts.map(({ code, opening_balance, opening_date }) => {
      const given = (opening_date ?? '') <= to ? opening_balance : '0'
      return [code, sum([given, movementsOf(earlier, code).balance])] as const
    }),
  ])
}

/** The movements of each account, and its balance before and after them. */
const accountsOf = (sums: readonly DocumentSums[], filter: DocumentFilter, store: Store) => {
  const openings = openingsOf(filter, store)
  const filled = [...(openings ?? [])].flatMap(([code, opening]) => (opening === '0' ? [] : [code]))
  const moved = sums.filter(({ kind }) => kind !== 'return').map(({ account_code }) => account_code)
  return [...new Set([...filled, ...moved])].sort().map(code => {
    const account = code === null ? null : { code, name: store.accounts.find(code)?.name ?? code }
    const movements = movementsOf(sums, code)
    const opening = openings && (openings.get(code) ?? '0')
    return {
      account,
      opening: opening ?? null,
      ...movements,
      closing: opening === undefined ? null : sum([opening, movements.balance]),
    }
  })
}

/** What was received by each type of receipt. */
const typesOf = (receipts: readonly DocumentSums[]) =>
  RECEIPT_TYPES.map(type => ({ type, ...summed(receipts.filter(each => each.type === type)) })).filter(
    ({ count }) => count > 0,
  )

/** A page of the matching receipts, returns and repayments, with the sums of all that are not cancelled. */
export const listDocuments = ({ limit, before, ...filter }: DocumentsQuery, store: Store) => {
  // One more than requested shows whether there is a next page.
  const found = store.documentList.page(filter, {
    before: before === undefined ? undefined : placeOf(before),
    limit: limit + 1,
  })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const sums = store.documentList.sums(filter)
  const of = (wanted: DocumentKind) => sums.filter(({ kind }) => kind === wanted)
  const returns = of('return')
  return {
    documents: shown.map(shownDocument),
    otherwise_dated: store.documentList.countOtherwiseDated(filter),
    changed_later: store.documentList.countLate(filter),
    next: found.length > limit && last !== undefined ? cursorOf(last) : null,
    sums: {
      receipts: summed(of('receipt')),
      repayments: summed(of('repayment')),
      returns: {
        ...summed(returns),
        net: sum(returns.map(({ net }) => net)),
        tax: sum(returns.map(({ tax }) => tax)),
      },
      accounts: accountsOf(sums, filter, store),
      types: typesOf(of('receipt')),
    },
  }
}
