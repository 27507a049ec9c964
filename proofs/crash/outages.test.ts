import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { QUEUE_IDS } from '../../deploy/queues.ts'
import { PARAMETERS } from '../../lib/platform/names.ts'
import { alarmMonitor } from '../../test/support/alarms.ts'
import { DAY, HOUR, type Lifecycle, MINUTE } from '../../test/support/scenarios.ts'
import { recordingTelemetry } from '../../test/support/telemetry.ts'
import { ACCOUNTING_KEY } from './accounting.ts'
import { ONCE } from './explore.ts'
import type { Adjust } from './functions.ts'
import { TARGETS, type Target, WEB } from './places.ts'
import { violationsOf } from './violations.ts'
import { runScenario, type Scenario, type World } from './world.ts'

type Days = Omit<Scenario, 'name' | 'happens'> & {
  happens?: (world: World, alarms: ReturnType<typeof alarmMonitor>) => void
  /** Alarms with a lasting cause; times at which one of them is not raised are reported. */
  lasting?: { pages: readonly string[]; from: number; until: number }
}

const every = (interval: number, until: number) =>
  Array.from({ length: Math.floor(until / interval) }, (_, count) => (count + 1) * interval)

/** Simulates days with the sandbox's retry schedule and the alarms raised by the functions' metrics. */
const days = async ({ lasting, happens: begins, ...scenario }: Days) => {
  let elapsed = () => 0
  const alarms = alarmMonitor(() => elapsed())
  const { telemetry } = recordingTelemetry(alarms.measure)
  const silent: string[] = []
  const happens = (world: World) => {
    elapsed = world.elapsed
    for (const at of lasting === undefined ? [] : every(5 * MINUTE, lasting.until))
      world.clock.after(at, () => {
        const pages = lasting?.pages.filter(page => at > lasting.from && !alarms.isRaised(page)) ?? []
        silent.push(...pages.map(page => `${page} after ${at / HOUR} hours`))
      })
    begins?.(world, alarms)
  }
  const run = await runScenario({ name: 'days', telemetry, ...scenario, happens }, ONCE)
  expect(silent).toEqual([])
  return { world: run.world, alarms, violations: violationsOf(run) }
}

const within = (time: number | undefined, from: number, to: number) => {
  expect(time).toBeGreaterThan(from)
  expect(time).toBeLessThan(to)
}

/** An outage that begins a minute after the start. */
const without =
  (target: Target, until: number): NonNullable<Scenario['outage']> =>
  (place, elapsed) =>
    TARGETS[place] === target && elapsed > MINUTE && elapsed < until
      ? new Error(`${target} is down`)
      : undefined

const PAID: Lifecycle = { createdBy: 'relay', pays: true }
const REVIEWED: Lifecycle = { createdBy: 'relay', review: true, pays: true }

test('while the API key is wrong, delays calls and handles other events; then uses the corrected key', async () => {
  const at: Record<string, number> = {}
  const { violations, alarms } = await days({
    orders: {
      1001: { ...REVIEWED, fixedAfter: 10 * MINUTE, mayRetry: true },
      1002: { ...PAID, at: 2 * MINUTE, mayRetry: true },
    },
    warm: true,
    // An earlier run would check the first order, and the webhook would wait behind the failing check.
    reconcileAt: every(MINUTE, 2 * HOUR).slice(11),
    lasting: { pages: ['service-unauthorized'], from: 13 * MINUTE, until: HOUR },
    happens({ clock, cloud: { parameters }, stores, elapsed }) {
      for (const id of ['1001', '1002'])
        stores.onMessage(id, ({ data }) => {
          if ('status' in data) at[`${id} ${data.status}`] = elapsed()
        })
      clock.after(MINUTE, () => parameters.set(PARAMETERS.accountingKey, 'revoked'))
      clock.after(HOUR, () => parameters.set(PARAMETERS.accountingKey, ACCOUNTING_KEY))
    },
  })
  expect(violations).toEqual([])
  expect(alarms.raised()).toEqual(['order-stuck', 'service-unauthorized'])
  within(alarms.raisedAt('service-unauthorized'), MINUTE, 4 * MINUTE)
  within(at['1001 paid'], 10 * MINUTE, 11 * MINUTE)
  within(at['1002 paid'], HOUR, HOUR + MINUTE)
})

