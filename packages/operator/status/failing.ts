import { FAILED_ORDERS } from '@order-relay/lib/accounting/service.ts'
import { hasEarlyAttempts } from '@order-relay/lib/orders/early-retry.ts'
import type { Failing, StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { PARAMETERS } from '@order-relay/lib/platform/names.ts'
import { NEW_VALUE_INTERVAL_MS } from '@order-relay/lib/platform/parameters.ts'
import * as v from 'valibot'
import type { Coded } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { hasLog } from '../core/local-log.ts'
import { type LogLine, newestOf } from '../core/log.ts'
import { type DeadLetters, isSpent, isUnavailable } from '../model/failing-event.ts'
import { say, type WaitingCode } from '../model/waiting-texts.ts'
import { deadLettersOf } from '../orders/dead-letters.ts'
import { failingOrders } from '../orders/list.ts'
import type { NewKey } from './recovered.ts'

/** Maximum number of failing orders to count, and of orders to read for it. */
const LISTED = 50
const READ_MOST = 1000

/** The failures that raise the alarms about the accounting service. */
const CAUSES = { unauthorized: ({ code }: Failing) => code === 'unauthorized', unavailable: isUnavailable }

const failedBy = (cause: keyof typeof CAUSES, failing: readonly Failing[]) =>
  failing.filter(CAUSES[cause]).length

/**
 * Which alarm starts, and when. The scheduled check reads orders that wait for the service until a call succeeds, and then
 * releases their events. An event without early attempts left says nothing about the state of the service.
 */
const alarmText = (all: readonly Failing[], now: number): Coded<WaitingCode> => {
  const failing = all.filter(each => hasEarlyAttempts(each, now))
  if (failedBy('unauthorized', failing) > 0) return say('failing/alarm-key')
  const unavailable = failedBy('unavailable', failing)
  if (unavailable >= FAILED_ORDERS) return say('failing/alarm-service')
  return unavailable > 0 ? say('failing/alarm-third', { count: FAILED_ORDERS }) : say('failing/alarm-late')
}

/**
 * How many orders are retried, why, and which alarm starts when, or how many have no attempts left if none is retried; undefined
 * if none fails. Pure.
 */
export const failingText = (
  all: readonly Failing[],
  more: boolean,
  now: number,
  maxReceives: number,
): Coded<WaitingCode> | undefined => {
  const failing = all.filter(each => !isSpent(each, { maxReceives }))
  // An order that was not called has no cause of its own.
  const first = failing.find(({ code }) => code !== 'not_called') ?? failing[0]
  const [spent] = all
  if (spent === undefined) return undefined
  if (first === undefined)
    return say('failing/spent', { count: all.length, reason: { foreign: spent.message } })
  const values = {
    count: failing.length,
    reason: { foreign: first.message },
    alarm: alarmText(failing, now),
  }
  if (more) return say('failing/over', values)
  return failing.length === 1 ? say('failing/one', values) : say('failing/many', values)
}

/** When a call last failed with a code. No call was made for the other orders that wait for the same reason. */
export const lastFailed = (
  wanted: 'unavailable' | 'unauthorized',
  failing: readonly Failing[],
): string | undefined =>
  failing
    .flatMap(({ code, at }) => (code === wanted ? [at] : []))
    .toSorted()
    .at(-1)

const PROCESSED = 'event processed'

/** Events whose calls fail are retried, not processed. */
const isAnswered = ({ message, fields }: LogLine) => message === PROCESSED && Number(fields.calls) > 0

const unauthorized = v.object({ error: v.object({ code: v.literal('unauthorized') }) })

/** How far back to search for the last call before a new key, in milliseconds; waiting events are retried more often. */
const SEARCHED_MS = 20 * 60_000

/** Whether the last call for an order before a time was refused with the API key. */
const wasRefused = async (context: Context, before: Date) => {
  if (!hasLog(context)) return false
  const since = new Date(before.getTime() - SEARCHED_MS)
  const [refused] = await newestOf(context, { since, messages: [PROCESSED, 'event retried'] }, 1, line => {
    if (line.at >= before) return undefined
    if (isAnswered(line)) return false
    return v.is(unauthorized, line.fields) || undefined
  })
  return refused === true
}

/** How long after it is stored calls may be refused with the key that it replaces; a call lasts up to ten seconds. */
const NEW_KEY_MS = NEW_VALUE_INTERVAL_MS + 10_000

/**
 * The API key that has replaced a refused one, unless calls have been refused since the relay knows it.
 *
 * @param failing the last refusal that orders wait for
 */
export const newKeyOf = async (
  context: Context,
  { unauthorized_at: refused }: { unauthorized_at: string | undefined },
): Promise<NewKey | undefined> => {
  if (refused === undefined) return undefined
  // Without the right to read it, the alarm ends later.
  const { modified: stored } =
    (await context.parameters.find(PARAMETERS.accountingKey).catch(() => undefined)) ?? {}
  if (stored === undefined || Date.parse(refused) >= stored.getTime() + NEW_KEY_MS) return undefined
  // If only later calls were refused, the new key may be the one that is refused.
  if (new Date(refused) >= stored && !(await wasRefused(context, stored))) return undefined
  return { stored: stored.toISOString(), count: NEW_VALUE_INTERVAL_MS / 1000 }
}

/**
 * Remembers when the service was last found unavailable, for as long as an order waits for it. An order keeps only its last
 * failure, and the orders that found the service unavailable last may no longer fail or be called.
 *
 * @returns a function that replaces the time in each reading, so that it never goes back
 */
export const unavailableMemory = () => {
  let last: string | undefined
  return <F extends { unavailable: number; more: boolean; unavailable_at: string | undefined }>(
    failing: F,
  ): F => {
    const isOver = failing.unavailable === 0 && !failing.more
    last = isOver ? undefined : [last ?? '', failing.unavailable_at ?? ''].toSorted().at(-1) || undefined
    return { ...failing, unavailable_at: last }
  }
}

/**
 * When the service last answered a call for an order since it was found unavailable, ISO 8601. Other orders may still wait
 * for their turn.
 */
export const lastAnswered = async (
  context: Context,
  { unavailable_at }: { unavailable_at: string | undefined },
): Promise<string | undefined> => {
  if (unavailable_at === undefined || !hasLog(context)) return undefined
  const since = new Date(unavailable_at)
  const [at] = await newestOf(context, { since, messages: [PROCESSED] }, 1, line =>
    isAnswered(line) && line.at > since ? line.at : undefined,
  )
  return at?.toISOString()
}

/** The failing orders that are retried; those whose event is a dead letter may have failed longer, and fill pages. */
const firstFailing = async (context: Context, readDead: () => Promise<DeadLetters>) => {
  const orders: StoredOrder[] = []
  let cursor: string | undefined
  for (let read = 0; read < READ_MOST; read += LISTED) {
    const page = await failingOrders(context, { limit: LISTED, cursor }, readDead)
    orders.push(...page.orders)
    cursor = page.cursor
    if (cursor === undefined || orders.length >= LISTED) break
  }
  return { orders, cursor }
}

/**
 * The number of failing orders, up to a maximum, and the one that has failed longest.
 *
 * @param readDead reads the dead letters, for example from a shared reading
 */
export const failingOf = async (
  context: Context,
  readDead: () => Promise<DeadLetters> = () => deadLettersOf(context),
) => {
  let read: DeadLetters | undefined
  const { orders, cursor } = await firstFailing(context, async () => {
    read = await readDead()
    return read
  })
  const { orders: dead, unnamed, unread, maxReceives } = read ?? (await readDead())
  const [longest] = orders
  const more = cursor !== undefined
  const failures = orders.flatMap(({ failing }) => failing ?? [])
  return {
    count: orders.length,
    more,
    /** The number of orders with dead letters that are not already done. */
    dead,
    /** The number of dead letters that name no order. */
    unnamed,
    /** Whether there may be more: not all dead letters could be read. */
    more_dead: unread > 0,
    /** How many of them wait for the accounting service. */
    unauthorized: failedBy('unauthorized', failures),
    unavailable: failedBy('unavailable', failures),
    /** When a call for one of these orders last found the service unavailable. */
    unavailable_at: lastFailed('unavailable', failures),
    /** When a call for one of these orders was last refused with the API key. */
    unauthorized_at: lastFailed('unauthorized', failures),
    longest: longest && {
      source: longest.order.source,
      external_id: longest.order.external_id,
      since: longest.failing?.since,
    },
    text: failingText(failures, more, Date.now(), maxReceives),
  }
}
