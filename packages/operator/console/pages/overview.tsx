import { type Bars, Chart } from '@order-relay/web/chart.tsx'
import { decimal, formatDuration, formatInterval } from '@order-relay/web/format.ts'
import { listed } from '@order-relay/web/language.ts'
import { Ago, Code, type Column, Section, Table } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import type { ComponentChildren } from 'preact'
import { activeAlarms } from '../../status/active.ts'
import { recoveredText } from '../../status/recovered.ts'
import { nameOfAlarm } from './alarm-names.ts'
import { AlarmTable, isActive, Verdict } from './alarms.tsx'
import { OVERVIEW, type RouteData } from './api.ts'
import { Findings } from './findings.tsx'
import { t } from './persian.ts'
import { deadOfFeeds, Figure, linkToOrder, ROW_OF_STORE } from './pieces.tsx'
import { RETRIES, Retries, RetryOrders } from './retry.tsx'
import { TourOffer } from './tour.tsx'

type Data = RouteData<'overview'>

const IMPORTS: Column<NonNullable<Data['imports']>['stores'][number]>[] = [
  ROW_OF_STORE,
  { label: t('Orders waiting'), kind: 'number', cell: ({ orders }) => decimal(orders) },
  {
    label: t('Per second'),
    kind: 'number',
    cell: ({ perSecond }) => (perSecond === undefined ? t('measuring…') : decimal(perSecond)),
  },
  { label: t('Done in'), cell: ({ doneIn }) => (doneIn === undefined ? '–' : formatDuration(doneIn)) },
]

/** The progress of imports of stores with orders in the bulk queue. */
const Imports = ({ imports }: Data) =>
  imports && (
    <Section id="imports" title={t('Imports')}>
      <Table columns={IMPORTS} rows={imports.stores} keyOf={({ source }) => source}>
        <p class="muted">{t('No order waits in the bulk queue.')}</p>
      </Table>
    </Section>
  )

const Stage = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <li class="stage card">
    <h3>{title}</h3>
    <dl>{children}</dl>
  </li>
)

const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0)

/** Maximum number of stores named: those with the most waiting messages. */
const LISTED = 4

type Depth = { waiting: number; inFlight: number }

const inAll = (depths: readonly Depth[]): Depth => ({
  waiting: sum(depths.map(({ waiting }) => waiting)),
  inFlight: sum(depths.map(({ inFlight }) => inFlight)),
})

const rateOf = (label: string, number: number | undefined, minutes = 1, tone?: 'bad' | 'wait') => (
  <Figure
    label={label}
    value={number === undefined ? '–' : t('{rate} / min', { rate: decimal((number / minutes).toFixed(1)) })}
    tone={number ? tone : undefined}
  />
)

const depthOf = (label: string, depth: Depth | undefined, age?: number, href?: string, tone?: 'bad') => (
  <Figure
    label={label}
    value={depth ? depth.waiting + depth.inFlight : '–'}
    tone={depth?.waiting ? tone : undefined}
    href={href}
  >
    <small>{age !== undefined && t('oldest {age}', { age: formatDuration(age) })}</small>
  </Figure>
)

/** The path of an order's events through the relay. */
const Flow = (data: Data) => {
  const { alarms, queues, ages = {}, failing, answered, rates } = data
  const { recent, minutes } = rates ?? { minutes: 1 }
  const behind = (queues?.feeds ?? [])
    .map(({ source, depth = { waiting: 0, inFlight: 0 } }) => ({ source, depth }))
    .toSorted((a, b) => b.depth.waiting - a.depth.waiting)
  const letters = queues && inAll(deadOfFeeds(queues))
  return (
    <ol class="flow">
      <Stage title={t('Endpoints')}>
        {rateOf(t('Webhooks queued'), recent?.queued, minutes)}
        {rateOf(t('Webhooks refused'), recent?.refused, minutes, 'wait')}
        {rateOf(t('Webhooks unreadable or contradictory'), recent?.unreadableOrContradictory, minutes, 'bad')}
        {rateOf(t('Requests of stores'), recent?.requests, minutes)}
        {rateOf(t('Requests failed'), recent?.requestsFailed, minutes, 'bad')}
      </Stage>
      <Stage title={t('Order queue')}>
        {depthOf(t('Waiting or in progress'), queues?.orders, ages.orders)}
        {depthOf(t('Bulk queue'), queues?.bulk, ages.bulk)}
      </Stage>
      <Stage title={t('Worker')}>
        {rateOf(t('Events processed'), recent?.processed, minutes)}
        {rateOf(t('Events retried'), recent?.retried, minutes, 'wait')}
        <Figure
          label={t('Failing orders')}
          value={failing?.more ? t('over {count}', { count: failing.count }) : (failing?.count ?? '–')}
          tone={failing?.count ? 'wait' : undefined}
          href={linkTo(['orders'], { show: 'failing' })}
        >
          {failing?.longest?.since && (
            <small>
              <a href={linkToOrder(failing.longest.source, failing.longest.external_id)}>
                {t('oldest event: {time}', { time: <Ago iso={failing.longest.since} /> })}
              </a>
            </small>
          )}
        </Figure>
        {alarms.some(alarm => alarm.code === 'breaker-open' && isActive(alarm)) &&
          recoveredText('breaker-open', { failing, answered }) === undefined && (
            <Figure label={t('Accounting service')} value={t('unavailable')} tone="bad">
              {failing?.unavailable_at && (
                <small>{t('as of {time}', { time: <Ago iso={failing.unavailable_at} /> })}</small>
              )}
            </Figure>
          )}
      </Stage>
      <Stage title={t('Feeds')}>
        {behind
          .slice(0, LISTED)
          .map(({ source, depth }) =>
            depthOf(source, depth, ages[`feed ${source}`], linkTo(['stores', source])),
          )}
        {behind.length > LISTED && (
          <Figure
            label={t('Other stores: {count}', { count: behind.length - LISTED })}
            value={sum(behind.slice(LISTED).map(({ depth }) => depth.waiting + depth.inFlight))}
            href={linkTo(['stores'])}
          />
        )}
        {rateOf(t('Deliveries retried'), recent?.feedsRetried, minutes, 'wait')}
      </Stage>
      <Stage title={t('Not processed')}>
        {depthOf(t('Dead letters'), queues?.ordersDead, undefined, '#/dead', 'bad')}
        {depthOf(t('Dead letters of feeds'), letters, undefined, '#/dead', 'bad')}
        {depthOf(t('Quarantine'), queues?.quarantine, undefined, '#/quarantine', 'bad')}
      </Stage>
    </ol>
  )
}

