import { ask } from '@order-relay/web/dialog.tsx'
import { formatDate } from '@order-relay/web/format.ts'
import { queryOf, request } from '@order-relay/web/http.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button, buttons, type Column, DayInBoth, Empty, Section, Table } from '@order-relay/web/pieces.tsx'
import { change, type SchemaData } from './api.ts'
import { t } from './persian.ts'

type FiscalYear = SchemaData<'FiscalYear'>

const inWords = ({ from, to }: FiscalYear) =>
  t('{from} to {to}', { from: formatDate(from), to: formatDate(to) })

const askForYear = () =>
  ask({
    title: t('Add a fiscal year'),
    action: t('Add'),
    fields: [
      { name: 'from', label: t('First day'), kind: 'date' },
      { name: 'to', label: t('Last day'), kind: 'date' },
    ],
    submit: async values => {
      const year = { from: values.date('from'), to: values.date('to') }
      await change('PUT', 'fiscal-years?new=true', year)
      toast(t('Added {year}', { year: inWords(year) }))
    },
  })

/** Says what is dated in a fiscal year, and what its removal means. */
const removalOf = async (year: FiscalYear) => {
  const { from, to } = year
  const [{ totals }, { sums }] = await Promise.all([
    request<SchemaData<'OrderSums'>>('GET', `/panel/sums${queryOf({ from, to })}`),
    request<SchemaData<'DocumentList'>>('GET', `/panel/documents${queryOf({ from, to, limit: 1 })}`),
  ])
  const { receipts, returns, repayments } = sums
  return [
    t(
      'It has {orders} {orders|order|orders}, {drafts} in review, and {documents} {documents|receipt, sales return or repayment|receipts, sales returns and repayments}.',
      {
        ...{ orders: totals.count, drafts: totals.drafts.count },
        documents: receipts.count + returns.count + repayments.count,
      },
    ),
    t('New orders dated {year} will be refused, and drafts stay in review.', { year: inWords(year) }),
    t('Finalized invoices and these documents stay as they are, and can be neither corrected nor cancelled.'),
  ].join(' ')
}

const askToRemove = (year: FiscalYear, years: readonly FiscalYear[]) =>
  attempt(async () =>
    ask({
      title: t('Remove this fiscal year?'),
      action: t('Remove'),
      tone: 'bad',
      text: await removalOf(year),
      submit: async () => {
        await change('PUT', 'fiscal-years', { fiscalYears: years.filter(each => each !== year) })
        toast(t('Removed {year}', { year: inWords(year) }))
      },
    }),
  )

const yearColumns = (years: readonly FiscalYear[]): Column<FiscalYear>[] => [
  { label: t('First day'), kind: 'plain', cell: ({ from }) => <DayInBoth date={from} /> },
  { label: t('Last day'), cell: ({ to }) => <DayInBoth date={to} /> },
  buttons<FiscalYear>([
    t('Remove'),
    year => t('Remove {year}', { year: inWords(year) }),
    year => askToRemove(year, years),
  ]),
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
