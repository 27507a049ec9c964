import { Choice, parameter } from '@order-relay/web/filters.tsx'
import { decimal, sum } from '@order-relay/web/format.ts'
import { queryOf } from '@order-relay/web/http.ts'
import { Button, Chip, type Column, Facts, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkWith, type Route, route } from '@order-relay/web/route.ts'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'
import { accountOptions, RECEIPT_TYPES } from './pieces.tsx'
import { Days, isPhone, SPREADSHEET, Today } from './sums.tsx'

type DocumentList = SchemaData<'DocumentList'>
type AccountSums = DocumentList['sums']['accounts'][number]
type TypeSums = DocumentList['sums']['types'][number]
type Accounts = SchemaData<'AccountList'>['accounts']

export const FILTERS = ['kind', 'type', 'account', 'q', 'days', 'from', 'to'] as const

/** The filter in the address. */
export const filterOf = ({ query }: Route) =>
  Object.fromEntries(FILTERS.map(name => [name, query.get(name)?.trim()]))

export const KINDS = [
  ['', t('All')],
  ['receipt', t('Receipts')],
  ['return', t('Sales returns')],
  ['repayment', t('Repayments')],
] as const

/** Whether a balance is negative and belongs to a cash box. A bank account may be overdrawn. */
const isShort = ({ account }: AccountSums, balance: string | null, all: Accounts) =>
  balance?.startsWith('-') === true && all.find(({ code }) => code === account?.code)?.kind === 'cash'

/** The balances before or after the days of the list. No column if the list has only some documents of an account. */
const balanceColumn = (
  label: string,
  accounts: readonly AccountSums[],
  of: (account: AccountSums) => string | null,
  all: Accounts,
): Column<AccountSums>[] => {
  const balances = accounts.flatMap(account => of(account) ?? [])
  if (balances.length === 0) return []
  const cell = (account: AccountSums) => {
    const balance = of(account) ?? ''
    if (!isShort(account, balance, all)) return decimal(balance)
    return (
      <>
        <Chip tone="bad">{t('Negative')}</Chip> {decimal(balance)}
      </>
    )
  }
  return [{ label, kind: 'number', cell, foot: decimal(sum(...balances)) }]
}

/** The names of the balances before and after the days of the list. */
const balanceNames = () => {
  const { from, to } = filterOf(route.value)
  return from && from === to
    ? [t('Balance at the start of the day'), t('Balance at the end of the day')]
    : [t('Opening balance'), t('Closing balance')]
}

/** The opening balance, receipts, repayments and closing balance of each account. */
const accountColumns = (
  { accounts, receipts, repayments }: DocumentList['sums'],
  all: Accounts,
  [opening = '', closing = '']: readonly string[],
): Column<AccountSums>[] => [
  {
    label: t('Account'),
    cell: ({ account }) => <Name>{account?.name ?? t('None selected')}</Name>,
    foot: t('Sum'),
  },
  ...balanceColumn(opening, accounts, ({ opening }) => opening, all),
  {
    label: t('Received'),
    kind: 'number',
    cell: ({ received }) => decimal(received),
    foot: decimal(receipts.amount),
  },
  {
    label: t('Repaid'),
    kind: 'number',
    cell: ({ repaid }) => decimal(repaid),
    foot: decimal(repayments.amount),
  },
  {
    label: t('Receipts less repayments'),
    kind: 'number',
    cell: ({ balance }) => decimal(balance),
    foot: decimal(sum(...accounts.map(({ balance }) => balance))),
  },
  ...balanceColumn(closing, accounts, ({ closing }) => closing, all),
]

/** What was received by each type of receipt. */
const typeColumns = ({ receipts }: DocumentList['sums']): Column<TypeSums>[] => [
  { label: t('Booked as'), cell: ({ type }) => RECEIPT_TYPES[type], foot: t('Sum') },
  {
    label: t('Number of receipts'),
    kind: 'number',
    cell: ({ count }) => decimal(count),
    foot: decimal(receipts.count),
  },
  {
    label: t('Received'),
    kind: 'number',
    cell: ({ amount }) => decimal(amount),
    foot: decimal(receipts.amount),
  },
]

export const TYPES = [
  ['', t('All')],
  ['cash', RECEIPT_TYPES.cash],
  ['pos', RECEIPT_TYPES.pos],
  ['transfer', RECEIPT_TYPES.transfer],
] as const

export const DAYS = [
  ['', t('Date of the document')],
  ['registration', t('Registration or cancellation')],
  ['later', t('Date of the document, registered or cancelled later')],
] as const

