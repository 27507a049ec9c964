import type { AlarmCode } from '@order-relay/deploy/alarms.ts'

/**
 * The alarms of queues and the counters that raise an alarm about the same messages, since SQS reports the depth of a queue
 * that was idle up to fifteen minutes late.
 */
const COUNTERS: Partial<Record<AlarmCode, readonly AlarmCode[]>> = {
  quarantine: ['quarantined-by-webhook', 'quarantined-by-worker'],
  'feed-dead-letters': ['feed-dead-lettered'],
}

type Alarm = { code: AlarmCode; state: string; since?: string }

/** A time to the minute: intervals of the local metrics do not show the second at which a condition was first met. */
export const minuteOf = (at: Date) => `${at.toISOString().slice(0, 16)}Z`

/**
 * The active alarms, one for each cause. The alarm of a queue has the start time of the counter's alarm if that is
 * earlier.
 */
export const activeAlarms = <A extends Alarm>(alarms: readonly A[]): A[] => {
  const active = alarms.filter(({ state }) => state === 'alarm')
  const countersOf = ({ code }: Alarm) =>
    active.filter(({ code: other }) => COUNTERS[code]?.includes(other) ?? false)
  const counted = new Set(active.flatMap(countersOf))
  return active
    .filter(alarm => !counted.has(alarm))
    .map(alarm => {
      const times = [alarm, ...countersOf(alarm)].flatMap(({ since }) => since ?? [])
      const [since] = times.toSorted((a, b) => Date.parse(a) - Date.parse(b))
      return since === undefined ? alarm : { ...alarm, since }
    })
}

/** If the previous reading is at most this old, in milliseconds, a newly active alarm has just started. */
const SEEN_MS = 10_000

/**
 * Remembers when alarms started. The local stack cannot tell when a queue was filled, and the alarm of the counter for the same
 * messages ends earlier. An alarm whose start was not observed has no start time.
 *
 * @returns a function that adds the start times to the alarms of each reading
 */
export const alarmMemory = () => {
  let before: ReadonlyMap<string, { state: string; since?: string | undefined }> = new Map()
  let readAt = 0
  return <A extends Alarm & { name: string }>(alarms: readonly A[], now: number): A[] => {
    const counted = new Map(activeAlarms(alarms).map(({ name, since }) => [name, since]))
    const sinceOf = ({ name, state, since }: A) => {
      if (state !== 'alarm' || since !== undefined) return since
      const last = before.get(name)
      const hasBegun = last?.state === 'ok' && now - readAt < SEEN_MS
      return (
        (last?.state === 'alarm' ? last.since : undefined) ??
        counted.get(name) ??
        (hasBegun ? minuteOf(new Date(now)) : undefined)
      )
    }
    const known = alarms.map(alarm => {
      const since = sinceOf(alarm)
      return since === undefined ? alarm : { ...alarm, since }
    })
    before = new Map(known.map(({ name, state, since }) => [name, { state, since }]))
    readAt = now
    return known
  }
}
