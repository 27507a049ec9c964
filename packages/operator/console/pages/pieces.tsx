import { visible } from '@order-relay/lib/platform/visible.ts'
import { Choice, parameter, StoreChoice } from '@order-relay/web/filters.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { type Coded, translateCoded, translateMessage } from '@order-relay/web/messages.ts'
import { Ago, Button, type Column, Command, isToCome, Name } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { OVERVIEW, type RouteData } from './api.ts'
import { t } from './persian.ts'
import { PERSIAN } from './persian-coded.ts'

export const linkToOrder = (source: string, external_id: string) => linkTo(['orders', source, external_id])

/** A dead letter or a message in quarantine. */
export const linkToMessage = ({ command, id }: { command: 'dead' | 'quarantine'; id: string }) =>
  linkTo([command, 'message', id])

type Queues = NonNullable<RouteData<'overview'>['queues']>

/** The dead letters of feeds: those of HTTP feeds, and those that consumers of queues could not handle. */
export const deadOfFeeds = ({ feedsDead, feeds }: Queues) => [
  feedsDead,
  ...feeds.flatMap(({ dead }) => dead ?? []),
]

/** A filter by the stores of stores.yml. */
export const StoreFilter = () => {
  const { data } = useResources({ overview: OVERVIEW })
  return <StoreChoice sources={data?.overview.sources ?? []} />
}

type Outcomes = Readonly<Record<string, readonly [name: string, ...unknown[]]>>

/** Filters by period, outcome and store. */
export const ListFilters = ({ outcomes }: { outcomes: Outcomes }) => (
  <>
    <Choice label={t('Period')} options={PERIODS} {...parameter('since', '1h')} />
    <Choice
      label={t('Outcome')}
      {...parameter('outcome')}
      options={[
        ['', t('Every outcome')],
        ...Object.entries(outcomes).map(([name, [text]]) => [name, text] as const),
      ]}
    />
    <StoreFilter />
  </>
)

type Text = string | Coded<keyof typeof PERSIAN>

type MessageProps = { text: Text | undefined; as?: 'span' | 'p' | 'dd'; kind?: string }

/** A message in the reader's language. */
export const textOf = (text: Text) =>
  typeof text === 'string' ? translateMessage(visible(text)) : translateCoded(text, PERSIAN, visible)

/** A message of the relay or the service, in the reader's language. */
export const Message = ({ text = '', as: Element = 'span', kind }: MessageProps) => (
  <Element class={kind}>
    <Name>{textOf(text)}</Name>
  </Element>
)

/** An order with its store below it. */
export const OrderOfStore = ({
  source,
  external_id,
  kind = '',
}: {
  source: string
  external_id: string
  kind?: string
}) => (
  <>
    <Id value={visible(external_id)} href={linkToOrder(source, external_id)} kind={kind} longest={24} />{' '}
    <span class="small muted nowrap">
      <Name>{visible(source)}</Name>
    </span>
  </>
)

/** The columns for a row about an order, if it is known. */
export const OF_ORDER: Column<{ source?: string | undefined; external_id?: string | undefined }>[] = [
  { label: t('Store'), cell: ({ source }) => source && <Name>{visible(source)}</Name> },
  {
    label: t('Order'),
    cell: ({ source, external_id }) =>
      source &&
      external_id && <Id value={visible(external_id)} href={linkToOrder(source, external_id)} longest={24} />,
  },
]

/** The column of a list that has one row for each store. */
export const ROW_OF_STORE: Column<{ source: string }> = {
  label: t('Store'),
  cell: ({ source }) => (
    <a class="row-link" href={linkTo(['stores', source])}>
      <Name>{source}</Name>
    </a>
  ),
}

type End = { at: string; failure?: string | undefined }

const DISMISSED = 'dismissed'

/** The outcomes that the user dismissed last, identified by their end times. */
const dismissed = signal((localStorage.getItem(DISMISSED) ?? '').split(' '))

const dismiss = ({ at }: End) => {
  dismissed.value = [...dismissed.value, at].slice(-20)
  localStorage.setItem(DISMISSED, dismissed.value.join(' '))
}

/** How long a success is shown, in milliseconds. A failure remains until it is dismissed. */
const SUCCESS_MS = 10 * 60_000

/** Whether an outcome is no longer shown. */
export const isOver = (end: End | undefined): boolean =>
  end !== undefined &&
  (dismissed.value.includes(end.at) ||
    (end.failure === undefined && !isToCome(new Date(Date.parse(end.at) + SUCCESS_MS).toISOString())))

/** The time at which a job or retry ended, and a button to dismiss its outcome. */
export const Ended = ({ end, isReport = false }: { end: End; isReport?: boolean }) => (
  <p class="row small muted">
    {t('Ended {ago}', { ago: <Ago iso={end.at} /> })}
    {!isReport && (
      <Button kind="small" onClick={() => dismiss(end)}>
        {t('Dismiss')}
      </Button>
    )}
  </p>
)

type JobProps = {
  job: NonNullable<RouteData<'service'>['job']>
  stop: () => unknown
  /** The outcome is a report: the page shows it until the job is started again. */
  isReport?: boolean
}

/** The progress and outcome of a long job. */
export const Job = ({ job: { progress, end }, stop, isReport = false }: JobProps) => {
  if (!isReport && isOver(end)) return null
  const text = translateMessage(progress?.text ?? '')
  // A job that failed shows how far it came.
  const isUnfinished = end === undefined || end.failure !== undefined
  return (
    <div class="card made progress">
      {progress && isUnfinished && (
        <>
          <p class="muted">{text}</p>
          <progress value={progress.reached} max={Math.max(1, progress.total ?? 1)} aria-label={text} />
        </>
      )}
      <div role="status">
        {end?.text?.split('\n').map(line => (
          <Message key={line} text={line} as="p" kind="breaks" />
        ))}
      </div>
      <p class="error" role="alert">
        {translateMessage(end?.failure ?? '')}
      </p>
      {end === undefined ? (
        <Button onClick={stop}>{t('Stop')}</Button>
      ) : (
        <Ended end={end} isReport={isReport} />
      )}
    </div>
  )
}

/** A count with its label. */
export const Figure = ({
  label,
  value,
  tone,
  href,
  children,
}: {
  label: string
  value: number | string
  tone?: 'bad' | 'wait' | undefined
  /** A link to further reading. */
  href?: string | undefined
  children?: ComponentChildren
}) => (
  <div class="figure" data-tone={tone}>
    <dt>{href ? <a href={href}>{label}</a> : label}</dt>
    <dd>
      <span>{typeof value === 'number' ? decimal(value) : value}</span> {children}
    </dd>
  </div>
)

export const PERIODS = [
  ['1h', t('Last hour')],
  ['24h', t('Last day')],
  ['7d', t('Last week')],
] as const

/** A key or secret that is shown only once. */
export const ShownOnce = ({ text, children }: { text: string; children: ComponentChildren }) => (
  <div class="card made" role="status">
    <p>{children}</p>
    <Command text={text} />
  </div>
)
