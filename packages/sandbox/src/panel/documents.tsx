import { Pager, SearchBox } from '@order-relay/web/filters.tsx'
import { decimal, serial } from '@order-relay/web/format.ts'
import {
  Chip,
  Code,
  type Column,
  Day,
  Empty,
  LinkButton,
  Minute,
  Name,
  Table,
} from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { ACCOUNTS, documentsOf, type SchemaData, SELLER } from './api.ts'
import { DocumentsHead, useSheet } from './day-sheet.tsx'
import { FILTERS, filterOf, KINDS, LateChanges, NegativeBoxes, OtherDates, Sums } from './document-sums.tsx'
import { t } from './persian.ts'
import { customerName, Future, linkToOrder, PAYMENT_METHODS, RECEIPT_TYPES, StoreName } from './pieces.tsx'

type DocumentList = SchemaData<'DocumentList'>
type Document = DocumentList['documents'][number]

const PAGE_SIZE = 50

const nameOf = ({ kind, number }: Pick<Document, 'kind' | 'number'>) => {
  const about = { number: serial(number) }
  if (kind === 'receipt') return t('Receipt {number}', about)
  return kind === 'return' ? t('Sales return {number}', about) : t('Repayment {number}', about)
}

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
    label: t('Date'),
    kind: 'nowrap',
    cell: ({ date, created_at }) => (
      <>
        <Day date={date} /> <Future date={date} />
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
    label: t('Reason or note'),
    kind: 'breaks',
    cell: ({ reason, note, cancel_reason }) => (
      <>
        {(reason || note) && <Name>{reason || note}</Name>}
        {cancel_reason && (
          <p class="small muted">{t('Cancelled: {reason}', { reason: <Name>{cancel_reason}</Name> })}</p>
        )}
      </>
    ),
  },
  { label: t('Amount in rials'), kind: 'number', cell: document => <Rials {...document} /> },
]

/** Receipts, sales returns and repayments of all orders, by their own days, newest first. */
export const Documents = page(
  {
    title: () => t('Documents'),
    reads: route => ({
      list: documentsOf({ ...filterOf(route), before: route.query.get('cursor'), limit: PAGE_SIZE }),
      money: ACCOUNTS,
      seller: SELLER,
    }),
  },
  ({ list, money: { accounts }, seller }) => {
    const { sheet, print } = useSheet()
    const { documents, next, sums, otherwise_dated, changed_later } = sheet ?? list
    const isPart = next !== null || (sheet === undefined && route.value.query.has('cursor'))
    return (
      <>
        <PageHead>
          <search data-keeps-focus>
            <SearchBox
              label={t(
                'Search by document, order, customer, mobile, product, amount, reference, note or reason',
              )}
              placeholder={t('Search documents')}
            />
          </search>
        </PageHead>
        <DocumentsHead accounts={accounts} seller={seller} shown={isPart ? documents.length : undefined} />
        <Tabs />
        <Sums sums={sums} accounts={accounts} onPrint={print} isPrinted={sheet !== undefined} />
        <OtherDates otherwise_dated={otherwise_dated} />
        <LateChanges changed_later={changed_later} />
        <NegativeBoxes sums={sums} accounts={accounts} />
        <Table
          kind="documents"
          columns={COLUMNS}
          rows={documents}
          keyOf={({ kind, number }) => `${kind}-${number}`}
        >
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
    )
  },
)
