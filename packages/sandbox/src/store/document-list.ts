import type { Clock } from '../clock.ts'
import { amountIn, documentIn, searching, wordsOf } from '../search.ts'
import { buyerField, JOIN_CLOSED } from './closed.ts'
import type { Paid, Receipt } from './documents.ts'
import { exactSum, type Sql } from './query.ts'

export const DOCUMENT_KINDS = ['receipt', 'return', 'repayment'] as const

export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

type Kept = { kind: DocumentKind; number: number; date: string }

/** A receipt, return or repayment with its order; cancelled ones are included. */
export type ListedDocument = Kept & {
  invoice_number: number
  method: Paid['method'] | null
  /** How a receipt is booked; null for other documents. */
  type: Receipt['type'] | null
  account_code: string | null
  account_name: string | null
  reference: string | null
  note: string | null
  reason: string | null
  amount: string
  /** The parts of the amount of a return. */
  net: string | null
  tax: string | null
  created_at: string
  cancelled_at: string | null
  cancel_reason: string | null
  source: string
  external_id: string
  customer_name: string
  national_id: string
  economic_code: string
}

/**
 * The meaning of the days of a filter: the dates of the documents, the days on which they were registered or cancelled, or the
 * dates of documents that were registered or cancelled later.
 */
export const DAYS = ['document', 'registration', 'later'] as const

/** A filter of documents; undefined fields match all. */
export type DocumentFilter = Partial<Record<'account' | 'from' | 'to' | 'q', string | undefined>> & {
  kind?: DocumentKind | undefined
  type?: Receipt['type'] | undefined
  days?: (typeof DAYS)[number] | undefined
}

/** The count and the exact sums of the documents of a kind and type in an account. */
export type DocumentSums = Pick<ListedDocument, 'kind' | 'type' | 'account_code'> & {
  count: number
} & Record<'amount' | 'net' | 'tax', string>

/** In a filter, no account. */
const NO_ACCOUNT = 'none'

const PAID_TEXTS = ['reference', 'note', 'cancel_reason']

/** The searchable columns of a document, in addition to the texts of its order. */
const OWN_TEXTS = { receipt: PAID_TEXTS, return: ['reason', 'cancel_reason'], repayment: PAID_TEXTS } as const

const ownText = (kind: DocumentKind) => `normalized(concat_ws(char(10), ${OWN_TEXTS[kind].join(', ')}))`

/** Without these indexes, a page of documents, a filter by day and a search would read all documents. */
export const DOCUMENT_INDEXES = DOCUMENT_KINDS.map(kind => [kind, `${kind}s`] as const)
  .flatMap(([kind, table]) => [
    `CREATE INDEX IF NOT EXISTS ${table}_by_text ON ${table} (${ownText(kind)})`,
    `CREATE INDEX IF NOT EXISTS ${table}_by_date ON ${table} (date, number)`,
    `CREATE INDEX IF NOT EXISTS ${table}_by_registration ON ${table} (created_at)`,
    `CREATE INDEX IF NOT EXISTS ${table}_by_cancellation ON ${table} (cancelled_at)`,
  ])
  .join(';')

const partOfReturn = (column: string) =>
  `(SELECT sum_of(${column}) FROM return_rows WHERE return_number = returns.number) AS ${column}`

const PAYMENT = 'number, invoice_number, date, method, account_code, reference, note, NULL AS reason, amount'
const REGISTERED = 'created_at, cancelled_at, cancel_reason'

const DOCUMENTS = [
  `SELECT 'receipt' AS kind, ${PAYMENT}, type, NULL AS net, NULL AS tax, ${REGISTERED} FROM receipts`,
  `SELECT 'repayment' AS kind, ${PAYMENT}, NULL AS type, NULL AS net, NULL AS tax, ${REGISTERED} FROM repayments`,
  `SELECT 'return' AS kind, number, invoice_number, date, NULL AS method, NULL AS account_code, NULL AS reference, NULL AS note,
     reason, amount, NULL AS type, ${partOfReturn('net')}, ${partOfReturn('tax')}, ${REGISTERED} FROM returns`,
]

