import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { QUEUE_IDS } from '../../deploy/queues.ts'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { retryDelay } from '../../lib/platform/retry.ts'
import { PATTERNS } from '../crash/explore.ts'
import { type Adjust, LIMITS } from '../crash/functions.ts'
import { type Place, WEB } from '../crash/places.ts'
import { violationsOf } from '../crash/violations.ts'
import { runScenario, type Scenario, type World } from '../crash/world.ts'
import { DAY, HOUR, type Lifecycle, MINUTE, SECOND } from '../scenarios.ts'
import { alarmMonitor } from '../support/alarms.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

/** Webhooks are retried by the schedule of the sandbox: after 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h. */
const [SCHEDULE] = PATTERNS.filter(({ name }) => name === 'once, retried within five minutes')

type Alarms = ReturnType<typeof alarmMonitor>
type Days = Omit<Scenario, 'name' | 'happens'> & { happens?: (world: World, alarms: Alarms) => void }

/** Plays days in virtual time: the functions between models of everything around them. */
const days = async (scenario: Days) => {
  if (SCHEDULE === undefined) throw new Error('Cannot play: the schedule is missing')
  let elapsed = () => 0
  const alarms = alarmMonitor(() => elapsed())
  const { telemetry } = recordingTelemetry(alarms.measure)
  const run = await runScenario(
    {
      name: 'days',
      telemetry,
      ...scenario,
      happens(world) {
        elapsed = world.elapsed
        scenario.happens?.(world, alarms)
      },
    },
    SCHEDULE,
  )
  return { world: run.world, alarms, violations: violationsOf(run) }
}

const every = (interval: number, until: number) =>
  Array.from({ length: Math.floor(until / interval) }, (_, count) => (count + 1) * interval)

/** What is in the dead-letter queue goes back behind its order, as `relay dead replay --all` does it. */
const replayAll = ({ queues }: World): number => {
  const letters = queues.orders.dead().splice(0)
  for (const { id, group, body } of letters) queues.orders.send({ group, dedup: `replay of ${id}`, body })
  return letters.length
}

const PAID: Lifecycle = { createdBy: 'relay', pays: true }
const REFUNDED: Lifecycle = { ...PAID, refunds: true }

const serviceDownFor = (time: number) => (place: Place, elapsed: number) =>
  place.startsWith('worker: call') && elapsed < time ? new Error('connect ECONNREFUSED') : undefined

test('after twelve hours without the service nothing is dead-lettered, and everything is published in order', async () => {
  const { violations, alarms, world } = await days({
    orders: { 1001: { ...REFUNDED, mayRetry: true }, 1002: { ...PAID, mayRetry: true } },
    outage: serviceDownFor(12 * HOUR),
  })
  expect(violations).toEqual([])
  expect(alarms.raisedAt('order-stuck')).toBeGreaterThan(30 * MINUTE)
  expect(alarms.raisedAt('order-stuck')).toBeLessThan(45 * MINUTE)
  const [first] = world.events
  const last = Math.max(...world.events.map(({ deletedAt = Number.NaN }) => deletedAt))
  expect(last - (first?.sentAt ?? 0)).toBeGreaterThan(12 * HOUR)
  expect(last - (first?.sentAt ?? 0)).toBeLessThan(12.5 * HOUR)
})

test('two hundred receives take from 24 to 48 and a half hours, whatever the jitter', () => {
  const [shortest = 0, longest = 0] = [0, 1].map(random =>
    Array.from({ length: LIMITS.orders.maxReceives }, (_, count) => retryDelay(count + 1, random)).reduce(
      (sum, seconds) => sum + seconds,
    ),
  )
  expect((shortest * SECOND) / HOUR).toBeGreaterThan(24)
  expect((longest * SECOND) / HOUR).toBeLessThan(48.5)
})

test('an event is dead-lettered after a day and a half, and a replay ends as if nothing had been', async () => {
  let deadAt: number | undefined
  let replayed = 0
  const { violations } = await days({
    orders: { 1001: { ...PAID, mayRetry: true } },
    outage: serviceDownFor(60 * HOUR),
    happens(world) {
      for (const at of every(HOUR, 60 * HOUR))
        world.clock.after(at, () => {
          if (world.queues.orders.dead().length > 0) deadAt ??= at
        })
      world.clock.after(61 * HOUR, () => {
        replayed = replayAll(world)
      })
    },
  })
  expect(violations).toEqual([])
  expect(replayed).toBe(2)
  expect(deadAt).toBe(37 * HOUR)
})

