import type { DocumentsQuery } from '../panel-queries.ts'
import { sum } from '../pricing.ts'
import type { DocumentKind, DocumentSums, ListedDocument } from '../store/document-list.ts'
import { RECEIPT_TYPES } from '../store/documents.ts'
import type { Store } from '../store/open.ts'

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

/** What came into each account, and what was paid from it. */
const accountsOf = (sums: readonly DocumentSums[], store: Store) => {
  const money = sums.filter(({ kind }) => kind !== 'return')
  return [...new Set(money.map(({ account_code }) => account_code))].sort().map(code => {
    const [received, repaid] = (['receipt', 'repayment'] as const).map(
      wanted => summed(money.filter(each => each.account_code === code && each.kind === wanted)).amount,
    ) as [string, string]
    const account = code === null ? null : { code, name: store.accounts.find(code)?.name ?? code }
    return { account, received, repaid, balance: sum([received, `-${repaid}`]) }
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
    next: found.length > limit && last !== undefined ? cursorOf(last) : null,
    sums: {
      receipts: summed(of('receipt')),
      repayments: summed(of('repayment')),
      returns: {
        ...summed(returns),
        net: sum(returns.map(({ net }) => net)),
        tax: sum(returns.map(({ tax }) => tax)),
      },
      accounts: accountsOf(sums, store),
      types: typesOf(of('receipt')),
    },
  }
}
