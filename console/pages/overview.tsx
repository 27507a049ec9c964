import type { ComponentChildren } from 'preact'
import { decimal, formatDuration, formatMoment } from '../../web/format.ts'
import { translateMessage } from '../../web/messages.ts'
import { Ago, Chip, type Column, Name, Section, Table } from '../../web/pieces.tsx'
import { linkTo } from '../../web/route.ts'
import { PageHead, page } from '../../web/shell.tsx'
import { type Answer, reads } from './api.ts'
import { t } from './persian.ts'
import { type Bars, Chart, Figure, linkToOrder } from './pieces.tsx'

type Data = Answer<'overview'>
type Alarm = Data['alarms'][number]

export const OVERVIEW = reads('overview', {}, 'queues', 'rates', 'ages', 'alarms', 'failing')

const STATES = {
  alarm: [t('Alarm'), 'bad'],
  ok: [t('OK'), 'good'],
  unknown: [t('Unknown'), 'undone'],
} as const

export const isActive = ({ state }: Alarm) => state === 'alarm'

const runbookOf = ({ page }: Alarm) => linkTo(['runbook', page])

const ALARMS: Column<Alarm>[] = [
  { label: t('Alarm'), cell: alarm => <a href={runbookOf(alarm)}>{alarm.name}</a> },
  { label: t('State'), cell: ({ state }) => <Chip tone={STATES[state][1]}>{STATES[state][0]}</Chip> },
  { label: t('Meaning'), kind: 'breaks', cell: ({ summary }) => <Name>{translateMessage(summary)}</Name> },
  { label: t('Since'), cell: ({ since }) => since && <Ago iso={since} /> },
]

/** What is wrong, since when, and what to do about it. */
const Verdict = ({ alarms }: Data) => {
  const active = alarms.filter(isActive)
  if (active.length === 0) {
    return (
      <p class="verdict card" data-tone="good">
        {t('No alarm is active.')}
      </p>
    )
  }
  return (
    <ul class="verdict card list" data-tone="bad">
      {active.map(alarm => (
        <li key={alarm.name} class="row spread">
          <p>
            <strong>{alarm.name}</strong>{' '}
            {alarm.since && (
              <span class="small">
                <Ago iso={alarm.since} />
              </span>
            )}
            <br />
            <Name>{translateMessage(alarm.summary)}</Name>
          </p>
          <a class="button" href={runbookOf(alarm)}>
            {t('What to do')}
          </a>
        </li>
      ))}
    </ul>
  )
}

const Stage = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <li class="stage card">
    <h3>{title}</h3>
    <dl>{children}</dl>
  </li>
)

const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0)

/** So many stores with waiting messages are named. */
const LISTED = 4

const toneOf = (count: number, tone: 'bad' | 'wait' = 'wait') => (count > 0 ? tone : undefined)