const clockOffBy = (seconds: number, until: number): Adjust => {
  let began: number | undefined
  return (name, dependencies) => {
    const now = () => {
      const time = dependencies.now()
      began ??= time
      return time < began + until ? time + seconds * SECOND : time
    }
    return name === 'webhook' ? { ...dependencies, now } : dependencies
  }
}

const WRONG_FOR = 1.5 * HOUR
const offBy = (ms: number) => (elapsed: number) => (elapsed < WRONG_FOR ? ms : 0)

test.each([
  { whose: "the service's, fast", skew: offBy(6 * MINUTE) },
  { whose: "the service's, slow", skew: offBy(-6 * MINUTE) },
  { whose: 'ours, fast', adjust: clockOffBy(360, WRONG_FOR) },
  { whose: 'ours, slow', adjust: clockOffBy(-360, WRONG_FOR) },
])('a clock six minutes off delays webhooks and loses none: $whose', async ({ whose, ...wrong }) => {
  const { violations, world } = await days({
    ...wrong,
    orders: {
      1001: {
        createdBy: 'relay',
        review: true,
        fixedAfter: MINUTE,
        accountant: [
          { after: HOUR, does: 'payment' },
          { after: 1.1 * HOUR, does: 'edit' },
        ],
      },
    },
  })
  // With our own clock wrong, authentic webhooks are refused; that is what is shown here.
  expect(violations.filter(violation => !violation.endsWith('is authentic and was answered 401'))).toEqual([])
  expect(violations.length > 0).toBe(whose.startsWith('ours'))
  const [first] = world.sender.sent
  expect(first?.attempts.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401, 200])
})

test.each([5 * MINUTE, -5 * MINUTE])('a clock five minutes off is tolerated: %s ms', async ms => {
  const { violations, world } = await days({
    skew: () => ms,
    orders: { 1001: { createdBy: 'relay', review: true, fixedAfter: MINUTE, pays: true } },
  })
  expect(violations).toEqual([])
  expect(world.sender.sent.map(({ attempts }) => attempts.length)).toEqual([1])
})

const TWO_DAYS = (elapsed: number) => (elapsed < 2 * DAY ? 6 * MINUTE : 0)

test('a clock off for longer than the service retries costs webhooks; the reconciliation finds what they said', async () => {
  const { violations, world } = await days({
    orders: { 1001: { createdBy: 'relay', review: true, fixedAfter: HOUR, pays: true } },
    skew: TWO_DAYS,
    reconcileAt: every(30 * MINUTE, 3 * DAY),
  })
  const [webhook] = world.sender.sent
  expect(violations).toEqual([`webhook ${webhook?.delivery} was given up`])
  expect(webhook?.attempts).toHaveLength(8)
})

test.each([
  {
    isResent: false,
    missing: ['1001: the table differs from the service', '1001: the store differs from the service'],
  },
  { isResent: true, missing: [] },
])(
  'a settled order misses such a webhook until the service sends it again: $isResent',
  async ({ isResent, missing }) => {
    const { violations, world } = await days({
      orders: { 1001: { ...PAID, accountant: [{ after: HOUR, does: 'edit' }] } },
      skew: TWO_DAYS,
      reconcileAt: [10 * HOUR, 30 * HOUR, 50 * HOUR],
      happens: ({ clock, sender }) =>
        clock.after(49 * HOUR, () => {
          const [webhook] = sender.sent
          if (isResent && webhook !== undefined) sender.send(webhook.delivery, webhook.body)
        }),
    })
    expect(violations).toEqual([`webhook ${world.sender.sent[0]?.delivery} was given up`, ...missing])
  },
)

const DYNAMODB: readonly Place[] = [
  ...(['webhook: read the delivery', 'webhook: record the delivery', 'api: read the order'] as const),
  ...(['reconcile: query due orders', 'reconcile: postpone the check'] as const),
  ...(['worker: read the order', 'worker: save the order'] as const),
]
const SQS: readonly Place[] = [
  ...(['webhook: send to the order queue', 'api: send to the order queue'] as const),
  ...(['reconcile: send to the order queue', 'worker: publish to the feed'] as const),
  ...(['worker: extend visibility', 'worker: delete messages'] as const),
]