/** Documents that were registered or cancelled on the chosen days, but belong to other days. */
export const OtherDates = ({ otherwise_dated: count }: Pick<DocumentList, 'otherwise_dated'>) => {
  if (count === 0) return null
  if (route.value.query.get('days') === 'registration')
    return (
      <p class="small muted">
        {t(
          '{count} of these documents {count|has|have} other dates. These sums are by date of registration, not by date of the document.',
          { count },
        )}
      </p>
    )
  return (
    <div class="notice on-paper" data-tone="wait" data-keeps-focus>
      <p>
        {t(
          '{count} {count|document|documents} with other dates {count|was|were} registered or cancelled on these days and {count|is|are} not in these sums. {show}',
          { count, show: <a href={linkWith({ days: 'registration' })}>{t('Show by registration')}</a> },
        )}
      </p>
    </div>
  )
}

/** Notes documents of the chosen days that were registered or cancelled later: an earlier list of these days lacks them. */
export const LateChanges = ({ changed_later: count }: Pick<DocumentList, 'changed_later'>) =>
  count > 0 &&
  (route.value.query.get('days') === 'later' ? (
    <p class="small muted">
      {t('These sums include only documents that were registered or cancelled after these days.')}
    </p>
  ) : (
    <div class="notice on-paper" data-tone="wait" data-keeps-focus>
      <p>
        {t(
          '{count} {count|document|documents} of these days {count|was|were} registered or cancelled later, so an earlier list of these days shows different sums. {show}',
          { count, show: <a href={linkWith({ days: 'later' })}>{t('Show them')}</a> },
        )}
      </p>
    </div>
  ))

/** The cash boxes that are negative after the days of the list. */
export const NegativeBoxes = ({ sums, accounts }: Pick<DocumentList, 'sums'> & SchemaData<'AccountList'>) =>
  sums.accounts
    .filter(account => isShort(account, account.closing, accounts))
    .map(({ account, closing }) => (
      <div key={account?.code} class="notice on-paper" data-tone="bad">
        <p>
          {t(
            'The cash box {account} has {balance} rials. A cash box cannot be negative: a receipt or the opening balance is missing, a payment is still held, or a repayment was registered by mistake.',
            { account: <Name>{account?.name ?? ''}</Name>, balance: decimal(closing ?? '') },
          )}
        </p>
      </div>
    ))

/** A sum, left out if there is none. */
const nonzero = (value: string | number) => Number(value) !== 0 && decimal(value)

type SumsProps = Pick<DocumentList, 'sums'> &
  SchemaData<'AccountList'> & {
    onPrint: () => Promise<void>
    /** Shows all sums. */
    isPrinted: boolean
  }

/** Days, type, account and sums of the list. */
export const Sums = ({ sums, accounts, onPrint, isPrinted }: SumsProps) => (
  <details class="sums" open={!isPhone}>
    <summary>{t('Days, accounts and totals')}</summary>
    <div class="row">
      <search class="filters" data-keeps-focus>
        <Days />
        <div class="small">
          <span>{t('Date basis')}</span>
          <Choice label={t('Date basis')} {...parameter('days')} options={DAYS} />
        </div>
        <div class="small">
          <span>{t('Account')}</span>
          <Choice
            label={t('Account')}
            {...parameter('account')}
            options={[['', t('All accounts')], ...accountOptions(accounts), ['none', t('None selected')]]}
          />
        </div>
        <div class="small">
          <span>{t('Booked as')}</span>
          <Choice label={t('Booked as')} {...parameter('type')} options={TYPES} />
        </div>
      </search>
      <div class="row">
        <Today />
        <a
          class="button small"
          href={`/panel/documents.csv${queryOf({ ...filterOf(route.value), ...SPREADSHEET })}`}
          download
        >
          {t('Export CSV (for Excel)')}
        </a>
        <Button kind="small" label={t('Print all documents of this filter')} onClick={onPrint}>
          {t('Print')}
        </Button>
      </div>
    </div>
    <Facts
      facts={{
        [t('Number of receipts')]: nonzero(sums.receipts.count),
        [t('Received')]: nonzero(sums.receipts.amount),
        [t('Number of repayments')]: nonzero(sums.repayments.count),
        [t('Repaid')]: nonzero(sums.repayments.amount),
        [t('Number of sales returns')]: nonzero(sums.returns.count),
        [t('Net of returns')]: nonzero(sums.returns.net),
        [t('Tax of returns')]: nonzero(sums.returns.tax),
        [t('Returned')]: nonzero(sums.returns.amount),
      }}
    />
    {sums.accounts.length + sums.types.length > 0 && (
      <details open={isPrinted}>
        <summary>{t('Sums by account and type of receipt')}</summary>
        <div class="sides">
          {sums.accounts.length > 0 && (
            <Table
              caption={t('Sums by account, in rials')}
              columns={accountColumns(sums, accounts, balanceNames())}
              rows={sums.accounts}
              keyOf={({ account }) => account?.code ?? ''}
            />
          )}
          {sums.types.length > 0 && (
            <Table
              caption={t('Sums by type of receipt, in rials')}
              columns={typeColumns(sums)}
              rows={sums.types}
              keyOf={({ type }) => type}
            />
          )}
        </div>
      </details>
    )}
  </details>
)
