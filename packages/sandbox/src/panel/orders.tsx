import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import { DayChoice, Pager, parameter, SearchBox, StoreChoice } from '@order-relay/web/filters.tsx'
import { Options } from '@order-relay/web/form.tsx'
import { decimal, serial } from '@order-relay/web/format.ts'
import { queryOf } from '@order-relay/web/http.ts'
import { Id } from '@order-relay/web/id.tsx'
import { choices, language } from '@order-relay/web/language.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { type Column, Command, Day, Empty, Facts, LinkButton, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, type Route, route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import { ordersOf, type SchemaData, sumsOf } from './api.ts'
import { t } from './persian.ts'
import { linkToOrder, OrderStatus, StoreName } from './pieces.tsx'
import { CHOICE, Retries } from './retry.tsx'

type OrderList = SchemaData<'OrderList'>
type OrderSums = SchemaData<'OrderSums'>
type Summary = OrderList['orders'][number]

const PAGE_SIZE = 50
const FILTERS = ['status', 'source', 'q', 'from', 'to', 'sort', 'cursor'] as const

const filterOf = ({ query }: Route) => {
  const given = Object.fromEntries(FILTERS.map(name => [name, query.get(name)?.trim()]))
  const { cursor: before, sort, ...filter } = given
  return { before, sort, filter }
}

const keyOf = ({ source, external_id }: Summary) => `${source}/${external_id}`

const DAYS = [
  ['from', t('First day')],
  ['to', t('Last day')],
] as const

const isReversed = ({ from, to }: Partial<Record<string, string>>) => Boolean(from && to && from > to)

const SORTS = [
  ['', t('Newest first')],
  ['invoice_number', t('Oldest first')],
  ['-updated_at', t('Most recently changed first')],
  ['-date', t('Latest date first')],
  ['date', t('Earliest date first')],
  ['-total', t('Largest total first')],
  ['total', t('Smallest total first')],
] as const

/** The language and calendar of the export, if they are not the defaults of the service. */
const SPREADSHEET = {
  language: language === 'fa' ? language : null,
  calendar: choices.calendar.chosen === 'persian' ? 'persian' : null,
}

/** On a phone, the orders come first. */
const isPhone = matchMedia('(max-width: 50rem)').matches

/** Dates and sorting of the list, and the totals over all of its pages. */
const Sums = ({ count, finalized, drafts, ...sums }: OrderSums['totals']) => {
  const { sort, filter } = filterOf(route.value)
  const sorting = parameter('sort')
  return (
    <details class="sums" open={!isPhone}>
      <summary>{t('Dates, sorting and totals')}</summary>
      <div class="row">
        <search class="filters" data-keeps-focus>
          {DAYS.map(([name, label]) => (
            <DayChoice
              {...{ key: name, label, ...parameter(name) }}
              check={date =>
                isReversed({ ...filter, [name]: date }) && t('The first day is after the last day')
              }
            />
          ))}
          <label class="small">
            {t('Sort')}
            <select value={sorting.value} onChange={event => sorting.onChoose(event.currentTarget.value)}>
              <Options options={SORTS} />
            </select>
          </label>
        </search>
        <a
          class="button small"
          href={`/panel/orders.csv${queryOf({ ...filter, sort, ...SPREADSHEET })}`}
          download
        >
          {t('Export CSV (for Excel)')}
        </a>
        <Facts
          facts={{
            [t('Orders')]: decimal(count),
            [t('Net of finalized invoices')]: decimal(finalized.net),
            [t('Tax of finalized invoices')]: decimal(finalized.tax),
            [t('Finalized invoices')]: decimal(finalized.total),
            [t('Received')]: decimal(sums.received),
            [t('Returned')]: decimal(sums.returned),
            [t('Due')]: decimal(sums.due),
            [t('Drafts in review')]: decimal(drafts.total),
          }}
        />
      </div>
    </details>
  )
}

