import { visible } from '@order-relay/lib/platform/visible.ts'
import { beginningOf } from '@order-relay/web/calendar.ts'
import { Choice, DayChoice, Pager, parameter } from '@order-relay/web/filters.tsx'
import { serial } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { Ago, Code, type Column, Empty, LinkButton, Name, Table } from '@order-relay/web/pieces.tsx'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { STATUS_NAMES, StatusChip } from '@order-relay/web/status.tsx'
import { ORDER_CHANGES, type RouteData, reads } from './api.ts'
import { isEnded, OpenRequests, RequestChip, WaitsFor } from './order-pieces.tsx'
import { t } from './persian.ts'
import { linkToMessage, OrderOfStore, StoreFilter } from './pieces.tsx'
import { RETRIES, Retries, RetryOrders } from './retry.tsx'
import { totalInRials } from './total.ts'

type List = RouteData<'orders'>
type Row = List['orders'][number]

const FILTERS = ['q', 'source', 'status', 'show', 'since', 'until', 'cursor'] as const

const filterOf = ({ query }: Route) =>
  Object.fromEntries(FILTERS.map(name => [name, query.get(name)?.trim()]))

/** The filter with times instead of the reader's days, of which the last one is included. */
const timesOf = (route: Route) => {
  const { since, until, ...filter } = filterOf(route)
  return { ...filter, since: since && beginningOf(since), until: until && beginningOf(until, 1) }
}

const isSearch = (route: Route) => Boolean(filterOf(route).q)

/** Whether the list has orders that may wait for an attempt. */
const isOfWaiting = ({ query }: Route) =>
  ['unsettled', 'accountant', 'failing'].includes(query.get('show') ?? '')

const SHOWN = [
  ['', t('All orders')],
  ['unsettled', t('Not settled')],
  ['accountant', t('Waiting for an accountant')],
  ['failing', t('Failing')],
] as const

const DAYS = [
  ['since', t('from')],
  ['until', t('to')],
] as const

const Filters = ({ route }: { route: Route }) => (
  <search class="filters row" data-keeps-focus>
    <StoreFilter />
    <Choice label={t('Orders to show')} options={SHOWN} {...parameter('show')} />
    {route.query.get('show') !== 'failing' && (
      <>
        <Choice
          label={t('Status')}
          {...parameter('status')}
          options={[['', t('Any status')], ...Object.entries(STATUS_NAMES)]}
        />
        {DAYS.map(([name, label]) => (
          <DayChoice kind="row muted" key={name} label={label} {...parameter(name)} />
        ))}
      </>
    )}
  </search>
)

const MATCHES: Readonly<Record<Exclude<NonNullable<Row['match']>['by'], 'order'>, string>> = {
  request: t('request'),
  delivery: t('delivery'),
  invoice: t('invoice number'),
  reference: t('payment reference'),
}

const KEPT = { dead: t('Found among the dead letters:'), quarantine: t('Found in quarantine:') }

const MATCH: Column<Row> = {
  label: t('Found by'),
  kind: 'breaks',
  cell: ({ match }) =>
    match &&
    match.by !== 'order' && (
      <>
        {MATCHES[match.by]} <Code>{visible(match.text)}</Code>
      </>
    ),
}

const LAST_CHANGE: Column<Row> = {
  label: t('Last change'),
  cell: ({ updated_at }) => updated_at && <Ago iso={updated_at} />,
}

const FAILING_SINCE: Column<Row> = {
  label: t('Event from'),
  cell: ({ failing_since }) => failing_since && <Ago iso={failing_since} />,
}

