import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '@order-relay/operator/core/errors.ts'
import PQueue from 'p-queue'
import { secondsSince } from '../options.ts'
import { randomFaults } from './faults.ts'
import { floodOrder, floodWith } from './flood.ts'
import { orderIn } from './journal.ts'
import { startKilled } from './kills.ts'
import { isIdle, play, randomOrder } from './orders.ts'
import { NOT_CONSUMED, numberViolations, violationsOf } from './violations.ts'
import { FULL, QUICK, REAL_TIME, startWorld, type World } from './world.ts'

export type Settings = {
  seed: number
  orders: number
  /** Numbers of the orders to play; each order behaves the same without the others. */
  only: readonly number[] | undefined
  strength: number
  kills: number
  flood: boolean
  quick: boolean
  /** Aborts the run. */
  signal: AbortSignal
}

/** The kind of run: lifecycles with faults, lifecycles with kills, or only webhooks. */
type Setting<Order> = {
  start: (progress: () => number) => Promise<World>
  orders: readonly Order[]
  play: (world: World, order: Order, over: AbortSignal) => Promise<void>
  violationsOf: (world: World, order: Order) => Promise<readonly string[]>
  /** Violations that concern no single order. */
  violations?: (world: World, seconds: number) => readonly string[]
  summary?: () => object
}

/** Violations of a feed's sequence, which a slow machine can cause. */
const OF_FEED = /^(version|delivery|the store) /

export type Verdict = 'agreed' | 'violated' | 'too slow to tell'

const REST_MS = 600_000
const RECONCILE_EVERY_MS = 1000
const LOOK_MS = 100

/** Concurrent orders; fewer with kills, since restarts of the stack need CPU time. */
const AT_ONCE = 60
const AT_ONCE_KILLED = 20

/** Plays all orders, then stops the faults, waits until the system is idle, and compares. */
const playAll = async <Order extends { id: string }>(
  world: World,
  { orders, ...setting }: Setting<Order>,
  { kills, signal }: Settings,
  onPlayed: () => void,
) => {
  const { service, journal, depth } = world
  const began = performance.now()
  const violations = new Map<string, string[]>()
  const add = (about: string, found: readonly string[]) => {
    if (found.length > 0) violations.set(about, [...new Set([...(violations.get(about) ?? []), ...found])])
  }
  /** Orders with unsent webhooks. */
  const pending = async () => {
    const ids: string[] = []
    for (const order of orders)
      if ('lifecycle' in order && (await service.webhooks(order.id)).some(({ state }) => state === 'pending'))
        ids.push(order.id)
    return ids
  }
  const comeToRest = async () => {
    for (const end = Date.now() + REST_MS; Date.now() < end && !signal.aborted; await sleep(LOOK_MS))
      if ((await isIdle(world)) && (await pending()).length === 0 && (await isIdle(world))) return
    add('all', ['something never comes to rest'])
  }

  let isPlaying = true
  const reconciling = (async () => {
    for (; isPlaying && !signal.aborted; await sleep(RECONCILE_EVERY_MS))
      await world.reconcile().catch(() => undefined)
  })()
  const playOne = async (order: Order) => {
    if (signal.aborted) return
    await setting.play(world, order, signal).catch(error => add(order.id, [messageOf(error)]))
    onPlayed()
  }
  const lanes = new PQueue({ concurrency: kills > 0 ? AT_ONCE_KILLED : AT_ONCE })
  await lanes.addAll(orders.map(order => () => playOne(order)))
  isPlaying = false
  await reconciling

  await world.stopFaults()
  // Pending retries would take minutes.
  for (const id of await pending()) await service.resend(id)
  await comeToRest()
  // A check finds changes whose webhooks never arrived.
  await world.reconcile()
  await comeToRest()
  signal.throwIfAborted()
  for (const queue of NOT_CONSUMED) if ((await depth(queue)) > 0) add('all', [`something is in ${queue}`])
  for (const order of orders) add(order.id, await setting.violationsOf(world, order))
  const others = [...journal.violations, ...(setting.violations?.(world, secondsSince(began)) ?? [])]
  for (const violation of [...others, ...numberViolations(journal.results)])
    add(orderIn(violation) || 'all', [violation])
  return violations
}

const verdictOf = ({ journal }: World, violations: ReadonlyMap<string, readonly string[]>): Verdict => {
  if (violations.size === 0) return 'agreed'
  const isExcused = ([about, all]: readonly [string, readonly string[]]) =>
    journal.tooSlow.has(about) && all.every(violation => OF_FEED.test(violation))
  return [...violations].every(isExcused) ? 'too slow to tell' : 'violated'
}

const countBy = <Entry>(entries: readonly Entry[], keyOf: (entry: Entry) => string) =>
  Object.fromEntries([...Map.groupBy(entries, keyOf)].map(([key, all]) => [key, all.length]))

const MAX_STORIES = 10

const summaryOf = ({ journal, struck }: World, violations: ReadonlyMap<string, readonly string[]>) => ({
  requests: [...journal.requests.values()].reduce((sum, count) => sum + count, 0),
  faults: struck(''),
  faultsByLink: countBy(journal.faults, ({ link }) => link),
  faultsByKind: countBy(journal.faults, ({ kind }) => kind),
  webhooks: {
    swallowed: journal.swallowed.size,
    foundByReconciliation: journal.found.size,
  },
  violations: Object.fromEntries(violations),
  tooSlow: Object.fromEntries(journal.tooSlow),
  stories: Object.fromEntries(
    [...violations.keys()].slice(0, MAX_STORIES).map(id => [id, journal.story(id === 'all' ? '' : id)]),
  ),
})

const playIn = async <Order extends { id: string }>(setting: Setting<Order>, settings: Settings) => {
  const all = setting.orders.length
  let done = 0
  await using world = await setting.start(() => done / all)
  const began = performance.now()
  const onPlayed = () => {
    done++
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${done} of ${all} orders `)
  }
  const aborted = once(settings.signal, 'abort').then(() => settings.signal.throwIfAborted())
  const played = playAll(world, setting, settings, onPlayed)
  const violations = (await Promise.race([played, aborted])) ?? new Map<string, string[]>()
  return {
    verdict: verdictOf(world, violations),
    seconds: secondsSince(began),
    ...summaryOf(world, violations),
    ...setting.summary?.(),
  }
}

export const run = (settings: Settings) => {
  const { seed, orders, only, strength, kills, flood, quick } = settings
  const numbers = only ?? Array.from({ length: orders }, (_, index) => index + 1)
  if (flood) {
    const start = async () => ({
      ...(await startWorld({ faults: () => undefined, speed: REAL_TIME })),
      // The service does not know these orders.
      reconcile: async () => undefined,
    })
    const changes = numbers.map(each => floodOrder(seed, each))
    return playIn({ start, orders: changes, ...floodWith(seed) }, settings)
  }
  const start = (progress: () => number) =>
    kills > 0
      ? startKilled({ seed, kills, progress })
      : startWorld({ faults: randomFaults(seed, strength), speed: quick ? QUICK : FULL })
  return playIn({ start, orders: numbers.map(each => randomOrder(seed, each)), play, violationsOf }, settings)
}