const ALL = `(${DOCUMENTS.join(' UNION ALL ')})`

const CONDITIONS = {
  kind: 'kind = $kind',
  type: 'type = $type',
  account: `(account_code = $account OR ($account = '${NO_ACCOUNT}' AND kind = 'receipt' AND account_code IS NULL))`,
} as const

const DATED = { from: 'date >= $from', to: 'date <= $to' } as const

/** The conditions of a document that is dated on these days. */
const dated = ({ from, to }: DocumentFilter) =>
  [from !== undefined && DATED.from, to !== undefined && DATED.to].filter(each => each !== false)

/** The condition of a document that was registered or cancelled on these days. */
const changed = ({ from, to }: DocumentFilter) => {
  const within = (time: string) =>
    [`${time} IS NOT NULL`, from !== undefined && `${time} >= $since`, to !== undefined && `${time} < $until`]
      .filter(each => each !== false)
      .join(' AND ')
  return `(${within('created_at')} OR ${within('cancelled_at')})`
}

/** The conditions of a document that is dated on these days, and was registered or cancelled after them. */
const late = (filter: DocumentFilter) => [
  ...dated(filter),
  // Without a last day, nothing is later.
  filter.to === undefined ? 'false' : '(created_at >= $until OR cancelled_at >= $until)',
]

const isInvoice = (word: string) => /^#\d+$/.test(word)

/** Selects the documents with a text in their own columns. */
const WITH_TEXT = DOCUMENT_KINDS.map(
  kind =>
    `SELECT '${kind}', number FROM ${kind}s INDEXED BY ${kind}s_by_text WHERE instr(${ownText(kind)}, $own)`,
).join(' UNION ALL ')

/** The condition that a document or its order matches a word. A number also matches the document's number and amount. */
const conditionOf = (word: string, sql: string, name: string) => {
  const document = documentIn(word)
  if (document !== undefined) return `kind = '${document.kind}' AND number = $${name}`
  const inOrder = `invoice_number IN (SELECT s.rowid FROM search s WHERE ${sql})`
  if (isInvoice(word)) return inOrder
  const own = [
    `(kind, number) IN (${WITH_TEXT.replaceAll('$own', `$own_${name}`)})`,
    ...(amountIn(word) === undefined
      ? []
      : [`number = CAST($digits_${name} AS INTEGER)`, `amount = $digits_${name}`]),
  ]
  return `(${[inOrder, ...own].join(' OR ')})`
}

/** The parameters of {@link conditionOf}, except that for the order. */
const ownParameters = (word: string, name: string) => {
  if (documentIn(word) !== undefined || isInvoice(word)) return {}
  const digits = amountIn(word)
  return { [`own_${name}`]: word, ...(digits !== undefined && { [`digits_${name}`]: digits }) }
}

/** The given values of a filter. */
const given = (values: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )

/** The conditions of a filter in SQL, without its days, and the parameters. */
const matching = ({ q = '', kind, type, account }: DocumentFilter) => {
  const parameters = given({ kind, type, account })
  const words = wordsOf(q)
  const searched = searching(words, 'document')
  const own = words.map((word, index) => ownParameters(word, `word${index}`))
  return {
    conditions: [
      ...Object.keys(parameters).map(name => CONDITIONS[name as keyof typeof CONDITIONS]),
      ...words.map((word, index) => conditionOf(word, searched.sql[index] ?? '', `word${index}`)),
    ],
    parameters: { ...parameters, ...searched.parameters, ...Object.assign({}, ...own) },
  }
}

/** The times at which the days of a filter begin and end. */
const timesOf = ({ from, to }: DocumentFilter, { beginningOf }: Clock) => ({
  since: from && beginningOf(from),
  until: to && beginningOf(to, 1),
})