test('raises an alarm for a secret rotated without the relay, and accepts the retries once the relay has it', async () => {
  const { violations, alarms, world } = await days({
    orders: { 1001: { ...REVIEWED, fixedAfter: 2 * MINUTE } },
    warm: true,
    happens({ clock, cloud: { parameters }, sender }) {
      clock.after(MINUTE, () => sender.signWith('whsec_new'))
      clock.after(HOUR, () => parameters.set(`${PARAMETERS.webhookSecrets}/new`, 'whsec_new'))
    },
  })
  const [webhook] = world.sender.sent
  const refused = `webhook ${webhook?.delivery} is authentic and was answered 401`
  expect(violations).toEqual(Array(5).fill(refused))
  expect(alarms.raised()).toEqual(['signature-failures'])
  within(alarms.raisedAt('signature-failures'), 2 * MINUTE, 15 * MINUTE)
})

/** Creates twenty orders during an outage; returns the latest payment after its end, and the number of receives. */
const waitThrough = async (
  until: number,
  outage: NonNullable<Scenario['outage']>,
  pages: readonly string[],
  others: Scenario['orders'] = {},
) => {
  const paid = new Map<string, number>()
  const ids = Array.from({ length: 20 }, (_, number) => `waits-${number}`)
  let isRaised = true
  const { violations, world } = await days({
    orders: {
      ...others,
      ...Object.fromEntries(
        ids.map((id, number) => [id, { ...PAID, at: MINUTE + number * 10_000, mayRetry: true }]),
      ),
    },
    outage,
    reconcileAt: every(MINUTE, until + 10 * MINUTE),
    lasting: { pages, from: 3 * MINUTE, until },
    happens({ clock, stores, elapsed }, alarms) {
      for (const id of ids)
        stores.onMessage(id, ({ data }) => {
          if ('status' in data && data.status === 'paid') paid.set(id, elapsed() - until)
        })
      clock.after(until + 2 * MINUTE, () => {
        isRaised = alarms.isRaised('breaker-open')
      })
    },
  })
  expect(violations).toEqual([])
  expect(paid.size).toBe(ids.length)
  expect(isRaised).toBe(false)
  const receives = world.queues.orders.history().map(({ receivedAt }) => receivedAt.length)
  return { last: Math.max(...paid.values()), receives: receives.reduce((sum, each) => sum + each) }
}

test('retries all waiting events within a minute of the end of a ten-minute outage', async () => {
  const until = 11 * MINUTE
  const { last } = await waitThrough(until, without('service', until), ['breaker-open'])
  expect(last).toBeLessThan(MINUTE)
})

test('an order that the service never answers delays the others by no more than two runs', async () => {
  for (const minutes of [6, 8, 11, 14]) {
    const until = minutes * MINUTE
    const never = { ...PAID, downUntil: until + HOUR, mayRetry: true } as const
    const { last } = await waitThrough(until, without('service', until), [], { never, neither: never })
    expect(last).toBeLessThan(2 * MINUTE)
  }
})

test('retries few events while only reads succeed, and all of them once creates succeed', async () => {
  const until = 61 * MINUTE
  const fails: Scenario['outage'] = (place, elapsed) =>
    place === 'worker: call create' && elapsed > MINUTE && elapsed < until ? new Error('down') : undefined
  const { last, receives } = await waitThrough(until, fails, [])
  expect(last).toBeLessThan(1.5 * MINUTE)
  // Thirteen scheduled attempts of each create, two more a minute in total for recovery, and as many of the payments.
  expect(receives).toBeLessThan(2 * (20 * 13 + 60 * 2))
})

const TWO_DAYS = (elapsed: number) => (elapsed < 2 * DAY ? 6 * MINUTE : 0)

