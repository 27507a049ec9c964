import { visible } from '@order-relay/lib/platform/visible.ts'
import { StoreChoice } from '@order-relay/web/filters.tsx'
import { decimal } from '@order-relay/web/format.ts'
import { type Coded, translateCoded, translateMessage } from '@order-relay/web/messages.ts'
import { Button, Code, type Column, Facts, Name, Scrolls } from '@order-relay/web/pieces.tsx'
import { useResources } from '@order-relay/web/resources.ts'
import { linkTo } from '@order-relay/web/route.ts'
import type { ComponentChildren } from 'preact'
import { OVERVIEW, type RouteData } from './api.ts'
import { t } from './persian.ts'
import { PERSIAN } from './persian-coded.ts'

export const linkToOrder = (source: string, external_id: string) => linkTo(['orders', source, external_id])

/** A filter by the stores of stores.yml. */
export const StoreFilter = () => {
  const { data } = useResources({ overview: OVERVIEW })
  return <StoreChoice sources={data?.overview.sources ?? []} />
}

type Text = string | Coded<keyof typeof PERSIAN>

type MessageProps = { text: Text | undefined; as?: 'span' | 'p' | 'dd'; kind?: string }

const inWords = (text: Text) =>
  typeof text === 'string' ? translateMessage(visible(text)) : translateCoded(text, PERSIAN, visible)

/** A message of the relay or the service, in the reader's language. */
export const Message = ({ text = '', as: Element = 'span', kind }: MessageProps) => (
  <Element class={kind}>
    <Name>{inWords(text)}</Name>
  </Element>
)

/** The columns for a row about an order, if it is known. */
export const OF_ORDER: Column<{ source?: string | undefined; external_id?: string | undefined }>[] = [
  { label: t('Store'), kind: 'breaks', cell: ({ source }) => source && <Name>{visible(source)}</Name> },
  {
    label: t('Order'),
    kind: 'breaks',
    cell: ({ source, external_id }) =>
      source &&
      external_id && (
        <a href={linkToOrder(source, external_id)}>
          <Name>{visible(external_id)}</Name>
        </a>
      ),
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

const shown = (value: unknown) =>
  (typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value))
    .split('\n')
    .map(visible)
    .join('\n')

/** Whether a value needs a separate block, like a body. */
const isText = (value: unknown) => typeof value === 'object' || /\n|.{100}/.test(String(value))

/** A record by the names of its fields. */
export const Fields = ({ of }: { of: object }) => {
  const fields = Object.entries(of).filter(([, value]) => value !== undefined)
  return (
    <div class="card made">
      <Facts
        facts={Object.fromEntries(
          fields
            .filter(([, value]) => !isText(value))
            .map(([name, value]) => {
              const text = translateMessage(shown(value))
              const Text = text === shown(value) ? Code : Name
              return [translateMessage(name), <Text key={name}>{text}</Text>]
            }),
        )}
      />
      {fields
        .filter(([, value]) => isText(value))
        .map(([name, value]) => (
          <Scrolls key={name} label={translateMessage(name)}>
            <h2 class="small">{translateMessage(name)}</h2>
            <pre dir="auto">{shown(value)}</pre>
          </Scrolls>
        ))}
    </div>
  )
}

type JobProps = { job: NonNullable<RouteData<'service'>['job']>; stop: () => unknown }

/** The progress and outcome of a long job. */
export const Job = ({ job: { progress, end }, stop }: JobProps) => {
  const text = translateMessage(progress?.text ?? '')
  return (
    <div class="card made progress">
      {progress && end?.text === undefined && (
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
      {end === undefined && <Button onClick={stop}>{t('Stop')}</Button>}
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
      {typeof value === 'number' ? decimal(value) : value} {children}
    </dd>
  </div>
)

export const PERIODS = [
  ['1h', t('Last hour')],
  ['24h', t('Last day')],
  ['7d', t('Last week')],
] as const