/** The way of an order's events through the relay. */
const Flow = ({ queues, ages, failing, rates: { recent, minutes } }: Data) => {
  const perMinute = (number: number) => t('{rate} / min', { rate: decimal((number / minutes).toFixed(1)) })
  const ageOf = (name: string) =>
    ages[name] === undefined ? '' : t('oldest {age}', { age: formatDuration(ages[name]) })
  const behind = queues.feeds
    .map(({ source, depth }) => ({ source, count: depth === undefined ? 0 : depth.waiting + depth.inFlight }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
  return (
    <ol class="flow">
      <Stage title={t('Endpoints')}>
        <Figure label={t('Webhooks queued')} value={perMinute(recent.queued)} />
        <Figure
          label={t('Webhooks refused')}
          value={perMinute(recent.refused)}
          tone={toneOf(recent.refused)}
        />
        <Figure label={t('Requests of stores')} value={perMinute(recent.requests + recent.requestsFailed)} />
        {recent.requestsFailed > 0 && (
          <Figure label={t('Requests failed')} value={perMinute(recent.requestsFailed)} tone="bad" />
        )}
      </Stage>
      <Stage title={t('Order queue')}>
        <Figure label={t('Waiting')} value={queues.orders.waiting}>
          <small>{ageOf('orders')}</small>
        </Figure>
        <Figure label={t('In progress or waiting for a retry')} value={queues.orders.inFlight} />
        <Figure label={t('Bulk queue')} value={queues.bulk.waiting + queues.bulk.inFlight}>
          <small>{ageOf('bulk')}</small>
        </Figure>
      </Stage>
      <Stage title={t('Worker')}>
        <Figure label={t('Events processed')} value={perMinute(recent.processed)} />
        <Figure label={t('Events retried')} value={perMinute(recent.retried)} tone={toneOf(recent.retried)} />
        <Figure
          label={t('Failing orders')}
          value={failing.more ? t('over {count}', { count: failing.count }) : failing.count}
          tone={toneOf(failing.count)}
        >
          {failing.longest?.since && (
            <a class="small" href={linkToOrder(failing.longest.source, failing.longest.external_id)}>
              {t('the longest')} <Ago iso={failing.longest.since} />
            </a>
          )}
        </Figure>
        <Figure
          label={t('Accounting service')}
          value={recent.breakerOpened > 0 ? t('unavailable') : t('no outage noticed')}
          tone={toneOf(recent.breakerOpened, 'bad')}
        />
      </Stage>
      <Stage title={t('Feeds')}>
        <Figure label={t('Waiting for stores')} value={sum(behind.map(({ count }) => count))} />
        {behind.slice(0, LISTED).map(({ source, count }) => (
          <Figure key={source} label={source} value={count}>
            <small>{ageOf(`feed ${source}`)}</small>
          </Figure>
        ))}
        <Figure
          label={t('Deliveries retried')}
          value={perMinute(recent.feedsRetried)}
          tone={toneOf(recent.feedsRetried)}
        />
      </Stage>
      <Stage title={t('Set aside')}>
        <Figure
          label={t('Dead letters')}
          value={queues.ordersDead.waiting + queues.ordersDead.inFlight}
          tone={toneOf(queues.ordersDead.waiting, 'bad')}
        />
        <Figure
          label={t('Dead letters of feeds')}
          value={queues.feedsDead.waiting + queues.feedsDead.inFlight}
          tone={toneOf(queues.feedsDead.waiting, 'bad')}
        />
        <Figure
          label={t('Quarantine')}
          value={queues.quarantine.waiting + queues.quarantine.inFlight}
          tone={toneOf(queues.quarantine.waiting, 'bad')}
        />
      </Stage>
    </ol>
  )
}

const Graph = ({ title, from, bars }: { title: string; from: number; bars: Bars[] }) => {
  const totals = bars.map(({ label, values }) => `${label} ${decimal(sum(values))}`)
  return (
    <figure class="card graph">
      <figcaption class="strong small">{title}</figcaption>
      <p class="row small">
        {bars.map(({ label, tone, values }) => (
          <span key={label} class="key" data-tone={tone}>
            {label} {decimal(sum(values))}
          </span>
        ))}
      </p>
      <Chart label={`${title}: ${totals.join(', ')}`} bars={bars} />
      <p class="row spread small muted">
        <span>{formatMoment(new Date(from).toISOString())}</span>
        <span>{t('now')}</span>
      </p>
    </figure>
  )
}

const Graphs = ({ from, values }: Data['rates']['hour']) => (
  <div class="graphs">
    <Graph
      {...{ title: t('Webhooks'), from }}
      bars={[
        { label: t('queued'), tone: 'good', values: values.queued },
        { label: t('repeated or ignored'), tone: 'undone', values: values.repeated },
        { label: t('refused'), tone: 'bad', values: values.refused },
      ]}
    />
    <Graph
      {...{ title: t('Requests of stores'), from }}
      bars={[
        { label: t('answered'), tone: 'good', values: values.requests },
        { label: t('failed'), tone: 'bad', values: values.requestsFailed },
      ]}
    />
    <Graph
      {...{ title: t('Events'), from }}
      bars={[
        { label: t('processed'), tone: 'good', values: values.processed },
        { label: t('retried'), tone: 'wait', values: values.retried },
      ]}
    />
  </div>
)

export const Overview = page(
  {
    title: () => t('Overview'),
    reads: () => ({ overview: OVERVIEW }),
    news: ({ overview: before }, { overview: after }) => {
      const names = (data: Data) => data.alarms.filter(isActive).map(({ name }) => name)
      const [old, fresh] = [names(before), names(after)]
      const raised = fresh.filter(name => !old.includes(name))
      if (raised.length > 0) return t('Alarm: {names}', { names: raised.join(', ') })
      return old.length > 0 && fresh.length === 0 ? t('No alarm is active.') : undefined
    },
  },
  ({ overview }) => {
    const { alarms, rates, every, local } = overview
    const unknown = alarms.filter(({ state }) => state === 'unknown').length
    const seconds = (milliseconds: number) => formatDuration(milliseconds / 1000)
    return (
      <>
        <PageHead title={t('Overview')} />
        <Verdict {...overview} />
        <Section id="flow" title={t('Flow')}>
          <Flow {...overview} />
          <p class="small muted note">
            {t(
              'Queues are read every {queues}. Rates are the mean of the last {minutes} minutes, read every {metrics}.',
              {
                queues: seconds(every.queues),
                metrics: seconds(every.metrics),
                minutes: rates.minutes,
              },
            )}{' '}
            {local && t('The age of the oldest message is known on AWS only.')}
          </p>
        </Section>
        <Section id="hour" title={t('The last hour, by minutes')}>
          <Graphs {...rates.hour} />
        </Section>
        <Section id="day" title={t('The last day, by quarters of an hour')}>
          <Graphs {...rates.day} />
        </Section>
        <Section id="alarms" title={t('Alarms')}>
          <details>
            <summary>
              {t('{all} alarms: {active} active, {unknown} unknown', {
                ...{ all: alarms.length, active: alarms.filter(isActive).length, unknown },
              })}
            </summary>
            {unknown > 0 && (
              <p class="small muted note">
                {local
                  ? t('The unknown ones measure what only AWS reports.')
                  : t('The unknown ones have no data yet.')}
              </p>
            )}
            <Table caption={t('Alarms')} columns={ALARMS} rows={alarms} keyOf={({ name }) => name} />
          </details>
        </Section>
      </>
    )
  },
)
