import { ask } from '@order-relay/web/dialog.tsx'
import { Refusal, request } from '@order-relay/web/http.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button, type Column, Name, Table } from '@order-relay/web/pieces.tsx'
import { type Route, route } from '@order-relay/web/route.ts'
import { computed, signal } from '@preact/signals'
import { change, type Key, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import { linkToOrder, StoreName, sentTo } from './pieces.tsx'
import {
  countsOf,
  type Filter,
  includedIn,
  limitsOf,
  nameOf,
  outcomeOf,
  Plan,
  type Result,
} from './retry-plan.tsx'

type Results = SchemaData<'RetryResults'>
type Summary = SchemaData<'OrderSummary'>

/** The orders to retry, by name. */
const chosen = signal<ReadonlyMap<string, Key>>(new Map())
/** The results of the last retries. They are shown until the address changes: they are not those of another list. */
const retried = signal<{ orders: readonly Result[]; at: Route } | undefined>(undefined)
const results = computed(() => (retried.value?.at === route.value ? retried.value.orders : []))

const isWaiting = ({ status }: Summary) => status === 'needs_review'

const choose = (orders: readonly Key[], isChosen: boolean) => {
  const names = new Map(chosen.value)
  for (const order of orders) {
    if (isChosen) names.set(nameOf(order), { source: order.source, external_id: order.external_id })
    else names.delete(nameOf(order))
  }
  chosen.value = names
}

const chooseNone = () => {
  chosen.value = new Map()
}

/** The column in which orders in review are chosen. */
export const CHOICE: Column<Summary> = {
  label: t('Select'),
  kind: 'choose',
  isBare: true,
  cell: order =>
    isWaiting(order) && (
      <input
        type="checkbox"
        aria-label={t('Select order {order}', { order: order.external_id })}
        checked={chosen.value.has(nameOf(order))}
        onChange={({ currentTarget }) => choose([order], currentTarget.checked)}
      />
    ),
}

/** Whether the order has left the review since it was selected. */
const isGone = ({ status, error }: Result) => error !== null && status !== 'needs_review'

/** The accountant's own reason may remain although nothing in the service prevents the retry. */
const isReviewed = ({ error, review_reason }: Result) => error === null && review_reason !== null

const keyOf = ({ source, external_id }: Key) => ({ source, external_id })

const planOf = (about: object) => request<Results>('POST', '/panel/retries', { ...about, dryRun: true })

type Asked = {
  /** The selected orders; by default, all that are ready. */
  orders?: readonly Key[]
  filter?: Filter
  /** The number of orders in review that match the filter. */
  waiting: number
}

/** Shows what a retry would do, and does it after confirmation. */
const askToRetry = ({ orders: selected, filter = {}, waiting }: Asked) =>
  attempt(async () => {
    const plan = await planOf(selected === undefined ? { filter: limitsOf(filter) } : { orders: selected })
    choose(plan.orders.filter(isGone), false)
    const orders = plan.orders.filter(order => !isGone(order))
    if (orders.length === 0) return toast(t('No order is ready to retry'))
    const sent = sentTo(await request('GET', '/panel/webhooks'))
    const excluded = signal(new Set(orders.filter(isReviewed).map(nameOf)))
    const planned = signal<readonly Result[]>(orders)
    const included = () => includedIn({ orders, excluded: excluded.value })
    const include = (order: Result, isIncluded: boolean) =>
      attempt(async () => {
        const names = new Set(excluded.value)
        if (isIncluded) names.delete(nameOf(order))
        else names.add(nameOf(order))
        excluded.value = names
        const after = await planOf({ orders: included().map(keyOf) })
        if (excluded.value === names) planned.value = after.orders
      })
    ask({
      title: computed(() => t('Retry orders: {count}', { count: included().length })),
      action: t('Retry'),
      content: (
        <Plan
          orders={orders}
          excluded={excluded}
          results={planned}
          include={include}
          filter={limitsOf(filter)}
          sent={sent}
          others={selected === undefined ? waiting - orders.length : 0}
        />
      ),
      submit: async () => {
        const keys = included().map(keyOf)
        if (keys.length === 0) throw new Refusal(t('Select at least one order'))
        const { orders } = await change<Results>('POST', 'retries', { orders: keys })
        retried.value = { orders, at: route.peek() }
        chooseNone()
      },
    })
  })

type RetriesProps = Required<Pick<Asked, 'waiting' | 'filter'>> & { orders: readonly Summary[] }

/** Bulk actions on orders in review. */
export const Retries = ({ orders, waiting, filter }: RetriesProps) => {
  const listed = orders.filter(isWaiting)
  const { size } = chosen.value
  if (waiting === 0 && results.value.length === 0) return null
  return (
    <>
      <div class="row">
        {waiting > 0 && (
          <Button onClick={() => askToRetry({ filter, waiting })}>{t('Retry all that are ready…')}</Button>
        )}
        {listed.length > 0 && <Button onClick={() => choose(listed, true)}>{t('Select all shown')}</Button>}
        {size > 0 && (
          <>
            <Button
              kind="primary"
              onClick={() => askToRetry({ orders: [...chosen.value.values()], waiting })}
            >
              {t('Retry {count} selected…', { count: size })}
            </Button>
            <Button onClick={chooseNone}>{t('Clear selection')}</Button>
          </>
        )}
      </div>
      {results.value.length > 0 && <Outcomes orders={results.value} />}
    </>
  )
}

const COLUMNS: Column<Result>[] = [
  {
    label: t('Order'),
    cell: order => (
      <>
        <a href={linkToOrder(order)}>
          <Name>{order.external_id}</Name>
        </a>{' '}
        <StoreName {...order} />
      </>
    ),
  },
  {
    label: t('Result'),
    cell: order => <Name>{outcomeOf(order)}</Name>,
  },
]

const LISTED = 100

/** The results of retries, failed ones first. */
const Outcomes = ({ orders }: { orders: readonly Result[] }) => {
  const { paid, invoiced, left } = countsOf(orders)
  const rows = orders.toSorted((a, b) => Number(a.error === null) - Number(b.error === null))
  return (
    <section class="notice" data-tone={left > 0 ? 'wait' : 'good'} aria-labelledby="retried">
      <h2 id="retried">
        {t('Retried: {paid} paid, {invoiced} invoiced, {left} not', { paid, invoiced, left })}
      </h2>
      <details>
        <summary>{t('Result of each order')}</summary>
        <Table
          caption={t('Result of each order')}
          columns={COLUMNS}
          rows={rows.slice(0, LISTED)}
          keyOf={nameOf}
        />
      </details>
      <p>
        <Button
          kind="small"
          onClick={() => {
            retried.value = undefined
          }}
        >
          {t('Close')}
        </Button>
      </p>
    </section>
  )
}