const COLUMNS: Column<Row>[] = [
  {
    label: t('Order'),
    kind: 'cell-order',
    cell: order => <OrderOfStore {...order} kind="row-link" />,
  },
  {
    label: t('Status'),
    cell: ({ status, create }) =>
      create !== undefined && isEnded(create) ? (
        <RequestChip kind="create" state={create} />
      ) : (
        <StatusChip status={status} />
      ),
  },
  {
    label: t('Invoice, rials'),
    kind: 'number',
    // Both may be any text.
    cell: ({ invoice_number: number, total }) => (
      <>
        {number != null && (
          <span class="small muted">
            #<Name>{serial(visible(String(number).slice(0, 16)))}</Name>
          </span>
        )}{' '}
        {total != null && <Name>{totalInRials(total)}</Name>}
      </>
    ),
  },
  { label: t('Open requests'), cell: ({ open }) => open.length > 0 && <OpenRequests requests={open} /> },
  {
    label: t('Waits for'),
    kind: 'one-line sentences cell-waiting',
    cell: ({ waiting }) => waiting && <WaitsFor link={waiting} />,
  },
]

/** The columns and the title of a list, and the name of its first page. The rows may still match the previous filter. */
const tableOf = ({ orders, sorted }: List) => {
  if (sorted === 'by event') {
    const caption = t('Failing orders, the oldest failing event first')
    return { columns: [...COLUMNS, FAILING_SINCE], caption, first: t('Oldest events') }
  }
  const isFoundById = orders.some(({ match }) => match && match.by !== 'order')
  return {
    columns: [...COLUMNS, LAST_CHANGE, ...(isFoundById ? [MATCH] : [])],
    caption: sorted === 'by match' ? t('Orders found') : t('Orders, most recently changed first'),
    first: t('Last changed'),
  }
}

const titleOfNone = (route: Route, { cursor, messages }: List) => {
  if (messages.length > 0) return t('No order matches')
  if (isSearch(route)) return t('Nothing matches this text')
  if (route.query.size === 0) return t('There are no orders yet')
  return cursor === undefined ? t('No order matches') : t('No matching order so far')
}

const changesOf = (before: List, after: List) => {
  const known = new Set(before.orders.map(({ external_id, updated_at }) => `${external_id} ${updated_at}`))
  const changed = after.orders.filter(
    ({ external_id, updated_at }) => !known.has(`${external_id} ${updated_at}`),
  )
  return changed.length > 0 ? t('{count} {count|order|orders} changed', { count: changed.length }) : undefined
}

/** A list of orders, or those found by a number or id. */
export const Orders = page(
  {
    title: () => t('Orders'),
    reads: route => ({
      list: reads('orders', timesOf(route), ...ORDER_CHANGES),
      retries: RETRIES,
    }),
    announce: (before, after) => changesOf(before.list, after.list),
  },
  ({ list, retries, route }) => {
    const { orders, cursor, searched, messages } = list
    const { first, ...table } = tableOf(list)
    return (
      <>
        <PageHead>{isOfWaiting(route) && <RetryOrders />}</PageHead>
        {isOfWaiting(route) && <Retries {...retries} />}
        {!isSearch(route) && <Filters route={route} />}
        {messages.map(message => (
          <p key={message.id} class="row note">
            {KEPT[message.command]} <Id value={message.id} href={linkToMessage(message)} />
          </p>
        ))}
        <Table
          {...table}
          rows={orders}
          kind="orders"
          keyOf={({ source, external_id }) => `${source}/${external_id}`}
        >
          <Empty title={titleOfNone(route, list)}>
            {isSearch(route) && messages.length === 0 && (
              <p>
                {t(
                  'A payment is found by its reference only in the latest changes, or while it waits behind an earlier event of its order. Search for the order number instead. Orders of stores that are no longer in stores.yml are not searched.',
                )}
              </p>
            )}
            {route.query.size > 0 ? (
              <LinkButton href={linkTo(['orders'])}>{t('Show all orders')}</LinkButton>
            ) : (
              <p>{t('They appear here once a store sends one, or the accounting service a webhook.')}</p>
            )}
          </Empty>
        </Table>
        {isSearch(route) && searched !== undefined && (
          <p class="small muted note">
            {t(
              'Searched the latest changes, back to {time}. Complete ids and invoice numbers are found at any age.',
              {
                time: <Ago iso={searched} />,
              },
            )}
          </p>
        )}
        <Pager first={first} cursor={cursor}>
          {cursor !== undefined && searched !== undefined && (
            <span class="small muted">{t('Searched back to {time}', { time: <Ago iso={searched} /> })}</span>
          )}
        </Pager>
      </>
    )
  },
)
