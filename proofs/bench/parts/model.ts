import { retryDelay } from '../../../lib/platform/retry.ts'
import { callShares } from '../../../lib/worker/share.ts'
import { virtualClock } from '../../crash/clock.ts'
import { fifoQueue, type Queue, type Received } from '../../crash/queue.ts'
import type { Part } from '../context.ts'
import { quantile } from '../statistics.ts'

/** How the events of several stores share the worker, see docs/fairness.md. */
const DESIGNS = ['one queue', 'a queue for each store', 'delayed beyond the share', 'a bulk queue'] as const
type Design = (typeof DESIGNS)[number]

/** Events that a store sends at even intervals: a number of them, or throughout the run. */
type Traffic = { store: string; event: 'call' | 'webhook'; perSecond: number; count?: number }

type Load = {
  traffic: readonly Traffic[]
  /** Calls per second that the service handles. */
  capacity: number
  /** How long an idle service takes for a call, in milliseconds. */
  latency: number
  seconds: number
  /** Number of concurrent batches of the order queue. @default as shipped */
  workers?: number
  /** Numbers from 0 up to 1, for events that arrive at random instead of at even intervals. */
  random?: () => number
}

/** As serverless.yml has them, and the least that Lambda allows for the queue of a store. */
const BATCH = 10
const WORKERS = { orders: 5, bulk: 2, store: 2 }

/** Milliseconds: AWS calls before and after a call, Lambda between two batches, how long the worker waits for a call. */
const BEFORE = 10
const AFTER = 10
const BETWEEN = 20
const PATIENCE = 8000

const HOUR = 60 * 60

const VISIBILITY = { visibility: 180_000, maxReceives: 200 }

/**
 * Simulates a load in virtual time, by the rules of SQS FIFO queues and of Lambda's event source.
 *
 * @returns the latency of each event of the store "other", in milliseconds, and the outcome of the rest
 */
const play = async (design: Design, load: Load) => {
  const { traffic, capacity, latency, seconds, workers = WORKERS.orders, random } = load
  const clock = virtualClock(0)
  const wait = (ms: number) => new Promise<void>(resolve => clock.after(ms, resolve))
  const waits: Record<Traffic['event'], number[]> = { webhook: [], call: [] }
  let [processed, receives, inFlight, importedAt] = [0, 0, 0, 0]

  let serviceIsFree = 0
  /** The service answers in the order in which it is called. */
  const callService = async (): Promise<boolean> => {
    serviceIsFree = Math.max(serviceIsFree, clock.now()) + 1000 / capacity
    const takes = serviceIsFree - clock.now() + latency
    await wait(Math.min(takes, PATIENCE))
    return takes <= PATIENCE
  }

  const queueFor = (workers: number, isShared: boolean): Queue => {
    const queue = fifoQueue(clock, VISIBILITY)
    const environments = Array.from({ length: workers }, () => callShares(clock.now))
    let isGathering = false

    const delay = ({ handle, receivedAt }: Received) =>
      queue.changeVisibility(handle, 1000 * retryDelay(receivedAt.length, 0.5))
    /** Whether the message can be deleted. */
    const process = async (
      message: Received,
      messages: number,
      share: ReturnType<typeof callShares>,
    ): Promise<boolean> => {
      const { store, event, at } = JSON.parse(message.body) as Traffic & { at: number }
      await wait(BEFORE)
      if (event === 'call') {
        const makeCall = isShared ? share(store, messages) : (call: () => Promise<boolean>) => call()
        if (makeCall === undefined) {
          await wait(AFTER)
          if (design === 'a bulk queue') bulk.send({ ...message, dedup: message.group, receivedAt: [] })
          else delay(message)
          return design === 'a bulk queue'
        }
        if (!(await makeCall(callService))) {
          delay(message)
          return false
        }
      }
      processed++
      if (store.startsWith('import')) importedAt = clock.now()
      if (store === 'other') waits[event].push(clock.now() - at)
      await wait(AFTER)
      return true
    }
    const poll = async () => {
      isGathering = false
      const share = environments.pop()
      if (share === undefined) return
      const batch = queue.receive(BATCH)
      if (batch.length === 0) return void environments.push(share)
      receives += batch.length
      inFlight = Math.max(inFlight, queue.inFlight())
      if (batch.length === BATCH) gather()
      const done = await Promise.all(batch.map(message => process(message, batch.length, share)))
      for (const [index, { handle }] of batch.entries()) if (done[index]) queue.delete(handle)
      await wait(BETWEEN)
      environments.push(share)
      gather()
    }
    const gather = () => {
      if (isGathering || environments.length === 0) return
      isGathering = true
      clock.after(1, poll)
    }
    queue.onChange(gather)
    return queue
  }

  const orders = queueFor(workers, design === 'a bulk queue' || design === 'delayed beyond the share')
  const bulk = queueFor(WORKERS.bulk, false)
  const own = new Map<string, Queue>()
  const queueOf = (store: string): Queue => {
    if (design !== 'a queue for each store') return orders
    const queue = own.get(store) ?? queueFor(WORKERS.store, false)
    own.set(store, queue)
    return queue
  }
  for (const [index, each] of traffic.entries()) {
    const { store, perSecond, count = perSecond * seconds } = each
    let sent = 0
    const send = () => {
      const group = `${index} ${sent}`
      queueOf(store).send({ group, dedup: group, body: JSON.stringify({ ...each, at: clock.now() }) })
      if (++sent < count) clock.after((1000 / perSecond) * (random ? -Math.log(1 - random()) : 1), send)
    }
    clock.after((index * 997) % 1000, send)
  }
  // Calls that time out are repeated for a day and a half.
  await clock.run(1000 * (seconds + HOUR))
  return { waits, importedAt, inFlight, receives: receives / processed }
}

