import { documentIn, searching, wordsOf } from '../search.ts'
import type { Paid } from './documents.ts'
import { exactSum, type Sql } from './query.ts'

export const DOCUMENT_KINDS = ['receipt', 'return', 'repayment'] as const

export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

type Kept = { kind: DocumentKind; number: number; date: string }

/** A receipt, return or repayment with its order; cancelled ones are included. */
export type ListedDocument = Kept & {
  invoice_number: number
  method: Paid['method'] | null
  account_code: string | null
  account_name: string | null
  reference: string | null
  reason: string | null
  amount: string
  /** The parts of the amount of a return. */
  net: string | null
  tax: string | null
  cancelled_at: string | null
  source: string
  external_id: string
  customer_name: string
  national_id: string
  economic_code: string
}

/** A filter of documents; undefined fields match all. `from` and `to` are days of the documents. */
export type DocumentFilter = Partial<Record<'account' | 'from' | 'to' | 'q', string | undefined>> & {
  kind?: DocumentKind | undefined
}

/** The count and the exact sums of the documents of a kind in an account. */
export type DocumentSums = { kind: DocumentKind; account_code: string | null; count: number } & Record<
  'amount' | 'net' | 'tax',
  string
>

/** Without these indexes, the documents of a day are found by reading all. */
export const DOCUMENT_INDEXES = ['receipts', 'returns', 'repayments']
  .map(table => `CREATE INDEX IF NOT EXISTS ${table}_by_date ON ${table} (date, number)`)
  .join(';')

const partOfReturn = (column: string) =>
  `(SELECT sum_of(${column}) FROM return_rows WHERE return_number = returns.number) AS ${column}`

const PAYMENT = 'number, invoice_number, date, method, account_code, reference, NULL AS reason, amount'

const DOCUMENTS = `SELECT 'receipt' AS kind, ${PAYMENT}, NULL AS net, NULL AS tax, cancelled_at FROM receipts
  UNION ALL SELECT 'repayment', ${PAYMENT}, NULL, NULL, cancelled_at FROM repayments
  UNION ALL SELECT 'return', number, invoice_number, date, NULL, NULL, NULL, reason, amount,
    ${partOfReturn('net')}, ${partOfReturn('tax')}, cancelled_at FROM returns`

const CONDITIONS = {
  kind: 'kind = $kind',
  account: 'account_code = $account',
  from: 'date >= $from',
  to: 'date <= $to',
} as const

/** The condition of a word: a number is that of a document, too. */
const conditionOf = (word: string, sql: string, name: string) => {
  const document = documentIn(word)
  if (document !== undefined) return `kind = '${document.kind}' AND number = $${name}`
  const inOrder = `invoice_number IN (SELECT s.rowid FROM search s WHERE ${sql})`
  return /^\d{1,15}$/.test(word) ? `(number = ${word} OR ${inOrder})` : inOrder
}

const matching = ({ q = '', ...filter }: DocumentFilter) => {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  const words = wordsOf(q)
  const { sql, parameters } = searching(words)
  const conditions = [
    ...given.map(([name]) => CONDITIONS[name as keyof typeof CONDITIONS]),
    ...words.map((word, index) => conditionOf(word, sql[index] ?? '', `word${index}`)),
  ]
  return {
    where: ['true', ...conditions].join(' AND '),
    parameters: { ...(Object.fromEntries(given) as Record<string, string>), ...parameters },
  }
}

const NEWEST_FIRST = 'date DESC, kind DESC, number DESC'

export const documentList = ({ all }: Sql) => ({
  /** The newest matching documents, or those after another one. */
  page: (filter: DocumentFilter, { before, limit }: { before?: Kept | undefined; limit: number }) => {
    const { where, parameters } = matching(filter)
    const next =
      before === undefined ? '' : 'AND (date, kind, number) < ($last_date, $last_kind, $last_number)'
    return all<ListedDocument>(
      `SELECT d.*, a.name AS account_name, o.source, o.external_id, c.name AS customer_name, c.national_id, c.economic_code
       FROM (SELECT * FROM (${DOCUMENTS}) WHERE ${where} ${next} ORDER BY ${NEWEST_FIRST} LIMIT $limit) d
       JOIN orders o USING (invoice_number) JOIN customers c ON c.code = o.customer_code
       LEFT JOIN accounts a ON a.code = d.account_code
       ORDER BY ${NEWEST_FIRST}`,
      {
        ...{ ...parameters, limit },
        ...(before && { last_date: before.date, last_kind: before.kind, last_number: before.number }),
      },
    )
  },
  /** The matching documents that are not cancelled, by kind and account. */
  sums: (filter: DocumentFilter) => {
    const { where, parameters } = matching(filter)
    return all<DocumentSums>(
      `SELECT kind, account_code, count(*) AS count, ${['amount', 'net', 'tax'].map(exactSum)}
       FROM (${DOCUMENTS}) WHERE ${where} AND cancelled_at IS NULL GROUP BY kind, account_code`,
      parameters,
    )
  },
})
