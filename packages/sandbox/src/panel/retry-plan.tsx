import { Outcome } from '@order-relay/web/form.tsx'
import { decimal, formatDate, sum } from '@order-relay/web/format.ts'
import { isolated, listed } from '@order-relay/web/language.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { type Column, Name, Scrolls, Table } from '@order-relay/web/pieces.tsx'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import type { Signal } from '@preact/signals'
import type { Key, SchemaData } from './api.ts'
import { t } from './persian.ts'
import { customerName, StoreName } from './pieces.tsx'

export type Result = SchemaData<'RetryResults'>['orders'][number]

export const nameOf = ({ source, external_id }: Key) => JSON.stringify([source, external_id])

const inStatus = (orders: readonly Result[], wanted: Result['status']) =>
  orders.filter(({ status, error }) => status === wanted && error === null)

/** The results of retries by number. */
export const countsOf = (orders: readonly Result[]) => {
  const paid = inStatus(orders, 'paid')
  const invoiced = inStatus(orders, 'invoiced')
  return {
    paid: paid.length,
    invoiced: invoiced.length,
    left: orders.length - paid.length - invoiced.length,
    amount: decimal(sum(...paid.map(({ received }) => received ?? '0'))),
  }
}

export type Filter = Partial<Record<string, string>>

const FILTERED = [
  ['source', t('Store')],
  ['q', t('Search')],
  ['from', t('First day')],
  ['to', t('Last day')],
] as const

/** The part of the filter of the list by which orders in review can be limited. */
export const limitsOf = (filter: Filter) =>
  Object.fromEntries(FILTERED.flatMap(([name]) => (filter[name] ? [[name, filter[name]]] : [])))

const describe = (filter: Filter) =>
  FILTERED.flatMap(([name, label]) => {
    const value = filter[name]
    if (!value) return []
    return `${label}: ${isolated(name === 'from' || name === 'to' ? formatDate(value) : value)}`
  })

type Selection = {
  orders: readonly Result[]
  /** The names of the orders that are left out. */
  excluded: ReadonlySet<string>
}

/** The orders that are not left out. */
export const includedIn = ({ orders, excluded }: Selection) =>
  orders.filter(order => !excluded.has(nameOf(order)))

type PlanProps = {
  orders: readonly Result[]
  excluded: Signal<Set<string>>
  /** What a retry of the orders that are not left out would do. */
  results: Signal<readonly Result[]>
  /** Leaves an order out, or includes it, which changes how the others share the stock. */
  include: (order: Result, isIncluded: boolean) => void
  /** The number of orders that are not ready. */
  others: number
  filter: Filter
  /** Who is notified of a change of the status. */
  sent: string
}

/** What a retry would do, with its orders to choose from. */
export const Plan = ({ orders, excluded, results, include, others, filter, sent }: PlanProps) => {
  const planned = includedIn({ orders: results.value, excluded: excluded.value })
  const { paid, invoiced, left, amount } = countsOf(planned)
  const limits = listed(describe(filter))
  const text = [
    limits !== '' && t('Only orders that match the filter of the list: {limits}.', { limits }),
    paid > 0 && t('{paid} will be paid, with receipts of {amount} rials.', { paid, amount }),
    invoiced > 0 && t('{invoiced} will be invoiced.', { invoiced }),
    left > 0 && t('{left} will stay in review, for the reason in the table.', { left }),
    others > 0 && t('{left} will stay in review: the cause remains.', { left: others }),
    paid + invoiced > 0 && `${t('The goods of finalized orders leave the stock.')} ${sent}`,
  ]
  const outcomes = new Map(planned.map(order => [nameOf(order), order]))
  return (
    <>
      <Outcome isCurrent>{text.filter(Boolean).join(' ')}</Outcome>
      <Scrolls label={t('Orders to retry')}>
        <Table
          caption={t('Orders to retry')}
          columns={planColumns({ excluded: excluded.value, outcomes, include })}
          rows={orders}
          keyOf={nameOf}
        />
      </Scrolls>
    </>
  )
}

/** The status after a retry, or why the order stays in review. */
export const outcomeOf = ({ status, error }: Result) =>
  error === null && status !== null ? STATUS_NAMES[status] : translateMessage(error ?? '')

type PlanColumns = {
  excluded: ReadonlySet<string>
  /** By name of the order. */
  outcomes: ReadonlyMap<string, Result>
  include: PlanProps['include']
}

const planColumns = ({ excluded, outcomes, include }: PlanColumns): Column<Result>[] => [
  {
    label: t('Order'),
    kind: 'choose',
    cell: order => (
      <>
        <label>
          <input
            type="checkbox"
            aria-label={t('Retry order {order}', { order: order.external_id })}
            checked={!excluded.has(nameOf(order))}
            onChange={({ currentTarget }) => include(order, currentTarget.checked)}
          />{' '}
          <Name>{order.external_id}</Name>
        </label>{' '}
        <StoreName {...order} />
        {order.review_reason !== null && (
          <p class="small muted">
            {t('Moved back to review: {reason}', { reason: <Name>{order.review_reason}</Name> })}
          </p>
        )}
      </>
    ),
  },
  { label: t('Customer'), cell: ({ customer }) => <Name>{customerName(customer ?? '')}</Name> },
  {
    label: t('Total'),
    kind: 'number',
    cell: ({ total, received }) =>
      total !== null && (
        <>
          {decimal(total)}
          {received !== null && !['0', total].includes(received) && (
            <p class="small muted">{t('Held payment {held}', { held: decimal(received) })}</p>
          )}
        </>
      ),
  },
  {
    label: t('Result'),
    kind: 'breaks',
    cell: order => {
      const outcome = outcomes.get(nameOf(order))
      if (outcome === undefined) return <span class="muted">{t('Left out')}</span>
      return <span data-tone={outcome.error === null ? undefined : 'wait'}>{outcomeOf(outcome)}</span>
    },
  },
]