test.each([
  { service: 'DynamoDB', places: DYNAMODB },
  { service: 'SQS', places: SQS },
])(
  'after ten hours without $service the reconciliation finds what a webhook would say a day later',
  async ({ places }) => {
    let notifiedAt: number | undefined
    let began = 0
    const { violations, world } = await days({
      orders: { 1001: { ...PAID, review: true, fixedAfter: HOUR / 2, mayRetry: true } },
      outage: (place, elapsed) =>
        elapsed > MINUTE && elapsed < 10 * HOUR && places.includes(place)
          ? new Error('ThrottlingException')
          : undefined,
      reconcileAt: every(5 * MINUTE, 12 * HOUR),
      happens({ clock, stores, elapsed }) {
        began = clock.now()
        stores.onMessage('1001', ({ event, data }) => {
          if (event === 'order.updated' && data.status === 'paid') notifiedAt ??= elapsed()
        })
      },
    })
    expect(violations).toEqual([])
    expect(notifiedAt).toBeLessThan(10 * HOUR + 6 * MINUTE)
    const webhook = world.events.find(({ body }) => body.includes('"order.updated"'))
    expect((webhook?.sentAt ?? 0) - began).toBeGreaterThan(31 * HOUR)
  },
)

test('an event that cannot be read is quarantined at once and delays nothing, not even its own order', async () => {
  const unreadable = '{"event":"order.teleported"}'
  const { violations, alarms, world } = await days({
    orders: { 1001: PAID },
    quarantined: [unreadable],
    happens: ({ queues, keyOf }) =>
      queues.orders.send({ group: messageGroupOf(keyOf('1001')), dedup: 'unreadable', body: unreadable }),
  })
  expect(violations).toEqual([])
  const event = world.events.find(({ body }) => body === unreadable)
  expect(event?.receivedAt).toHaveLength(1)
  expect((event?.deletedAt ?? Number.NaN) - (event?.sentAt ?? 0)).toBeLessThan(SECOND)
  alarms.measureQueue(
    QUEUE_IDS.quarantine,
    'ApproximateNumberOfMessagesVisible',
    world.cloud.quarantine.length,
  )
  expect(alarms.isRaised('quarantine')).toBe(true)
})

/** A bug of the relay: saving the payment of one order throws, until a version without it is deployed. */
const bugUntil = (until: number): Adjust => {
  let began: number | undefined
  return (name, dependencies) => {
    const { dynamodb, now } = dependencies
    began ??= now()
    const fixedAt = began + until
    const send: typeof dynamodb.send = (command: unknown, ...rest: unknown[]) => {
      const { external_id, intents } = (command instanceof PutItemCommand && command.input.Item) || {}
      if (external_id?.S === '1001' && intents?.S?.includes('"payment"') && now() < fixedAt)
        throw new TypeError("Cannot read properties of undefined (reading 'amount')")
      return Reflect.apply(dynamodb.send, dynamodb, [command, ...rest])
    }
    return name === 'worker' ? { ...dependencies, dynamodb: { send } } : dependencies
  }
}

test('an event that always fails delays its own order only, until an upgrade and a replay', async () => {
  const dead: { at: number; letters: number }[] = []
  let replayed = 0
  const { violations, alarms } = await days({
    orders: { 1001: { ...REFUNDED, mayRetry: true }, 1002: PAID, 1003: PAID },
    adjust: bugUntil(60 * HOUR),
    reconcileAt: every(30 * MINUTE, 3 * DAY),
    happens(world) {
      for (const at of every(10 * MINUTE, 60 * HOUR))
        world.clock.after(at, () => {
          const letters = world.queues.orders.dead().length
          if (letters > (dead.at(-1)?.letters ?? 0)) dead.push({ at, letters })
        })
      world.clock.after(61 * HOUR, () => {
        replayed = replayAll(world)
      })
    },
  })
  expect(alarms.raisedAt('order-stuck')).toBeGreaterThan(30 * MINUTE)
  expect(alarms.raisedAt('order-stuck')).toBeLessThan(45 * MINUTE)
  // The refund is right behind, and so is received with the payment each of the 200 times.
  expect(dead[0]?.letters).toBe(2)
  expect(dead[0]?.at).toBeGreaterThan(36 * HOUR)
  expect(dead[0]?.at).toBeLessThan(37 * HOUR)
  alarms.measureQueue(QUEUE_IDS.ordersDead, 'ApproximateNumberOfMessagesVisible', replayed)
  expect(alarms.isRaised('dead-letters')).toBe(true)
  expect(violations).toEqual([])
})