test('recovers webhooks lost to a wrong clock through checks or later webhooks', async () => {
  const { violations, world } = await days({
    orders: {
      1001: { ...REVIEWED, fixedAfter: HOUR },
      // Settled orders are not checked.
      1002: { ...PAID, accountant: [{ after: 2 * HOUR, does: 'edit' }] },
    },
    skew: TWO_DAYS,
    reconcileAt: every(30 * MINUTE, 3 * DAY),
    happens: ({ clock, sender }) =>
      clock.after(49 * HOUR, () => {
        const { delivery, body } = sender.sent[1] ?? {}
        if (delivery !== undefined && body !== undefined) sender.send(delivery, body)
      }),
  })
  const [first, second] = world.sender.sent
  expect(violations).toEqual([first, second].map(webhook => `webhook ${webhook?.delivery} was given up`))
  expect(first?.attempts).toHaveLength(8)
})

test.each<[Target, string[]]>([
  // No run can read which checks are due, and the first one afterwards makes them.
  ['dynamodb', ['deliveries-failed', 'order-stuck', 'requests-failed']],
  ['sqs', ['checks-late', 'deliveries-failed', 'requests-failed']],
])(
  'after ten hours without %s, checks find changes a day before their webhooks are retried',
  async (target, raised) => {
    let notifiedAt: number | undefined
    const { violations, alarms, world } = await days({
      orders: {
        1001: { ...REVIEWED, fixedAfter: HOUR / 2, mayRetry: true },
        1002: { ...PAID, at: 9 * HOUR, readAt: 9.9 * HOUR, mayRetry: true },
      },
      outage: without(target, 10 * HOUR),
      reconcileAt: every(5 * MINUTE, 12 * HOUR),
      happens({ stores, elapsed }) {
        stores.onMessage('1001', ({ event, data }) => {
          if (event === 'order.updated' && data.status === 'paid') notifiedAt ??= elapsed()
        })
      },
    })
    expect(violations).toEqual([])
    expect(alarms.raised()).toEqual(raised)
    within(notifiedAt, 10 * HOUR, 10 * HOUR + 6 * MINUTE)
    const [webhook] = world.sender.sent
    expect(webhook?.attempts).toHaveLength(8)
  },
)

/** A bug of the relay: saving a payment throws until a fixed version is deployed. */
const bugUntil = (until: number): Adjust => {
  let fixedAt: number | undefined
  return (name, dependencies) => {
    const { dynamodb, now } = dependencies
    fixedAt ??= now() + until
    const send: typeof dynamodb.send = (command: unknown, ...rest: unknown[]) => {
      const { requests } = (command instanceof PutItemCommand && command.input.Item) || {}
      if (requests?.S?.includes('"payment"') && now() < Number(fixedAt))
        throw new TypeError("Cannot read properties of undefined (reading 'amount')")
      return Reflect.apply(dynamodb.send, dynamodb, [command, ...rest])
    }
    return name === 'worker' ? { ...dependencies, dynamodb: { send } } : dependencies
  }
}

test.each<[string, Pick<Scenario, 'adjust' | 'outage'>, string[]]>([
  ['a bug', { adjust: bugUntil(60 * HOUR) }, []],
  ['an outage', { outage: without('service', 60 * HOUR) }, ['breaker-open']],
])(
  'dead-letters events that fail for a day and a half because of %s, and a replay restores the normal outcome',
  async (_cause, cause, others) => {
    let deadAt: number | undefined
    let replayed = 0
    const { violations, alarms } = await days({
      ...cause,
      orders: {
        1001: { ...PAID, at: 2 * MINUTE, mayRetry: true },
        1002: { ...PAID, at: 2 * MINUTE, mayRetry: true },
        1003: { ...PAID, at: 2 * MINUTE, mayRetry: true },
        1004: { ...PAID, at: 61.5 * HOUR },
      },
      reconcileAt: every(MINUTE, 12 * HOUR),
      lasting: { pages: [...others, 'order-stuck'], from: HOUR, until: 12 * HOUR },
      happens({ clock, queues: { orders } }) {
        for (const at of every(10 * MINUTE, 60 * HOUR))
          clock.after(at, () => {
            if (orders.dead().length > 0) deadAt ??= at
          })
        // As `relay dead replay --all` does.
        clock.after(61 * HOUR, () => {
          for (const { id, group, body, receivedAt } of orders.dead().splice(0)) {
            replayed++
            orders.send({ group, dedup: `replay of ${id}`, body, receivedAt: receivedAt.slice(-1) })
          }
        })
      },
    })
    expect(violations).toEqual([])
    expect(alarms.raised()).toEqual([...others, 'order-stuck'])
    within(alarms.raisedAt('order-stuck'), 30 * MINUTE, 47 * MINUTE)
    within(deadAt, 36 * HOUR, 37.5 * HOUR)
    expect(replayed).toBeGreaterThan(1)
    alarms.measureQueue(QUEUE_IDS.ordersDead, 'ApproximateNumberOfMessagesVisible', replayed)
    expect(alarms.isRaised('dead-letters')).toBe(true)
  },
)