const slow = (latency: number): Load => ({
  ...{ capacity: 10_000, latency, seconds: 300 },
  traffic: [
    ...Array.from({ length: 10 }, (_, store) => ({
      store: store === 0 ? 'other' : `store ${store}`,
      ...{ event: 'call' as const, perSecond: 1 },
    })),
    { store: 'other', event: 'webhook', perSecond: 20 },
  ],
})

/** Stores that each import 100,000 orders at a hundred per second, the limit of the API. */
const importing = (stores: number, orders = 100_000): Load => ({
  ...{ capacity: 50, latency: 50, seconds: (stores * orders) / 50 + 60 },
  traffic: [
    ...Array.from({ length: stores }, (_, index) => ({
      store: `import ${index + 1}`,
      ...{ event: 'call' as const, perSecond: 100, count: orders },
    })),
    { store: 'other', event: 'webhook', perSecond: 1 },
    { store: 'other', event: 'call', perSecond: 1 },
  ],
})

const LOADS = {
  ...{ import: importing(1), 'two imports': importing(2) },
  ...{ 'seven seconds': slow(7000), 'ten seconds': slow(10_000) },
}

const rounded = (value: number) => Number(value.toFixed(value < 10 ? 1 : 0))

/**
 * A model, not a measurement: seconds until another store's events are processed, at the 99th percentile, and until
 * the import is done.
 */
export const fairness: Part = async () => {
  const results: Record<string, unknown> = {}
  for (const [name, load] of Object.entries(LOADS))
    for (const design of DESIGNS) {
      const { waits, importedAt, inFlight, receives } = await play(design, load)
      const p99 = (event: 'webhook' | 'call') => rounded(quantile(waits[event], 0.99) / 1000)
      results[`${name}, ${design}`] = {
        webhook: p99('webhook'),
        ...(waits.call.length > 0 && { call: p99('call') }),
        ...(importedAt > 0 && { imported: Math.round(importedAt / 1000) }),
        ...{ inFlight, receives: rounded(receives) },
      }
    }
  return { results }
}

const RATES = [1, 10, 100, 300, 1000, 3000, 10_000]

/** Duration of a call in the growth model, in milliseconds. */
const LATENCY = 100

/** Random numbers from 0 up to 1 that a seed repeats (mulberry32). */
const generator = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

/**
 * A model, not a measurement: milliseconds from arrival in the order queue to the store's feed, as the number of
 * deliveries grows, with the workers of serverless.yml and with more.
 */
export const growth: Part = async () => {
  const results: Record<string, unknown> = {}
  for (const event of ['webhook', 'call'] as const)
    for (const workers of [WORKERS.orders, 100]) {
      const milliseconds = BEFORE + AFTER + (event === 'call' ? LATENCY : 0)
      const perSecondAtMost = (1000 * workers * BATCH) / (milliseconds + BETWEEN)
      const found: Record<string, unknown> = { perSecondAtMost: Math.round(perSecondAtMost) }
      for (const perSecond of RATES.filter(each => each < perSecondAtMost)) {
        const { waits } = await play('one queue', {
          traffic: [{ store: 'other', event, perSecond }],
          ...{ capacity: Number.POSITIVE_INFINITY, latency: LATENCY, workers, random: generator(7) },
          seconds: Math.min(Math.max(2000, perSecond * 20), 100_000) / perSecond,
        })
        const [median, p99] = [0.5, 0.99].map(part => Math.round(quantile(waits[event], part)))
        found[perSecond] = { median, p99 }
      }
      results[`${event}, ${workers} workers`] = found
    }
  return { results }
}
