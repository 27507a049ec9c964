import { randomUUID } from 'node:crypto'
import { complaintsOf } from '../../proof/crash/complaints.ts'
import { PATTERNS } from '../../proof/crash/explore.ts'
import type { Place } from '../../proof/crash/places.ts'
import { type Bug, type Ending, keyOf, type Life, live, type World } from '../../proof/crash/world.ts'
import { hearAlarms } from './alarms.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Webhooks come again by the schedule of the sandbox: after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h. */
const [SCHEDULE] = PATTERNS.filter(({ name }) => name === 'once, again within five minutes')

export const paid = (external_id: string): Ending => ({
  external_id,
  status: 'paid',
  documents: ['invoice', 'receipt'],
})

export const refunded = (external_id: string): Ending => ({
  external_id,
  status: 'refunded',
  documents: ['invoice', 'receipt', 'return'],
})

/**
 * Lets days pass in the world of the crash proof: the relay's real code, with models of everything around it
 * and a clock that costs nothing.
 */
export const days = async (life: Omit<Life, 'name'>, bug: Bug = {}) => {
  if (SCHEDULE === undefined) throw new Error('Cannot let days pass: no such schedule')
  let now = () => 0
  let start = 0
  const alarms = hearAlarms(() => now() - start)
  const whole: Life = {
    name: 'days',
    ...life,
    happens(world) {
      now = world.clock.now
      start = now()
      life.happens(world)
    },
  }
  const ran = await live(whole, SCHEDULE, [], bug)
  const { world } = ran
  return {
    world,
    alarms,
    /** What is not as it should be in the end: service, table and store are compared. */
    complaints: complaintsOf(ran, whole, 0),
    /** In milliseconds from the start. */
    since: (time: number) => time - start,
  }
}

/** What is in the queue of dead letters goes back behind its order, as `relay dead replay --all` does it. */
export const replayAll = ({ line }: World): number => {
  const letters = line.dead().splice(0)
  for (const { group, body } of letters) line.send({ group, dedup: randomUUID(), body })
  return letters.length
}

/**
 * An accountant mends an order in the first of ten hours in which these places answer with an error. Its webhook
 * is tried in vain 1.2 and 7.2 hours after, and taken 31.2 hours after; the scheduled check is sooner.
 */
export const tenHoursWithout = async (places: ReadonlySet<Place>, error: () => Error) => {
  let heard: number | undefined
  const { complaints, world, since } = await days({
    treatment: () => ({ review: true }),
    trouble: (place, elapsed) =>
      elapsed > MINUTE && elapsed < 10 * HOUR && places.has(place) ? error() : undefined,
    reconciles: Array.from({ length: 12 * 12 }, (_, count) => count * 5 * MINUTE + 30 * SECOND),
    happens({ store, service, clock }) {
      const began = clock.now()
      store.create(keyOf('1001'), () => store.pay(keyOf('1001')))
      clock.after(0.5 * HOUR, () => service.outside.retry(keyOf('1001')))
      for (let at = 0; at < 2 * DAY; at += MINUTE)
        clock.after(at, () => {
          if (store.heard.at(-1)?.data.status === 'paid') heard ??= clock.now() - began
        })
    },
    ends: [paid('1001')],
  })
  const webhook = world.onLine.find(({ body }) => body.includes('"order.updated"'))
  return { complaints, heard, cameBack: since(webhook?.sentAt ?? 0) }
}
