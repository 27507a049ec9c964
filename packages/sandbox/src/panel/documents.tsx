import { Choice, Pager, parameter, SearchBox } from '@order-relay/web/filters.tsx'
import { decimal, serial, sum } from '@order-relay/web/format.ts'
import { queryOf } from '@order-relay/web/http.ts'
import {
  Chip,
  Code,
  type Column,
  Day,
  Empty,
  Facts,
  LinkButton,
  Minute,
  Name,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, type Route, route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { ACCOUNTS, documentsOf, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import {
  accountOptions,
  customerName,
  linkToOrder,
  PAYMENT_METHODS,
  RECEIPT_TYPES,
  StoreName,
} from './pieces.tsx'
import { Days, isPhone, SPREADSHEET, Today } from './sums.tsx'

type DocumentList = SchemaData<'DocumentList'>
type Document = DocumentList['documents'][number]
type AccountSums = DocumentList['sums']['accounts'][number]

const PAGE_SIZE = 50

const FILTERS = ['kind', 'account', 'q', 'days', 'from', 'to'] as const

const filterOf = ({ query }: Route) =>
  Object.fromEntries(FILTERS.map(name => [name, query.get(name)?.trim()]))

const nameOf = ({ kind, number }: Pick<Document, 'kind' | 'number'>) => {
  const about = { number: serial(number) }
  if (kind === 'receipt') return t('Receipt {number}', about)
  return kind === 'return' ? t('Sales return {number}', about) : t('Repayment {number}', about)
}

const KINDS = [
  ['', t('All')],
  ['receipt', t('Receipts')],
  ['return', t('Sales returns')],
  ['repayment', t('Repayments')],
] as const

const Tabs = () => {
  const current = route.value.query.get('kind') ?? ''
  return (
    <ul class="tabs row" aria-label={t('Documents by kind')} data-keeps-focus>
      {KINDS.map(([kind, label]) => (
        <li key={kind}>
          <a href={linkWith({ kind })} aria-current={kind === current ? 'true' : undefined}>
            {label}
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The rials of a document. What is cancelled does not count. */
const Rials = ({ amount, net, tax, cancelled_at }: Document) => {
  if (cancelled_at !== null) return <s>{decimal(amount)}</s>
  return (
    <>
      {decimal(amount)}
      {net !== null && <p class="small muted">{t('Net {net}', { net: decimal(net) })}</p>}
      {tax !== null && <p class="small muted">{t('Tax {tax}', { tax: decimal(tax) })}</p>}
    </>
  )
}

const COLUMNS: Column<Document>[] = [
  {
    label: t('Document'),
    cell: document => (
      <>
        <a href={linkToOrder(document, `${document.kind}-${document.number}`)}>{nameOf(document)}</a>{' '}
        {document.cancelled_at !== null && (
          <>
            <Chip tone="undone">{t('Cancelled')}</Chip>
            <p class="small muted plain">
              <Minute iso={document.cancelled_at} />
            </p>
          </>
        )}
      </>
    ),
  },
  {
    ...{ label: t('Date'), kind: 'nowrap' },
    cell: ({ date, created_at }) => (
      <>
        <Day date={date} />
        <p class="small muted">{t('Registered {when}', { when: <Minute iso={created_at} /> })}</p>
      </>
    ),
  },
  {
    label: t('Order'),
    kind: 'breaks',
    cell: document => (
      <>
        <Name>{document.external_id}</Name> <StoreName {...document} />
      </>
    ),
  },
  { label: t('Customer'), kind: 'breaks', cell: ({ customer }) => <Name>{customerName(customer)}</Name> },
  {
    label: t('Account'),
    cell: ({ kind, account, method, type }) =>
      kind !== 'return' && (
        <>
          {account === null ? t('None selected') : <Name>{account.name}</Name>}
          <p class="small muted">{method && PAYMENT_METHODS[method]}</p>
          {type && <p class="small muted">{t('Booked as: {type}', { type: RECEIPT_TYPES[type] })}</p>}
        </>
      ),
  },
  {
    label: t('Reference'),
    kind: 'breaks',
    cell: ({ reference }) => reference && <Code>{reference}</Code>,
  },
  {
    label: t('Reason'),
    kind: 'breaks',
    cell: ({ reason, cancel_reason }) => (
      <>
        {reason && <Name>{reason}</Name>}
        {cancel_reason && (
          <p class="small muted">{t('Cancelled: {reason}', { reason: <Name>{cancel_reason}</Name> })}</p>
        )}
      </>
    ),
  },
  { label: t('Amount in rials'), kind: 'number', cell: document => <Rials {...document} /> },
]

/** What came into each account, what was paid from it, and what remains. */
const accountColumns = ({ accounts, receipts, repayments }: DocumentList['sums']): Column<AccountSums>[] => [
  {
    label: t('Account'),
    cell: ({ account }) => <Name>{account?.name ?? t('None selected')}</Name>,
    foot: t('Sum'),
  },
  {
    ...{ label: t('Received'), kind: 'number', cell: ({ received }) => decimal(received) },
    foot: decimal(receipts.amount),
  },
  {
    ...{ label: t('Repaid'), kind: 'number', cell: ({ repaid }) => decimal(repaid) },
    foot: decimal(repayments.amount),
  },
  {
    ...{ label: t('Receipts less repayments'), kind: 'number', cell: ({ balance }) => decimal(balance) },
    foot: decimal(sum(...accounts.map(({ balance }) => balance))),
  },
]

const DAYS = [
  ['', t('Date of the document')],
  ['registration', t('Registration or cancellation')],
] as const

/** Documents that were registered or cancelled on the chosen days, but belong to other days. */
const OtherDates = ({ otherwise_dated: count }: Pick<DocumentList, 'otherwise_dated'>) => {
  if (count === 0) return null
  if (route.value.query.get('days') === 'registration')
    return (
      <p class="small muted">
        {t(
          '{count} of these documents {count|has|have} other dates. These sums are by registration, not those of the days.',
          { count },
        )}
      </p>
    )
  return (
    <div class="notice" data-tone="wait" data-keeps-focus>
      <p>
        {t(
          '{count} {count|document|documents} with other dates {count|was|were} registered or cancelled on these days and {count|is|are} not in these sums. {show}',
          { count, show: <a href={linkWith({ days: 'registration' })}>{t('Show by registration')}</a> },
        )}
      </p>
    </div>
  )
}

/** Days, account and sums of the list. */
const Sums = ({ sums, accounts }: Pick<DocumentList, 'sums'> & SchemaData<'AccountList'>) => (
  <details class="sums" open={!isPhone}>
    <summary>{t('Days, accounts and totals')}</summary>
    <div class="row">
      <search class="filters" data-keeps-focus>
        <Days />
        <div class="small">
          <span>{t('Days by')}</span>
          <Choice {...{ label: t('Days by'), ...parameter('days'), options: DAYS }} />
        </div>
        <div class="small">
          <span>{t('Account')}</span>
          <Choice
            {...{ label: t('Account'), ...parameter('account') }}
            options={[['', t('All accounts')], ...accountOptions(accounts)]}
          />
        </div>
      </search>
      <Today />
      <a
        class="button small"
        href={`/panel/documents.csv${queryOf({ ...filterOf(route.value), ...SPREADSHEET })}`}
        download
      >
        {t('Export CSV (for Excel)')}
      </a>
    </div>
    {sums.accounts.length > 0 && (
      <Table
        caption={t('Sums by account, in rials')}
        columns={accountColumns(sums)}
        rows={sums.accounts}
        keyOf={({ account }) => account?.code ?? ''}
      />
    )}
    <Facts
      facts={{
        [t('Number of receipts')]: decimal(sums.receipts.count),
        [t('Number of repayments')]: decimal(sums.repayments.count),
        [t('Number of sales returns')]: decimal(sums.returns.count),
        [t('Net of returns')]: decimal(sums.returns.net),
        [t('Tax of returns')]: decimal(sums.returns.tax),
        [t('Returned')]: decimal(sums.returns.amount),
      }}
    />
  </details>
)

/** Receipts, sales returns and repayments of all orders, by their own days, newest first. */
export const Documents = page(
  {
    title: () => t('Documents'),
    reads: route => ({
      list: documentsOf({ ...filterOf(route), before: route.query.get('cursor'), limit: PAGE_SIZE }),
      money: ACCOUNTS,
    }),
  },
  ({ list: { documents, next, sums, otherwise_dated }, money: { accounts } }) => (
    <>
      <PageHead>
        <search data-keeps-focus>
          <SearchBox
            label={t('Search by document, order, customer, mobile, reference, product or total')}
            placeholder={t('Search documents')}
          />
        </search>
      </PageHead>
      <Tabs />
      <Sums {...{ sums, accounts }} />
      <OtherDates {...{ otherwise_dated }} />
      <Table columns={COLUMNS} rows={documents} keyOf={({ kind, number }) => `${kind}-${number}`}>
        {FILTERS.some(name => route.value.query.has(name)) ? (
          <Empty title={t('No document matches')}>
            <LinkButton href={linkTo(['documents'])}>{t('Show all documents')}</LinkButton>
          </Empty>
        ) : (
          <Empty title={t('No documents yet')} />
        )}
      </Table>
      <Pager label={t('Pages of documents')} first={t('Newest')} cursor={next} />
    </>
  ),
)
