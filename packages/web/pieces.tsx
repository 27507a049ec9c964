import { signal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import {
  formatAgo,
  formatDate,
  formatHour,
  formatMinute,
  formatMoment,
  formatOtherDate,
  formatWait,
} from './format.ts'
import { copied, copy } from './id.tsx'
import { language, otherCalendar, shortened } from './language.ts'
import { t } from './persian.ts'

const OPTION = /(?<!\S)(--[a-z][\w-]*)/

/** Text in which option names do not wrap: browsers break them after a hyphen. */
export const unbroken = (text: string): ComponentChildren =>
  text.split(OPTION).map((part, index) => (index % 2 === 0 ? part : <span class="nowrap">{part}</span>))

const shown = (children: ComponentChildren) =>
  typeof children === 'string' ? unbroken(shortened(children)) : children

/** Text from a store, in its own direction. */
export const Name = ({ children }: { children: ComponentChildren }) => <bdi dir="auto">{shown(children)}</bdi>

/** A code, a number or an address. */
export const Code = ({ children }: { children: ComponentChildren }) => (
  <bdi dir="auto" class="code">
    {shown(children)}
  </bdi>
)

/** The meaning of a state: waiting, in progress, done, undone or failed. */
export type Tone = 'wait' | 'open' | 'good' | 'undone' | 'bad'

export const Chip = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class="chip" data-tone={tone}>
    {children}
  </span>
)

/** A calendar date. */
export const Day = ({ date }: { date: string }) => (
  <time dateTime={date} title={formatOtherDate(date)} class="nowrap">
    {formatDate(date)}
  </time>
)

const OTHER_LANGUAGE = otherCalendar === 'persian' ? 'fa' : language

/** A calendar date, with the same day in the other calendar. */
export const DayInBoth = ({ date }: { date: string }) => (
  <time dateTime={date}>
    {formatDate(date)}{' '}
    <span class="muted nowrap">
      (<bdi lang={OTHER_LANGUAGE}>{formatOtherDate(date)}</bdi>)
    </span>
  </time>
)

export const Moment = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={iso} dir="auto" class="nowrap">
    {formatMoment(iso)}
  </time>
)

/** A moment that is known to the minute. */
export const Minute = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={iso} dir="auto" class="nowrap">
    {formatMinute(Date.parse(iso))}
  </time>
)

/** The hour that begins at a moment. */
export const Hour = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={iso} dir="auto" class="nowrap">
    {formatHour(Date.parse(iso))}
  </time>
)

const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 1000)

/** Whether a moment is in the future. Components that read it are rendered again when the moment comes. */
export const isToCome = (iso: string) => Date.parse(iso) > now.value

/** How long until a moment, counting down. */
export const Wait = ({ until }: { until: string }) => (
  <span class="nowrap">{formatWait(until, now.value)}</span>
)

/** How long ago a moment was. */
export const Ago = ({ iso }: { iso: string }) => (
  <time dateTime={iso} title={formatMoment(iso)} class="nowrap">
    {formatAgo(iso, now.value)}
  </time>
)

type ButtonProps = {
  onClick: () => void
  label?: string
  kind?: string
  /** Marks an action that cannot be undone. */
  tone?: 'bad' | undefined
  children: ComponentChildren
}

export const Button = ({ onClick, label, kind = '', tone, children }: ButtonProps) => (
  <button type="button" class={`button ${kind}`} data-tone={tone} aria-label={label} onClick={onClick}>
    {children}
  </button>
)

type LinkProps = { href: string; children: ComponentChildren }

/** A link to another page that looks like a button. */
export const LinkButton = ({ href, children }: LinkProps) => (
  <a class="button" href={href}>
    {children}
  </a>
)

/** An empty state. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
)

/** The title of the page or section, for its heading and tables. */
export const Title = createContext('')

type SectionProps = { id: string; title: string; aside?: ComponentChildren; children: ComponentChildren }

export const Section = ({ id, title, aside, children }: SectionProps) => (
  <section class="section" aria-labelledby={id}>
    <div class="row spread">
      <h2 id={id}>{title}</h2>
      {aside}
    </div>
    <Title.Provider value={title}>{children}</Title.Provider>
  </section>
)

