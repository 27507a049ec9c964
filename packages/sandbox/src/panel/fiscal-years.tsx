import { today } from '@order-relay/web/date-input.tsx'
import { ask } from '@order-relay/web/dialog.tsx'
import type { Values } from '@order-relay/web/form-values.ts'
import { formatDate } from '@order-relay/web/format.ts'
import { queryOf, request } from '@order-relay/web/http.ts'
import { listed } from '@order-relay/web/language.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button, Chip, type Column, DayInBoth, Empty, Section, Table } from '@order-relay/web/pieces.tsx'
import { fiscalYear } from '../panel-requests.ts'
import { change, type SchemaData } from './api.ts'
import { issuesOf } from './issues.ts'
import { t } from './persian.ts'

type FiscalYear = SchemaData<'FiscalYear'>

const inWords = ({ from, to }: Pick<FiscalYear, 'from' | 'to'>) =>
  t('{from} to {to}', { from: formatDate(from), to: formatDate(to) })

const yearOf = ({ date }: Values) => ({ from: date('from'), to: date('to') })

const askForYear = () =>
  ask({
    title: t('Add a fiscal year'),
    action: t('Add'),
    fields: [
      { name: 'from', label: t('First day'), kind: 'date' },
      { name: 'to', label: t('Last day'), kind: 'date' },
    ],
    check: values => issuesOf(fiscalYear, yearOf(values)),
    submit: async values => {
      const year = yearOf(values)
      await change('PUT', 'fiscal-years?new=true', year)
      toast(t('Added {year}', { year: inWords(year) }))
    },
  })

/** The effect on stores of closing or removing the current fiscal year; empty for any other fiscal year. */
const todayIn = ({ from, to }: FiscalYear) =>
  from <= today() && today() <= to
    ? t('It includes today: new orders of stores, which have today’s date by default, will be refused.')
    : ''

/** Lists the documents of a fiscal year and explains the effect of closing it; undefined if it has none. */
const closingOf = async (year: FiscalYear) => {
  const { from, to } = year
  const [{ totals }, { sums, documents }] = await Promise.all([
    request<SchemaData<'OrderSums'>>('GET', `/panel/sums${queryOf({ from, to })}`),
    request<SchemaData<'DocumentList'>>('GET', `/panel/documents${queryOf({ from, to, limit: 1 })}`),
  ])
  if (totals.count === 0 && documents.length === 0) return undefined
  const { receipts, returns, repayments } = sums
  const orders = { orders: totals.count, drafts: totals.drafts.count }
  const contents = [
    totals.count > 0 && t('{orders} {orders|order|orders} ({drafts} in review)', orders),
    receipts.count > 0 && t('{count} {count|receipt|receipts}', receipts),
    returns.count > 0 && t('{count} {count|sales return|sales returns}', returns),
    repayments.count > 0 && t('{count} {count|repayment|repayments}', repayments),
  ].filter(each => each !== false)
  return [
    t('It contains: {contents}.', { contents: listed(contents) }),
    t('New orders dated {year} will be refused, and drafts stay in review.', { year: inWords(year) }),
    todayIn(year),
    t('Finalized invoices and these documents stay as they are, and can be neither corrected nor cancelled.'),
    t(
      'Stores can still register refunds of finalized invoices, and payments without a date. To cancel such a document that is dated in this year, reopen the year.',
    ),
    t('The fiscal year stays in the filter of orders, and can be reopened.'),
  ]
    .filter(each => each !== '')
    .join(' ')
}

/** Closes a fiscal year, or removes it if it has no documents. */
const askToClose = (year: FiscalYear, years: readonly FiscalYear[]) =>
  attempt(async () => {
    const text = await closingOf(year)
    const about = { year: inWords(year) }
    ask({
      ...(text === undefined
        ? {
            title: t('Remove this fiscal year?'),
            action: t('Remove'),
            text: `${t('It contains no documents.')} ${todayIn(year)}`,
          }
        : { title: t('Close this fiscal year?'), action: t('Close the year'), text }),
      tone: 'bad',
      submit: async () => {
        // If it has documents, the service closes it instead of removing it.
        await change('PUT', 'fiscal-years', { fiscalYears: years.filter(each => each !== year) })
        toast(text === undefined ? t('Removed {year}', about) : t('Closed {year}', about))
      },
    })
  })

const askToReopen = ({ from, to }: FiscalYear) =>
  ask({
    title: t('Reopen this fiscal year?'),
    action: t('Reopen'),
    text: t(
      'Its documents can be corrected and cancelled again, and its invoices show the current details of seller and buyer.',
    ),
    submit: async () => {
      await change('PUT', 'fiscal-years', { from, to })
      toast(t('Reopened {year}', { year: inWords({ from, to }) }))
    },
  })

const yearColumns = (years: readonly FiscalYear[]): Column<FiscalYear>[] => [
  { label: t('First day'), kind: 'plain', cell: ({ from }) => <DayInBoth date={from} /> },
  { label: t('Last day'), cell: ({ to }) => <DayInBoth date={to} /> },
  {
    label: t('Status'),
    cell: ({ closed }) =>
      closed ? <Chip tone="undone">{t('Closed')}</Chip> : <Chip tone="good">{t('Open')}</Chip>,
  },
  {
    label: t('Actions'),
    kind: 'buttons',
    isBare: true,
    cell: year =>
      year.closed ? (
        <Button
          kind="small"
          label={t('Reopen {year}', { year: inWords(year) })}
          onClick={() => askToReopen(year)}
        >
          {t('Reopen')}
        </Button>
      ) : (
        <Button
          kind="small"
          label={t('Close or remove {year}', { year: inWords(year) })}
          onClick={() => askToClose(year, years)}
        >
          {t('Close or remove')}
        </Button>
      ),
  },
]

/** The fiscal years of order dates. */
export const FiscalYears = ({ years }: { years: readonly FiscalYear[] }) => (
  <Section
    id="fiscal-years"
    title={t('Fiscal years')}
    aside={<Button onClick={askForYear}>{t('Add fiscal year')}</Button>}
  >
    <Table columns={yearColumns(years)} rows={years} keyOf={({ from, to }) => `${from}/${to}`}>
      <Empty title={t('No fiscal years')}>
        <p>{t('Every order is refused until one is added.')}</p>
      </Empty>
    </Table>
  </Section>
)