const Tabs = ({ counts }: Pick<OrderSums, 'counts'>) => {
  const current = route.value.query.get('status') ?? ''
  const all = STATUSES.reduce((count, status) => count + counts[status], 0)
  const tabs = [
    ['', t('All'), all] as const,
    ...STATUSES.map(each => [each, STATUS_NAMES[each], counts[each]] as const),
  ]
  return (
    <ul class="tabs row" aria-label={t('Orders by status')} data-keeps-focus>
      {tabs.map(([status, label, count]) => (
        <li key={status}>
          <a href={linkWith({ status })} aria-current={status === current ? 'true' : undefined}>
            {label}{' '}
            <span class="muted" data-tone={status === 'needs_review' && count > 0 ? 'wait' : undefined}>
              {decimal(count)}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** Why an order currently waits; its stored reason is from the last attempt. */
const Cause = ({ obstacles, error, review_reason }: Summary) => {
  if (error === null) return null
  const text =
    obstacles.length > 0
      ? translateMessage(obstacles.map(({ message }) => message).join('. '))
      : review_reason === null
        ? t('Ready to retry. Last reason: {reason}', { reason: translateMessage(error) })
        : t('Moved back to review: {reason}', { reason: review_reason })
  return (
    <p class="cause small muted" title={text}>
      <Name>{text}</Name>
    </p>
  )
}

/** The partial payments or returns of an order that is neither paid nor returned in full. */
const Parts = ({ status, received, returned }: Summary) => {
  const parts = [
    status === 'invoiced' && received !== '0' && t('Received {received}', { received: decimal(received) }),
    status !== 'refunded' && returned !== '0' && t('Returned {returned}', { returned: decimal(returned) }),
  ].filter(Boolean)
  const text = parts.join(' · ')
  return (
    text !== '' && (
      <p class="cause small muted" title={text}>
        {text}
      </p>
    )
  )
}

const COLUMNS: Column<Summary>[] = [
  {
    label: t('Order'),
    kind: 'cell-order',
    cell: order => (
      <>
        <Id value={order.external_id} href={linkToOrder(order)} kind="row-link" longest={24} />{' '}
        <StoreName source={order.source} />
      </>
    ),
  },
  {
    label: t('Customer'),
    kind: 'breaks',
    cell: ({ customer }) => customer && <Name>{customer.name || customer.mobile}</Name>,
  },
  {
    label: t('Date'),
    kind: 'cell-date nowrap',
    cell: ({ date }) => <Day date={date} />,
  },
  {
    label: t('Status'),
    kind: 'cell-status',
    cell: order => (
      <>
        <OrderStatus {...order} />
        <Cause {...order} />
        <Parts {...order} />
      </>
    ),
  },
  { label: t('Invoice'), kind: 'number cell-invoice', cell: ({ invoice_number }) => serial(invoice_number) },
  {
    label: t('Total'),
    kind: 'number strong cell-total',
    cell: ({ total }) => (
      <>
        {decimal(total)} <span class="small muted">{t('rials')}</span>
      </>
    ),
  },
]

const firstOrder = () => `curl ${location.origin}/api/v1/orders/ \\
  -H 'Authorization: Bearer sandbox-key' \\
  -H 'Content-Type: application/json' \\
  -d '{"external_id": "1001",
       "customer": {"mobile": "09123456789", "name": "سارا محمدی"},
       "items": [{"sku": "SKU-1", "quantity": 1, "unit_price": 1500000}]}'`

const NoOrdersYet = () => (
  <Empty title={t('No orders yet')}>
    <p>
      {t('Send the first one from a store, or from a terminal (see the {reference}):', {
        reference: <a href="/docs">{t('API reference')}</a>,
      })}
    </p>
    <Command text={firstOrder()} />
  </Empty>
)

const List = ({ orders, isFiltered }: OrderList & { isFiltered: boolean }) => (
  <Table
    kind="orders"
    columns={orders.some(({ status }) => status === 'needs_review') ? [...COLUMNS, CHOICE] : COLUMNS}
    rows={orders}
    keyOf={keyOf}
  >
    {isFiltered ? (
      <Empty title={t('No order matches')}>
        <LinkButton href={linkTo(['orders'])}>{t('Show all orders')}</LinkButton>
      </Empty>
    ) : (
      <NoOrdersYet />
    )}
  </Table>
)

const changesOf = (before: OrderList, after: OrderList) => {
  const known = new Map(before.orders.map(order => [keyOf(order), order.status]))
  const changed = after.orders.filter(order => known.get(keyOf(order)) !== order.status)
  const [first] = changed
  if (first === undefined) return undefined
  return changed.length === 1
    ? t('Order {order}: {status}', { order: first.external_id, status: STATUS_NAMES[first.status] })
    : t('{count} orders changed', { count: changed.length })
}

/** Orders by status, store and search, newest first. */
export const Orders = page(
  {
    title: () => t('Orders'),
    reads: route => {
      const { sort, before, filter } = filterOf(route)
      // The list is shown before its totals, which are slow for a search that matches most orders.
      return { list: ordersOf({ ...filter, sort, before, limit: PAGE_SIZE }), sums: sumsOf(filter) }
    },
    announce: (before, after) => changesOf(before.list, after.list),
  },
  ({ list, sums }) => {
    const isFiltered = FILTERS.some(name => route.value.query.has(name))
    return (
      <>
        <PageHead>
          <search class="filters" data-keeps-focus>
            <SearchBox
              label={t('Search by order, customer, mobile, invoice, reference, product or total')}
              placeholder={t('Search orders')}
            />
            <StoreChoice sources={sums.sources} />
          </search>
        </PageHead>
        <Tabs counts={sums.counts} />
        {(list.orders.length > 0 || isFiltered) && <Sums {...sums.totals} />}
        <Retries orders={list.orders} waiting={sums.counts.needs_review} />
        <List {...{ ...list, isFiltered }} />
        <Pager first={t('Newest')} cursor={list.next} />
      </>
    )
  },
)
