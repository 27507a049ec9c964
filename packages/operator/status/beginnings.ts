import type { AlarmCode } from '@order-relay/deploy/alarms.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { QUARANTINE } from '../dead-letters/quarantine.ts'
import { collect } from '../model/message.ts'
import { minuteOf } from './active.ts'

/** The alarms about messages that wait for an operator in a queue of the relay, and these queues. */
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
      const times = (await reading).flatMap(({ queue, at }) =>
        queue === QUEUES[WATCHED[code]] ? [at.getTime()] : [],
      )
      if (times.length === 0) return alarm
      return { ...alarm, since: minuteOf(new Date(Math.min(...times))) }
    }),
  )
}
