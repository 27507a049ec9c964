import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import { Pager, SearchBox, StoreChoice } from '@order-relay/web/filters.tsx'
import { decimal, serial, sum } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { separator } from '@order-relay/web/language.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { type Column, Command, Day, Empty, LinkButton, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo, linkWith, route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import { FISCAL_YEARS, ordersOf, type SchemaData, SELLER, sumsOf } from './api.ts'
import { t } from './persian.ts'
import { customerName, Future, linkToOrder, OrderStatus, StoreName } from './pieces.tsx'
import { CHOICE, Retries } from './retry.tsx'
import { chosen, Period, SheetHead } from './sheet-head.tsx'
import { BALANCES, FILTERS, filterOf, SORTS, Sums } from './sums.tsx'

type OrderList = SchemaData<'OrderList'>
type OrderSums = SchemaData<'OrderSums'>
type Summary = OrderList['orders'][number]

const PAGE_SIZE = 50
const keyOf = ({ source, external_id }: Summary) => `${source}/${external_id}`

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

/** The held payments, partial payments or partial returns of an order, what is due, and what its buyer gets back. */
const Parts = ({ status, total, received, returned, repaid, held }: Summary) => {
  const credit = sum(received, returned, `-${repaid}`, `-${total}`)
  const due = credit.replace(/^-/, '')
  // While nothing is paid or returned, the total is due.
  const isDueShown = due !== total || filterOf(route.value).filter.balance === 'due'
  const parts = [
    status === 'invoiced' && credit.startsWith('-') && isDueShown && t('Due {due}', { due: decimal(due) }),
    held !== '0' && t('Held payment {held}', { held: decimal(held) }),
    status === 'invoiced' && received !== '0' && t('Received {received}', { received: decimal(received) }),
    status !== 'refunded' && returned !== '0' && t('Returned {returned}', { returned: decimal(returned) }),
    status !== 'needs_review' &&
      !/^(-|0$)/.test(credit) &&
      t('Credit of the buyer {credit}', { credit: decimal(credit) }),
  ].filter(Boolean)
  const text = parts.join(separator)
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
    cell: ({ customer }) => customer && <Name>{customerName(customer.name || (customer.mobile ?? ''))}</Name>,
  },
  {
    label: t('Date'),
    kind: 'cell-date nowrap',
    cell: ({ date }) => (
      <>
        <Day date={date} /> <Future date={date} />
      </>
    ),
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

/** The head of the printed list of orders. */
const OrdersHead = ({ seller, list }: { seller: SchemaData<'Seller'>; list: OrderList }) => {
  const { sort, before, filter } = filterOf(route.value)
  const { status, source, balance, q, from, to } = filter
  return (
    <SheetHead
      title={t('List of orders')}
      seller={seller}
      facts={{
        [t('Days')]: <Period from={from} to={to} />,
        [t('Store')]: source && <Name>{source}</Name>,
        [t('Status')]: chosen(status, Object.entries(STATUS_NAMES)),
        [t('Balance')]: chosen(balance, BALANCES),
        [t('Search')]: q && <Name>{q}</Name>,
        [t('Sort')]: chosen(sort ?? '', SORTS),
      }}
      part={
        (list.next !== null || before !== undefined) &&
        t('This printout has only {count} orders of the list. The sums cover the whole list.', {
          count: decimal(list.orders.length),
        })
      }
    />
  )
}

/** Orders by status, store and search, newest first. */
export const Orders = page(
  {
    title: () => t('Orders'),
    reads: route => {
      const { sort, before, filter } = filterOf(route)
      // The list is shown before its totals, which are slow for a search that matches most orders.
      return {
        list: ordersOf({ ...filter, sort, before, limit: PAGE_SIZE }),
        sums: sumsOf(filter),
        calendar: FISCAL_YEARS,
        seller: SELLER,
      }
    },
    announce: (before, after) => changesOf(before.list, after.list),
  },
  ({ list, sums, calendar: { fiscalYears }, seller }) => {
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
        <OrdersHead seller={seller} list={list} />
        <Tabs counts={sums.counts} />
        {(list.orders.length > 0 || isFiltered) && <Sums {...sums.totals} years={fiscalYears} />}
        <Retries
          orders={list.orders}
          waiting={sums.counts.needs_review}
          filter={filterOf(route.value).filter}
        />
        <List {...list} isFiltered={isFiltered} />
        <Pager first={t('Newest')} cursor={list.next} />
      </>
    )
  },
)
