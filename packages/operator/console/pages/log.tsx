import { visible } from '@order-relay/lib/platform/visible.ts'
import { Choice, parameter, TextChoice } from '@order-relay/web/filters.tsx'
import { inSlot, messageOf } from '@order-relay/web/http.ts'
import { Id } from '@order-relay/web/id.tsx'
import { Button, Moment } from '@order-relay/web/pieces.tsx'
import { isInFront } from '@order-relay/web/resources.ts'
import { linkTo, type Route } from '@order-relay/web/route.ts'
import { PageHead, page } from '@order-relay/web/shell.tsx'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type RouteData, streams } from './api.ts'
import { t } from './persian.ts'
import { linkToOrder, PERIODS, StoreFilter } from './pieces.tsx'

type Line = RouteData<'log'> & { number: number }

type Filter = { since: string } & {
  [Name in 'source' | 'order' | 'delivery' | 'q' | 'errors' | 'pings']?: string
}

/** Maximum number of lines shown. */
const SHOWN = 300

/** How long lines are collected before they are shown, in milliseconds. */
const SETTLE_MS = 100

const TOO_MANY = t(
  'Three other windows of this browser follow the log, which is the maximum. Leave the log in one of them, then resume here.',
)

/** A line, without the fields that the filter fixes. */
const LineItem = ({ line, filter }: { line: Line; filter: Filter }) => {
  const { at, from, level, message, order, delivery, isWebhook, text, stack } = line
  return (
    <li data-tone={level === 'INFO' ? undefined : 'bad'}>
      <Moment iso={at} /> {from} <strong>{level === 'INFO' ? message : `${level} ${message}`}</strong>{' '}
      {order && order.external_id !== filter.order && (
        <a href={linkToOrder(order.source, order.external_id)}>
          {visible(`${order.source} ${order.external_id}`)}
        </a>
      )}{' '}
      {delivery && delivery !== filter.delivery && (
        <Id
          value={visible(delivery)}
          href={isWebhook ? linkTo(['deliveries', delivery]) : linkTo(['log'], { ...filter, delivery })}
        />
      )}{' '}
      <code class="breaks">{visible(text)}</code>
      {stack && (
        <details>
          <summary>{t('Stack')}</summary>
          <pre>{stack}</pre>
        </details>
      )}
    </li>
  )
}

/** Resolves when this tab no longer follows the log with an earlier filter. */
let released = Promise.resolve()

/** Follows the log: the matching lines, newest first. */
export const Lines = (filter: Filter) => {
  const lines = useSignal<readonly Line[]>([])
  /** The lines shown while the list is paused. */
  const paused = useSignal<readonly Line[] | undefined>(undefined)
  const problem = useSignal('')
  const round = useSignal(0)
  // Following again would lose the lines that a paused list shows.
  const isFollowed = isInFront.value || paused.value !== undefined
  useEffect(() => {
    if (!isFollowed) return
    const leaving = new AbortController()
    let number = 0
    let fresh: Line[] = []
    const show = () => {
      if (!leaving.signal.aborted) lines.value = [...fresh.toReversed(), ...lines.value].slice(0, SHOWN)
      fresh = []
    }
    const follow = async () => {
      lines.value = []
      paused.value = undefined
      problem.value = ''
      const isRead = await inSlot('log', async () => {
        for await (const line of streams('log', filter, leaving.signal))
          if (fresh.push({ ...line, number: number++ }) === 1) setTimeout(show, SETTLE_MS)
      })
      throw new Error(isRead ? 'The log has ended' : TOO_MANY)
    }
    released = released.then(follow).catch(error => {
      if (!leaving.signal.aborted) problem.value = messageOf(error)
    })
    return () => leaving.abort()
  }, [JSON.stringify(filter), round.value, isFollowed])
  const newest = (of: readonly Line[]) => (of[0]?.number ?? -1) + 1
  const waiting = paused.value === undefined ? 0 : newest(lines.value) - newest(paused.value)
  const shown = paused.value ?? lines.value
  const state = shown.length === 0 ? t('Following the log: no line matches yet.') : t('Following the log.')
  const hasEnded = problem.value !== ''
  const label = paused.value ? t('Resume') : t('Pause')
  const change = () => {
    if (hasEnded) round.value += 1
    else paused.value = paused.value ? undefined : lines.value
  }
  return (
    <>
      <p class="row note">
        <span role="status">{paused.value ? t('Paused.') : !hasEnded && state}</span>
        <Button kind="small" onClick={change}>
          {hasEnded ? t('Resume following') : label}
        </Button>
        {waiting > 0 && (
          <span class="small muted">{t('{count} new {count|line|lines}', { count: waiting })}</span>
        )}
      </p>
      <p class="error" role="alert">
        {problem.value}
      </p>
      <ol class="lines small" dir="ltr" aria-label={t('Log')}>
        {shown.map(line => (
          <LineItem key={line.number} line={line} filter={filter} />
        ))}
      </ol>
    </>
  )
}

const LOG_PERIODS = [['10m', t('Last ten minutes')], ...PERIODS] as const

const LEVELS = [
  ['', t('All lines')],
  ['true', t('Warnings, errors')],
] as const

const PINGS = [
  ['', t('Without pings')],
  ['true', t('With pings')],
] as const

const TEXTS = [
  ['q', t('Text in the line')],
  ['order', t('Order number')],
  ['delivery', t('Delivery, request or message')],
] as const

const filterOf = ({ query }: Route): Filter => ({ since: '10m', ...Object.fromEntries(query) })

/** The log of the functions, live. */
export const Log = page({ title: () => t('Log'), reads: () => ({}) }, ({ route }) => (
  <>
    <PageHead />
    <search class="filters row" data-keeps-focus>
      {TEXTS.map(([name, label]) => (
        <TextChoice key={name} label={label} {...parameter(name)} />
      ))}
      <Choice label={t('Period')} options={LOG_PERIODS} {...parameter('since', '10m')} />
      <StoreFilter />
      <Choice label={t('Level')} options={LEVELS} {...parameter('errors')} />
      <Choice label={t('Pings')} options={PINGS} {...parameter('pings')} />
    </search>
    <p class="small muted note">
      {t('Pings are the signed webhooks with which Setup and the commands check a secret.')}
    </p>
    <Lines {...filterOf(route)} />
  </>
))
