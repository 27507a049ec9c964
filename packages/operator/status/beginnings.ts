import type { AlarmCode } from '@order-relay/deploy/alarms.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import { orderName } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { collect, type Message } from '../dead-letters/message.ts'
import { QUARANTINE } from '../dead-letters/quarantine.ts'
import { readOrders } from '../orders/read.ts'
import { minuteOf } from './active.ts'

/**
 * The alarms about messages that wait for an operator, and their queues. The dead letters of an SQS feed are not among them:
 * nothing records when the store received a message for the last time, and SQS reports only when the relay sent it.
 */
export const WATCHED = {
  'dead-letters': 'ordersDead',
  'feed-dead-letters': 'feedsDead',
  quarantine: 'quarantine',
} as const satisfies Partial<Record<AlarmCode, keyof typeof QUEUES>>

export const isWatched = (code: string): code is keyof typeof WATCHED => Object.hasOwn(WATCHED, code)

/** Maximum number of messages to read from a queue. */
const LIMIT = 1000

const readNow = async (context: Context, kind: 'dead' | 'quarantine') =>
  (await collect(context, kind === 'dead' ? DEAD_LETTERS : QUARANTINE, { limit: LIMIT })).messages

/**
 * When each message entered its queue; undefined if unknown. For a dead letter, the local SQS reports when it was first queued
 * as an event. The event became a dead letter when its last attempt was due, a time that its order records.
 */
const enteredAt = async (context: Context, messages: readonly Message[]) => {
  const keyOf = ({ source = '', external_id = '' }: Message) => ({ source, external_id })
  const events = messages.filter(({ queue }) => queue === QUEUES.ordersDead)
  const orders = await readOrders(context, events.map(keyOf))
  return messages.map(message => {
    if (message.queue !== QUEUES.ordersDead) return message.at
    const failing = orders.get(orderName(keyOf(message)))?.failing
    return failing?.delivery === message.delivery ? failing && new Date(failing.next_at) : undefined
  })
}

/**
 * Adds start times to active alarms about messages that wait for an operator: the time at which the oldest message began to
 * wait. Only for alarms whose own start is unknown, as in the local stack.
 *
 * @param read reads the messages, for example from a shared reading
 */
export const withBeginnings = async <A extends { code: string; state: string; since?: string }>(
  context: Context,
  alarms: readonly A[],
  read = (kind: 'dead' | 'quarantine') => readNow(context, kind),
): Promise<A[]> => {
  const readings = new Map<string, ReturnType<typeof read>>()
  return Promise.all(
    alarms.map(async alarm => {
      const { code, state, since } = alarm
      if (!context.local || state !== 'alarm' || since !== undefined || !isWatched(code)) return alarm
      const kind = code === 'quarantine' ? 'quarantine' : 'dead'
      const reading = readings.get(kind) ?? read(kind)
      readings.set(kind, reading)
      const all = await reading
      const times = await enteredAt(
        context,
        all.filter(({ queue }) => queue === QUEUES[WATCHED[code]]),
      )
      const known = times.flatMap(time => time ?? [])
      if (known.length === 0 || known.length < times.length) return alarm
      return { ...alarm, since: minuteOf(new Date(Math.min(...known.map(Number)))) }
    }),
  )
}
