import { ask } from '@order-relay/web/dialog.tsx'
import { decimal, sum } from '@order-relay/web/format.ts'
import { Refusal, request } from '@order-relay/web/http.ts'
import { translateMessage } from '@order-relay/web/messages.ts'
import { attempt, toast } from '@order-relay/web/notices.ts'
import { Button, type Column, Name, Scrolls, Table } from '@order-relay/web/pieces.tsx'
import { STATUS_NAMES } from '@order-relay/web/status.tsx'
import { type Signal, signal } from '@preact/signals'
import { change, type Key, type SchemaData } from './api.ts'
import { t } from './persian.ts'
import { customerName, linkToOrder, StoreName, sentTo } from './pieces.tsx'

type Results = SchemaData<'RetryResults'>
type Result = Results['orders'][number]
type Summary = SchemaData<'OrderSummary'>

const nameOf = ({ source, external_id }: Key) => JSON.stringify([source, external_id])

/** The orders to retry, by name. */
const chosen = signal<ReadonlyMap<string, Key>>(new Map())
const results = signal<readonly Result[]>([])

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
  ...{ label: t('Select'), kind: 'choose', isBare: true },
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

const inStatus = (orders: readonly Result[], wanted: Result['status']) =>
  orders.filter(({ status, error }) => status === wanted && error === null)

const countsOf = (orders: readonly Result[]) => {
  const paid = inStatus(orders, 'paid')
  const invoiced = inStatus(orders, 'invoiced')
  return {
    ...{ paid: paid.length, invoiced: invoiced.length, left: orders.length - paid.length - invoiced.length },
    amount: decimal(sum(...paid.map(({ total }) => total ?? '0'))),
  }
}

const isFinalized = ({ error }: Result) => error === null

/** Whether the order has left the review since it was selected. */
const isGone = ({ status, error }: Result) => error !== null && status !== 'needs_review'

/** The accountant's own reason may remain although nothing in the service prevents the retry. */
const isReviewed = (order: Result) => isFinalized(order) && order.review_reason !== null

type PlanProps = {
  orders: readonly Result[]
  /** The names of the orders that are left out. */
  excluded: Signal<Set<string>>
  /** The number of orders that could have been finalized. */
  total: number
  /** Who learns of a change of the status. */
  sent: string
}

/** What a retry would do, with the orders that it would finalize to choose from. */
const Plan = ({ orders, excluded, total, sent }: PlanProps) => {
  const finalized = orders.filter(isFinalized)
  const { paid, invoiced, amount } = countsOf(finalized.filter(order => !excluded.value.has(nameOf(order))))
  const left = total - finalized.length
  const text = [
    paid > 0 && t('{paid} will be paid, with receipts of {amount} rials.', { paid, amount }),
    invoiced > 0 && t('{invoiced} will be invoiced.', { invoiced }),
    left > 0 && t('{left} will stay in review: the cause remains.', { left }),
    paid + invoiced > 0 && `${t('The goods of finalized orders leave the stock.')} ${sent}`,
  ]
  return (
    <>
      <p role="status">{text.filter(Boolean).join(' ')}</p>
      {finalized.length > 0 && (
        <Scrolls label={t('Orders to retry')}>
          <Table
            caption={t('Orders to retry')}
            columns={planColumns(excluded)}
            rows={finalized}
            keyOf={nameOf}
          />
        </Scrolls>
      )}
    </>
  )
}

const planColumns = (excluded: Signal<Set<string>>): Column<Result>[] => [
  {
    ...{ label: t('Order'), kind: 'choose' },
    cell: order => (
      <>
        <label>
          <input
            type="checkbox"
            aria-label={t('Retry order {order}', { order: order.external_id })}
            checked={!excluded.value.has(nameOf(order))}
            onChange={({ currentTarget }) => {
              const names = new Set(excluded.value)
              if (currentTarget.checked) names.delete(nameOf(order))
              else names.add(nameOf(order))
              excluded.value = names
            }}
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
  { label: t('Total'), kind: 'number', cell: ({ total }) => total !== null && decimal(total) },
]

/** Shows what a retry would do, and does it after confirmation. */
const askToRetry = (waiting: number, orders?: readonly Key[]) =>
  attempt(async () => {
    const post = { ...(orders !== undefined && { orders }) }
    const plan = await request<Results>('POST', '/panel/retries', { ...post, dryRun: true })
    choose(plan.orders.filter(isGone), false)
    const planned = plan.orders.filter(order => !isGone(order))
    if (planned.length === 0) return toast(t('No order is ready to retry'))
    const sent = sentTo(await request('GET', '/panel/webhooks'))
    const excluded = signal(new Set(planned.filter(isReviewed).map(nameOf)))
    ask({
      title: t('Retry orders: {count}', { count: planned.length }),
      action: t('Retry'),
      content: <Plan {...{ orders: planned, excluded, sent }} total={orders ? planned.length : waiting} />,
      submit: async () => {
        const included = planned.filter(order => !excluded.value.has(nameOf(order)))
        if (included.length === 0) throw new Refusal(t('Select at least one order'))
        const keys = included.map(({ source, external_id }) => ({ source, external_id }))
        results.value = (await change<Results>('POST', 'retries', { orders: keys })).orders
        chooseNone()
      },
    })
  })

/** Bulk actions on orders in review. */
export const Retries = ({ orders, waiting }: { orders: readonly Summary[]; waiting: number }) => {
  const listed = orders.filter(isWaiting)
  const { size } = chosen.value
  if (waiting === 0 && results.value.length === 0) return null
  return (
    <>
      <div class="row">
        {waiting > 0 && <Button onClick={() => askToRetry(waiting)}>{t('Retry all that are ready…')}</Button>}
        {listed.length > 0 && <Button onClick={() => choose(listed, true)}>{t('Select all shown')}</Button>}
        {size > 0 && (
          <>
            <Button kind="primary" onClick={() => askToRetry(waiting, [...chosen.value.values()])}>
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
    cell: ({ status, error }) => (
      <Name>{error === null && status !== null ? STATUS_NAMES[status] : translateMessage(error ?? '')}</Name>
    ),
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
            results.value = []
          }}
        >
          {t('Close')}
        </Button>
      </p>
    </section>
  )
}
