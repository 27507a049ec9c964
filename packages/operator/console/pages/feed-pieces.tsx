import { formatMilliseconds, serial } from '@order-relay/web/format.ts'
import { Id } from '@order-relay/web/id.tsx'
import { separator } from '@order-relay/web/language.ts'
import { attempt } from '@order-relay/web/notices.ts'
import { Button, Chip, type Column, isToCome, Moment, type Tone, Wait } from '@order-relay/web/pieces.tsx'
import { linkTo } from '@order-relay/web/route.ts'
import { act, type RouteData } from './api.ts'
import { t } from './persian.ts'
import { Message } from './pieces.tsx'
import { plan } from './plans.tsx'

export type FeedMessage = RouteData<'feed'>['messages'][number]
type Attempt = FeedMessage['attempts'][number]
type Key = { source: string; external_id: string }

/** The log messages of attempts. */
export const FEED_CHANGES = [
  'feed message delivered',
  'feed message retried',
  'feed message waits for a URL',
  'feed message dead-lettered',
]

export const OUTCOMES: Readonly<
  Record<Exclude<Attempt['outcome'], 'deleted' | 'replayed'>, readonly [name: string, tone: Tone]>
> = {
  accepted: [t('accepted'), 'good'],
  failed: [t('failed'), 'bad'],
  unsent: [t('not sent'), 'wait'],
  dead: [t('dead letter'), 'bad'],
}

const ATTEMPTED: Readonly<Record<Attempt['outcome'], readonly [name: string, tone: Tone]>> = {
  ...OUTCOMES,
  deleted: [t('deleted'), 'undone'],
  replayed: [t('replayed'), 'open'],
}

const STATES: Readonly<Record<FeedMessage['state'], readonly [name: string, tone: Tone]>> = {
  sent: [t('sent to its queue'), 'good'],
  accepted: [t('accepted'), 'good'],
  failing: [t('fails'), 'bad'],
  unsent: [t('not sent'), 'wait'],
  dead: [t('dead letter'), 'bad'],
  'failing or dead': [t('fails, or is a dead letter'), 'bad'],
  stopped: [t('no longer delivered'), 'bad'],
  deleted: [t('deleted by an operator, not received'), 'undone'],
  queued: [t('queued'), 'open'],
  'not failed': [t('queued or accepted'), 'open'],
  unrecorded: [t('not recorded'), 'undone'],
}

/** The time of the next attempt, or "now" if it is due. */
const Next = ({ at }: { at: string }) => <span>{isToCome(at) ? <Wait until={at} /> : t('now')}</span>

/** Why an attempt was not made. In the past tense, since the cause may have been resolved. */
const CODES: Readonly<Record<string, string>> = {
  disabled: t('the feed was disabled'),
  unregistered: t('the store had registered no URL'),
  no_secret: t('the store had no signing secret'),
}

/** Parts of an attempt, or of its line in the log. */
type Made = { outcome: Attempt['outcome'] } & {
  [Name in 'code' | 'error' | 'next_at']?: string | undefined
} & { [Name in 'status' | 'receives' | 'ms']?: number | undefined }

/** The status of the store's response, or the reason why there is none. */
const Answer = ({ code = '', status, error }: Made) => {
  const known = status === undefined ? CODES[code] : serial(status)
  return known === undefined ? <Message text={error} /> : <span>{known}</span>
}

/** The state of a message and its details. */
export const FeedState = (message: FeedMessage) => {
  const [name, tone] = STATES[message.state]
  const last = 'last' in message ? message.last : undefined
  return (
    <>
      <Chip tone={tone}>{name}</Chip>{' '}
      {message.state === 'dead' && (
        <span class="small muted">
          {t('since {time}', { time: <Moment iso={message.since} /> })}
          {last && separator}
        </span>
      )}
      {last && (
        <span class="small muted">
          <Answer {...last} />
          {separator}
          <Moment iso={last.at} />
          {message.secret_is_set && `${separator}${t('a secret is set now')}`}
          {last.ms !== undefined && `${separator}${formatMilliseconds(last.ms)}`}
          {last.next_at !== undefined && (
            <>
              {separator}
              {t('next attempt {when}', { when: <Next at={last.next_at} /> })}
            </>
          )}
        </span>
      )}
      {message.state === 'sent' && (
        <span class="small muted">
          <Moment iso={message.published_at} />
        </span>
      )}
      {message.state === 'queued' && message.behind && (
        <span class="small muted">{t('behind {message}', { message: <Id value={message.behind} /> })}</span>
      )}
      {message.replayed_at !== undefined && (
        <span class="small muted">
          {' '}
          {t('An operator replayed its dead letter {when}.', { when: <Moment iso={message.replayed_at} /> })}
        </span>
      )}
    </>
  )
}

/** The columns of an attempt. */
export const OF_ATTEMPT: Column<Made>[] = [
  {
    label: t('Outcome'),
    cell: ({ outcome }) => <Chip tone={ATTEMPTED[outcome][1]}>{ATTEMPTED[outcome][0]}</Chip>,
  },
  {
    label: t('Answer'),
    kind: 'breaks',
    cell: row => !['dead', 'deleted', 'replayed'].includes(row.outcome) && <Answer {...row} />,
  },
  { label: t('Duration'), kind: 'number', cell: ({ ms }) => ms !== undefined && formatMilliseconds(ms) },
  { label: t('Attempt'), kind: 'number', cell: ({ receives }) => receives && serial(receives) },
  // A manual retry may have come first.
  { label: t('Next planned'), kind: 'breaks', cell: ({ next_at }) => next_at && <Moment iso={next_at} /> },
]

const retry = ({ source, external_id }: Key) =>
  attempt(async () => {
    const done = await act('feeds/retry', { source, external_id })
    if ('dead' in done)
      throw new Error(
        done.dead.length === 0
          ? t('No message of the order is waiting for its next attempt.')
          : t('The message has meanwhile become a dead letter. Only a replay sends it again.'),
      )
  }, t('The message is being sent to the store.'))

/** Retries the waiting messages of a store, whose page shows the progress. */
export const retryStore = (source: string) =>
  attempt(async () => {
    await act('feeds/retry-store', { source })
    location.hash = linkTo(['stores', source])
  })

/**
 * Retries the failing message of an order or, if none fails, plans the replay of its dead letters. Not shown for disabled feeds,
 * which are not called.
 */
export const RetryButton = ({ order, messages }: { order: Key; messages: readonly FeedMessage[] }) => {
  const failing = messages.find(({ state }) => state === 'failing' || state === 'unsent')
  const dead = messages.flatMap(({ state, delivery }) => (state === 'dead' ? [delivery] : []))
  if (failing === undefined && dead.length > 0)
    return (
      <Button kind="small" onClick={() => plan('dead', 'replay', { ids: dead })}>
        {t('Replay the message to the store…')}
      </Button>
    )
  if (failing === undefined || ('last' in failing && failing.last?.code === 'disabled')) return null
  return (
    <Button kind="small" onClick={() => retry(order)}>
      {t('Retry the message to the store')}
    </Button>
  )
}

/** Says that the store of an order was removed. */
export const StoreRemoved = ({ feed }: Pick<RouteData<'feed'>, 'feed'>) =>
  feed === 'removed' && (
    <p class="note">{t('stores.yml no longer has this store, so its messages are not delivered.')}</p>
  )

export const linkToFeed = ({ source, external_id }: Key) => linkTo(['feeds', source, external_id])