/** Publishes to the HTTP feed, as the worker does. */
const publish = ({ queues }: World, external_id: string, version: number) => {
  const delivery = `${external_id} ${version}`
  const data = { source: WEB, external_id, status: 'paid' }
  const body = JSON.stringify({ event: 'order.updated', delivery, version, data })
  queues.webFeed.send({ group: external_id, dedup: delivery, body })
  return body
}

test('an endpoint that is down for nine days receives everything in order within forty minutes', async () => {
  const attempts: number[] = []
  const received: { delivery: string; at: number }[] = []
  const { violations, alarms } = await days({
    orders: {},
    endpoint(elapsed) {
      attempts.push(elapsed)
      return elapsed < 9 * DAY ? { status: 503 } : {}
    },
    happens(world) {
      const { clock, stores, elapsed } = world
      for (const order of ['a', ...Array.from({ length: 20 }, (_, index) => `b${index}`)])
        stores.onMessage(order, ({ delivery }) => void received.push({ delivery, at: elapsed() }))
      for (const [version, day] of [0, 0, 1, 5, 8.9].entries())
        clock.after(day * DAY, () => void publish(world, 'a', version + 1))
      for (let order = 0; order < 20; order++)
        clock.after(3 * DAY + order * MINUTE, () => void publish(world, `b${order}`, 1))
    },
  })
  expect(violations).toEqual([])
  const deliveries = received.map(({ delivery }) => delivery)
  expect(deliveries.filter(delivery => delivery.startsWith('a'))).toEqual(['a 1', 'a 2', 'a 3', 'a 4', 'a 5'])
  expect(deliveries).toHaveLength(25)
  expect(received.every(({ at }) => at < 9 * DAY + 40 * MINUTE)).toBe(true)
  // However many messages wait, each of two environments probes once in a quarter of an hour.
  const onDaySix = attempts.filter(at => at > 5 * DAY && at <= 6 * DAY)
  expect(onDaySix.length).toBeLessThanOrEqual(2 * 4 * 24)

  expect(alarms.raised()).toEqual(['feed-disabled', 'feed-stuck'])
  expect(alarms.raisedAt('feed-stuck')).toBeGreaterThan(HOUR)
  expect(alarms.raisedAt('feed-stuck')).toBeLessThan(1.3 * HOUR)
  expect(alarms.raisedAt('feed-disabled')).toBeGreaterThan(DAY)
  expect(alarms.raisedAt('feed-disabled')).toBeLessThan(DAY + 0.3 * HOUR)
})

test.each([0, 0.5, 0.99])(
  'a message not accepted for thirteen days is dead-lettered then, and its alarms last until then: random %s',
  async random => {
    const silentAt: number[] = []
    const deadAt: number[] = []
    const { world } = await days({
      orders: {},
      adjust: (_name, dependencies) => ({ ...dependencies, random: () => random }),
      lasts: 20 * DAY,
      endpoint: () => ({ status: 500 }),
      happens(world, alarms) {
        const { clock, elapsed, queues } = world
        for (const version of [1, 2]) publish(world, 'a', version)
        queues.feedsDead.onChange(() => void deadAt.push(elapsed()))
        for (const at of every(20 * MINUTE, 13 * DAY).filter(time => time > 1.1 * DAY))
          clock.after(at, () => {
            if (!alarms.isRaised('feed-disabled') || !alarms.isRaised('feed-stuck')) silentAt.push(at)
          })
      },
    })
    expect(world.queues.webFeed.dead()).toEqual([])
    expect(world.feedsDead.map(({ body }) => JSON.parse(body).delivery)).toEqual(['a 1', 'a 2'])
    expect(deadAt).toHaveLength(2)
    for (const at of deadAt) {
      expect(at).toBeGreaterThan(13 * DAY)
      expect(at).toBeLessThan(13 * DAY + HOUR / 2)
    }
    expect(silentAt).toEqual([])
  },
)