/** Publishes to the HTTP feed, as the worker does. */
const publish = ({ queues }: World, external_id: string, version: number) => {
  const delivery = `${external_id} ${version}`
  const data = { source: WEB, external_id, status: 'paid' }
  const body = JSON.stringify({ event: 'order.updated', delivery, version, data })
  queues.webFeed.send({ group: external_id, dedup: delivery, body })
}

test("discards a withdrawal together with its payment, and registers the store's next payment", async () => {
  const key = { source: 'shop', external_id: '1001' }
  const accepted: string[] = []
  const { world } = await days({
    orders: { 1001: { createdBy: 'service', mayRetry: true } },
    outage: without('service', 60 * HOUR),
    happens({ clock, stores, queues: { orders } }) {
      clock.after(2 * MINUTE, async () => {
        await stores.payment(key)
        await stores.withdraw(key, 'payment')
      })
      clock.after(61 * HOUR, async () => {
        expect(orders.dead().splice(0)).toHaveLength(2)
        await stores.payment(key)
        accepted.push(...(stores.accepted.get('1001') ?? []))
      })
    },
  })
  expect(world.service.find(key)).toMatchObject({ documents: ['invoice', 'receipt'] })
  const [last] = world.stores.feedOf('1001').slice(-1)
  expect(JSON.parse(String(last)).requests).toContainEqual({
    id: accepted.at(-1),
    kind: 'payment',
    state: 'registered',
  })
})

test('an endpoint that was down for nine days receives everything in order within forty minutes', async () => {
  const attempts: number[] = []
  const received: { delivery: string; at: number }[] = []
  const { violations, alarms } = await days({
    orders: {},
    endpoint(elapsed) {
      attempts.push(elapsed)
      return elapsed < 9 * DAY ? { status: 503 } : {}
    },
    lasting: { pages: ['feed-disabled', 'feed-stuck'], from: 1.1 * DAY, until: 9 * DAY },
    happens(world) {
      const { clock, stores, elapsed } = world
      for (const order of ['a', ...Array.from({ length: 20 }, (_, index) => `b${index}`)])
        stores.onMessage(order, ({ delivery }) => void received.push({ delivery, at: elapsed() }))
      for (const [version, day] of [0, 0, 1, 5, 8.9].entries())
        clock.after(day * DAY, () => publish(world, 'a', version + 1))
      for (let order = 0; order < 20; order++)
        clock.after(3 * DAY + order * MINUTE, () => publish(world, `b${order}`, 1))
    },
  })
  expect(violations).toEqual([])
  const deliveries = received.map(({ delivery }) => delivery)
  expect(deliveries.filter(delivery => delivery.startsWith('a'))).toEqual(['a 1', 'a 2', 'a 3', 'a 4', 'a 5'])
  expect(deliveries).toHaveLength(25)
  expect(received.every(({ at }) => at < 9 * DAY + 40 * MINUTE)).toBe(true)
  // Regardless of the number of messages, each of two environments probes once per quarter of an hour.
  const onDaySix = attempts.filter(at => at > 5 * DAY && at <= 6 * DAY)
  expect(onDaySix.length).toBeLessThanOrEqual(2 * 4 * 24)

  expect(alarms.raised()).toEqual(['feed-disabled', 'feed-stuck'])
  within(alarms.raisedAt('feed-stuck'), HOUR, 1.3 * HOUR)
  within(alarms.raisedAt('feed-disabled'), DAY, DAY + 0.3 * HOUR)
})
