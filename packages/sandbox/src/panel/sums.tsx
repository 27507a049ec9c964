import { today } from '@order-relay/web/date-input.tsx'
import { DayChoice, parameter } from '@order-relay/web/filters.tsx'
import { Options } from '@order-relay/web/form.tsx'
import { decimal, formatDate, formatYear, sum } from '@order-relay/web/format.ts'
import { queryOf } from '@order-relay/web/http.ts'
import { choices, language } from '@order-relay/web/language.ts'
import { Facts } from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, type Route, replaceRoute, route } from '@order-relay/web/route.ts'
import type { SchemaData } from './api.ts'
import { t } from './persian.ts'

type OrderSums = SchemaData<'OrderSums'>

export const FILTERS = ['status', 'balance', 'source', 'q', 'from', 'to', 'sort', 'cursor'] as const

/** The filter, sorting and page in the address. */
export const filterOf = ({ query }: Route) => {
  const given = Object.fromEntries(FILTERS.map(name => [name, query.get(name)?.trim()]))
  const { cursor: before, sort, ...filter } = given
  return { before, sort, filter }
}

const DAYS = [
  ['from', t('First day')],
  ['to', t('Last day')],
] as const

const reversedIn = ({ from, to }: Partial<Record<string, string>>) =>
  Boolean(from && to && from > to) &&
  t('The first day, {from}, is after the last day, {to}', {
    from: formatDate(from ?? ''),
    to: formatDate(to ?? ''),
  })

const IGNORED = t('The list, totals and exports ignore this date.')

/** The first and last day of a list. */
export const Days = ({ ignored = IGNORED }: { ignored?: string }) => {
  const { filter } = filterOf(route.value)
  return DAYS.map(([name, label]) => (
    <DayChoice
      key={name}
      label={label}
      {...parameter(name)}
      check={date => reversedIn({ ...filter, [name]: date })}
      ignored={ignored}
    />
  ))
}

/** Limits a list to today. */
export const Today = () => {
  const day = today()
  const { from, to } = filterOf(route.value).filter
  return (
    <a
      class="button small"
      href={linkWith({ from: day, to: day })}
      aria-current={from === day && to === day ? 'true' : undefined}
      data-keeps-focus
    >
      {t('Today')}
    </a>
  )
}

export const BALANCES = [
  ['', t('All')],
  ['due', t('Due')],
  ['credit', t('Credit')],
  ['held', t('Held payments')],
] as const

export const SORTS = [
  ['', t('Newest first')],
  ['invoice_number', t('Oldest first')],
  ['-updated_at', t('Most recently changed first')],
  ['-date', t('Latest date first')],
  ['date', t('Earliest date first')],
  ['-total', t('Largest total first')],
  ['total', t('Smallest total first')],
] as const

/** The language and calendar of the export, if they are not the defaults of the service. */
export const SPREADSHEET = {
  language: language === 'fa' ? language : null,
  calendar: choices.calendar.chosen === 'persian' ? 'persian' : null,
}

type FiscalYear = SchemaData<'FiscalYear'>

const daysOf = ({ from, to }: Partial<Pick<FiscalYear, 'from' | 'to'>>) => `${from ?? ''}/${to ?? ''}`

/** The name of a fiscal year by its calendar years, such as `1405` or `2026–2027`, and whether it is closed. */
export const nameOfYear = ({ from, to, closed }: FiscalYear) => {
  const year = [...new Set([from, to].map(formatYear))].join('–')
  return closed ? t('{year} (closed)', { year }) : year
}

/** Chooses the first and last day of a fiscal year. */
const YearChoice = ({ years }: { years: readonly FiscalYear[] }) => (
  <label class="small">
    {t('Fiscal year')}
    <select
      value={daysOf(filterOf(route.value).filter)}
      onChange={({ currentTarget: { value } }) => {
        const [from = '', to = ''] = value.split('/')
        replaceRoute(linkWith({ from, to }))
      }}
    >
      <Options
        options={[
          [daysOf({}), t('All')],
          ...years.toReversed().map(year => [daysOf(year), nameOfYear(year)] as const),
          ...otherDays(years),
        ]}
      />
    </select>
  </label>
)

/** The chosen days, if they are not a fiscal year. */
const otherDays = (years: readonly FiscalYear[]) => {
  const days = daysOf(filterOf(route.value).filter)
  return [{}, ...years].some(year => daysOf(year) === days) ? [] : [[days, t('Other days')] as const]
}

/** On a phone, the orders come first. */
export const isPhone = matchMedia('(max-width: 50rem)').matches

/** Dates and sorting of the list, and the totals over all of its pages. */
export const Sums = ({ years, ...totals }: OrderSums['totals'] & { years: readonly FiscalYear[] }) => {
  const { count, finalized, drafts, ...sums } = totals
  const { sort, filter } = filterOf(route.value)
  const sorting = parameter('sort')
  const balance = parameter('balance')
  const exported = queryOf({ ...filter, sort, ...SPREADSHEET })
  return (
    <details class="sums" open={!isPhone}>
      <summary>{t('Dates, sorting and totals')}</summary>
      <div class="row">
        <search class="filters" data-keeps-focus>
          <YearChoice years={years} />
          <Days />
          <label class="small">
            {t('Balance')}
            <select value={balance.value} onChange={event => balance.onChoose(event.currentTarget.value)}>
              <Options options={BALANCES} />
            </select>
          </label>
          <label class="small">
            {t('Sort')}
            <select value={sorting.value} onChange={event => sorting.onChoose(event.currentTarget.value)}>
              <Options options={SORTS} />
            </select>
          </label>
        </search>
        <div class="row">
          <Today />
          <a class="button small" href={`/panel/orders.csv${exported}`} download>
            {t('Export CSV (for Excel)')}
          </a>
          <a class="button small" href={`/panel/rows.csv${exported}`} download>
            {t('Export invoice rows')}
          </a>
        </div>
        <Facts
          facts={{
            [t('Orders')]: decimal(count),
            [t('Net of finalized invoices')]: decimal(finalized.net),
            [t('Tax of finalized invoices')]: decimal(finalized.tax),
            [t('Finalized invoices')]: decimal(finalized.total),
            [t('Received')]: decimal(sums.received),
            [t('Returned')]: decimal(sums.returned),
            [t('Tax of returns')]: decimal(sums.returns.tax),
            [t('Tax after returns')]: decimal(sum(finalized.tax, `-${sums.returns.tax}`)),
            [t('Repaid')]: decimal(sums.repaid),
            [t('Due')]: decimal(sums.due),
            [t('Credit of buyers')]: decimal(sums.credit),
            [t('Drafts in review')]: decimal(drafts.total),
            [t('Held payments')]: decimal(sums.held),
          }}
        />
        <p class="small muted">
          {t('Returns count on the date of their order. For returns by their own date, see {documents}.', {
            documents: <a href={linkTo(['documents'], { kind: 'return' })}>{t('Documents')}</a>,
          })}
        </p>
      </div>
    </details>
  )
}