const Graph = ({ title, bars, ...range }: Parameters<typeof Chart>[0]) => (
  <figure class="card graph">
    <figcaption class="strong small">{title}</figcaption>
    <p class="row small">
      {bars.map(({ label, tone, values }) => (
        <span key={label} class="key" data-tone={tone}>
          {label} {decimal(sum(values))}
        </span>
      ))}
    </p>
    <Chart title={title} bars={bars} {...range} />
  </figure>
)

type Series = NonNullable<Data['rates']>['hour']

const GRAPHS: readonly (readonly [
  title: string,
  ...bars: [of: keyof Series['values'], label: string, tone: Bars['tone']][],
])[] = [
  [
    t('Webhooks'),
    ['queued', t('queued'), 'good'],
    ['repeated', t('repeated or ignored'), 'undone'],
    ['refused', t('refused'), 'bad'],
    ['unreadableOrContradictory', t('unreadable or contradictory'), 'wait'],
  ],
  [t('Requests of stores'), ['requests', t('answered'), 'good'], ['requestsFailed', t('failed'), 'bad']],
  [t('Events'), ['processed', t('processed'), 'good'], ['retried', t('retried'), 'wait']],
]

const Graphs = ({ from, step, values }: Series) => (
  <div class="graphs">
    {GRAPHS.map(([title, ...bars]) => (
      <Graph
        key={title}
        title={title}
        from={from}
        step={step}
        bars={bars.map(([of, label, tone]) => ({ label, tone, values: values[of] }))}
      />
    ))}
  </div>
)

export const Overview = page(
  {
    title: () => t('Overview'),
    reads: () => ({ overview: OVERVIEW, retries: RETRIES }),
    announce: ({ overview: before }, { overview: after }) => {
      const names = (data: Data) => activeAlarms(data.alarms).map(nameOfAlarm)
      const [old, fresh] = [names(before), names(after)]
      const raised = fresh.filter(name => !old.includes(name))
      if (raised.length > 0) return t('Alarm: {names}', { names: listed(raised) })
      return old.length > 0 && fresh.length === 0 ? t('No alarm is active.') : undefined
    },
  },
  ({ overview, retries }) => {
    const { alarms, rates, every, local, failing, probe, notices } = overview
    const unknown = alarms.filter(({ state }) => state === 'unknown').length
    return (
      <>
        <PageHead />
        <Verdict {...overview} />
        <Findings findings={notices} />
        {local && <TourOffer />}
        <Section id="flow" title={t('Flow')} aside={failing?.count ? <RetryOrders /> : undefined}>
          <Retries {...retries} />
          <Flow {...overview} />
          <p class="small muted note">
            {t(
              'Queues are read every {queues}, metrics every {metrics}; rates are averages over five minutes.',
              {
                queues: formatInterval(every.queues / 1000),
                metrics: formatInterval(every.metrics / 1000),
              },
            )}{' '}
            {probe !== undefined &&
              t('The webhooks and events of the probe are included ({store}).', {
                store: <Code>{probe}</Code>,
              })}{' '}
            {local && t('The age of the oldest message is only available on AWS.')}
          </p>
        </Section>
        <Imports {...overview} />
        {rates && (
          <>
            <Section id="hour" title={t('Last hour, per minute')}>
              <Graphs {...rates.hour} />
            </Section>
            <Section id="day" title={t('Last day, per 15 minutes')}>
              <Graphs {...rates.day} />
            </Section>
          </>
        )}
        <Section id="alarms" title={t('Alarms')}>
          <details>
            <summary>
              {t('{all} {all|alarm|alarms}: {active} active, {unknown} unknown', {
                all: alarms.length,
                active: activeAlarms(alarms).length,
                unknown,
              })}
            </summary>
            {unknown > 0 && (
              <p class="small muted note">
                {local
                  ? t('The unknown ones depend on metrics that only AWS reports.')
                  : t('The unknown ones have no data yet.')}
              </p>
            )}
            <AlarmTable alarms={alarms} />
          </details>
        </Section>
      </>
    )
  },
)