/** The documents of a filter in SQL, and the parameters. */
const found = (filter: DocumentFilter, clock: Clock) => {
  const { conditions, parameters } = matching(filter)
  const { from, to, days = 'document' } = filter
  const { since, until } = timesOf(filter, clock)
  const [ofDays, values] = {
    document: [dated(filter), { from, to }] as const,
    registration: [[changed(filter)], { since, until }] as const,
    later: [late(filter), { from, to, until }] as const,
  }[days]
  return {
    where: ['true', ...conditions, ...ofDays].join(' AND '),
    parameters: { ...parameters, ...given(values) },
  }
}

const NEWEST_FIRST = 'date DESC, kind DESC, number DESC'

export const documentList = ({ one, all }: Sql, clock: Clock) => ({
  /** The first receipt with this reference, except a given one and cancelled ones. */
  withReference: (reference: string, except: number) =>
    one<Pick<ListedDocument, 'number' | 'external_id'>>(
      `SELECT number, external_id FROM receipts JOIN orders USING (invoice_number)
       WHERE reference = ? AND number <> ? AND cancelled_at IS NULL ORDER BY number LIMIT 1`,
      reference,
      except,
    ),
  /** The newest matching documents, or those after another one. */
  page: (filter: DocumentFilter, { before, limit }: { before?: Kept | undefined; limit: number }) => {
    const { where, parameters } = found(filter, clock)
    const next =
      before === undefined ? '' : 'AND (date, kind, number) < ($last_date, $last_kind, $last_number)'
    // From each table, so that its index is read only up to the limit.
    const newest = DOCUMENTS.map(
      documents =>
        `SELECT * FROM (${documents} WHERE ${where} ${next} ORDER BY date DESC, number DESC LIMIT $limit)`,
    )
    return all<ListedDocument>(
      `SELECT d.*, a.name AS account_name, o.source, o.external_id, ${buyerField('name')} AS customer_name,
         ${buyerField('nationalId', 'national_id')} AS national_id,
         ${buyerField('economicCode', 'economic_code')} AS economic_code
       FROM (SELECT * FROM (${newest.join(' UNION ALL ')}) ORDER BY ${NEWEST_FIRST} LIMIT $limit) d
       JOIN orders o USING (invoice_number) JOIN customers c ON c.code = o.customer_code ${JOIN_CLOSED}
       LEFT JOIN accounts a ON a.code = d.account_code
       ORDER BY ${NEWEST_FIRST}`,
      {
        ...parameters,
        limit,
        ...(before && { last_date: before.date, last_kind: before.kind, last_number: before.number }),
      },
    )
  },
  /** The matching documents that are not cancelled, by kind, type and account. */
  sums: (filter: DocumentFilter) => {
    const { where, parameters } = found(filter, clock)
    return all<DocumentSums>(
      `SELECT kind, type, account_code, count(*) AS count, ${['amount', 'net', 'tax'].map(exactSum)}
       FROM ${ALL} WHERE ${where} AND cancelled_at IS NULL GROUP BY kind, type, account_code`,
      parameters,
    )
  },
  /** The number of matching documents that were registered or cancelled on the days of the filter, but have other dates. */
  countOtherwiseDated: (filter: DocumentFilter) => {
    const { from, to } = filter
    if (from === undefined && to === undefined) return 0
    const { conditions, parameters } = matching(filter)
    const where = [...conditions, changed(filter), `NOT (${dated(filter).join(' AND ')})`].join(' AND ')
    const [row] = all<{ count: number }>(`SELECT count(*) AS count FROM ${ALL} WHERE ${where}`, {
      ...parameters,
      ...given({ from, to, ...timesOf(filter, clock) }),
    })
    return row?.count ?? 0
  },
  /** The number of matching documents dated on the days of the filter that were registered or cancelled later. */
  countLate: (filter: DocumentFilter) => {
    const { where, parameters } = found({ ...filter, days: 'later' }, clock)
    const [row] = all<{ count: number }>(`SELECT count(*) AS count FROM ${ALL} WHERE ${where}`, parameters)
    return row?.count ?? 0
  },
})
