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

/** The active alarms, one for each cause: that of a queue, with the time at which its counter raised an alarm. */
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