/** Facts by name. Facts without a value are omitted. */
export const Facts = ({ facts, kind = '' }: { facts: Record<string, ComponentChildren>; kind?: string }) => (
  <dl class={`facts ${kind}`}>
    {Object.entries(facts).map(
      ([label, value]) =>
        value && (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
)

/** A horizontally scrolling part of a page, accessible by keyboard. */
export const Scrolls = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes focus, so that arrow keys scroll it.
  <section class="scrolls" tabIndex={0} aria-label={label}>
    {children}
  </section>
)

type HappenedProps = { what: string; at: string; tone: Tone | undefined; children: ComponentChildren }

/** An entry of a timeline. */
export const Happened = ({ what, at, tone, children }: HappenedProps) => (
  <li data-tone={tone}>
    <p class="row spread">
      <strong>{what}</strong>
      <span class="small muted">
        <Moment iso={at} />
      </span>
    </p>
    {children}
  </li>
)

/** A command or other text that can be copied. */
export const Command = ({ text }: { text: string }) => (
  <div class="command">
    <pre dir="ltr">{unbroken(text)}</pre>
    <Button kind="small" onClick={() => copy(text)}>
      {copied.value === text ? t('Copied') : t('Copy')}
    </Button>
  </div>
)

export type Column<Row> = {
  label: string
  kind?: string
  /** Hides the label, for example above buttons. */
  isBare?: boolean
  cell: (row: Row) => ComponentChildren
  /** The cell of a last row, such as the sum of the column. The first column names that row. */
  foot?: ComponentChildren
}

type TableProps<Row> = {
  /** @default the title of its section or page */
  caption?: string
  kind?: string
  /** The first column names the row. */
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Shown instead of the table while it has no rows. */
  children?: ComponentChildren
}

const ROW_HEADER = { role: 'rowheader', scope: 'row' } as const
const CELL = { role: 'cell' } as const

/** A table whose rows become cards on narrow screens. Roles are explicit, since that layout removes them. */
export const Table = <Row,>({ rows, children, ...about }: TableProps<Row>) =>
  rows.length === 0 && children !== undefined ? children : <Rows rows={rows} {...about} />

const Caption = ({ text }: { text: string | undefined }) => {
  const title = useContext(Title)
  return <caption class="visually-hidden">{text ?? title}</caption>
}

const Rows = <Row,>({ caption, kind = '', columns, rows, keyOf }: TableProps<Row>) => (
  <table role="table" class={`table ${kind}`}>
    <Caption text={caption} />
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ label, kind, isBare }) => (
          <th key={label} role="columnheader" scope="col" class={kind}>
            {isBare ? <span class="visually-hidden">{label}</span> : label}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {rows.map(row => (
        <tr key={keyOf(row)} role="row">
          {columns.map(({ label, kind, isBare, cell }, index) => {
            const Cell = index === 0 ? 'th' : 'td'
            const about = index === 0 ? ROW_HEADER : { ...CELL, 'data-label': isBare ? undefined : label }
            return (
              <Cell key={label} class={kind} {...about}>
                {cell(row)}
              </Cell>
            )
          })}
        </tr>
      ))}
    </tbody>
    {columns[0]?.foot !== undefined && (
      <tfoot role="rowgroup">
        <tr role="row">
          {columns.map(({ label, kind, foot }, index) =>
            index === 0 ? (
              <th key={label} class={kind} {...ROW_HEADER}>
                {foot}
              </th>
            ) : (
              <td key={label} class={kind} {...CELL} data-label={label}>
                {foot}
              </td>
            ),
          )}
        </tr>
      </tfoot>
    )}
  </table>
)

type RowButton<Row> = [text: string, labelOf: (row: Row) => string, onClick: (row: Row) => void]

/** A column of buttons. */
export const buttons = <Row,>(...all: RowButton<Row>[]): Column<Row> => ({
  label: t('Actions'),
  kind: 'buttons',
  isBare: true,
  cell: row => (
    <span class="row">
      {all.map(([text, labelOf, onClick]) => (
        <Button key={text} kind="small" label={labelOf(row)} onClick={() => onClick(row)}>
          {text}
        </Button>
      ))}
    </span>
  ),
})
