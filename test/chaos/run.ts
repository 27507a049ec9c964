import { setTimeout as sleep } from 'node:timers/promises'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import type { Faults } from './faults.ts'
import { forge } from './forgeries.ts'
import { type Journal, orderIn } from './journal.ts'
import { type ChaosOrder, play } from './orders.ts'
import type { Speed } from './pace.ts'
import { insist, storeRequester } from './stores.ts'
import { NOT_CONSUMED, passingViolations, violationsOf } from './violations.ts'
import { startWorld, type World } from './world.ts'

export type RunOptions = {
  orders: readonly ChaosOrder[]
  faults: Faults
  speed: Speed
  /** Called with the number of orders played so far. */
  progress?: (done: number) => void
  /** Aborts the run. */
  signal?: AbortSignal
}

/** A machine that is too slow can spoil the order of a feed, and nothing else. */
export type Verdict = 'agreed' | 'violated' | 'too slow to tell'

export type Outcome = {
  verdict: Verdict
  /** By order; under `all` what is not about one order. */
  violations: ReadonlyMap<string, readonly string[]>
  /** Orders whose webhook never arrived and whose store knows them all the same. */
  found: number
  journal: Journal
}

const REST_MS = 600_000
const RECONCILE_EVERY_MS = 1000
const LOOK_MS = 100

/** In the order in which messages pass through them. */
const CONSUMED = [QUEUES.orders, feedQueueName('shop'), feedQueueName('web')]

const isIdle = async ({ journal, backends }: World): Promise<boolean> => {
  if (journal.underWay > 0) return false
  for (const queue of CONSUMED) if ((await backends.depth(queue)) > 0) return false
  return journal.underWay === 0
}

const hasPending = async ({ service }: World, orders: readonly ChaosOrder[]): Promise<boolean> => {
  for (const { id } of orders)
    if ((await service.webhooks(id)).some(({ state }) => state === 'pending')) return true
  return false
}

const comeToRest = async (world: World, orders: readonly ChaosOrder[]): Promise<string[]> => {
  for (const end = Date.now() + REST_MS; Date.now() < end; await sleep(LOOK_MS))
    if ((await isIdle(world)) && !(await hasPending(world, orders)) && (await isIdle(world))) return []
  return ['something never comes to rest']
}

/** Runs for every input, several at once. */
const pool = async <Input>(
  inputs: readonly Input[],
  atOnce: number,
  each: (input: Input) => Promise<void>,
) => {
  const left = [...inputs]
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await each(next)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const playAll = async (world: World, { orders, speed, progress, signal }: RunOptions): Promise<Outcome> => {
  const { service, journal, relay, inbox } = world
  const violations = new Map<string, string[]>()
  const add = (about: string, found: readonly string[]) => {
    if (found.length > 0) violations.set(about, [...new Set([...(violations.get(about) ?? []), ...found])])
  }
  const over = signal ?? new AbortController().signal
  const request = storeRequester(relay.apiUrl)
  const forger = {
    url: world.forgeryUrl,
    secret: relay.secret,
    onDelivery: (delivery: string) => void journal.forged.add(delivery),
  }
  const around = {
    service,
    inbox,
    insist: (...change: Parameters<typeof insist>[1]) => insist(request, change, over),
    forge: (...forged: [Parameters<typeof forge>[1], Parameters<typeof forge>[2]]) =>
      forge(forger, ...forged),
    note: journal.note,
    isIdle: () => isIdle(world),
  }

  let done = 0
  let playing = true
  const reconciling = (async () => {
    for (; playing && !over.aborted; await sleep(RECONCILE_EVERY_MS))
      await world.reconcile().catch(() => undefined)
  })()
  await pool(orders, speed.atOnce, async order => {
    if (over.aborted) return
    await play(around, order).catch(error => add(order.id, [messageOf(error)]))
    progress?.(++done)
  })
  playing = false
  await reconciling

  world.stopFaults()
  // What waits for its next attempt would wait for minutes.
  for (const { id } of orders)
    if ((await service.webhooks(id)).some(({ state }) => state === 'pending')) await service.resend(id)
  add('all', await comeToRest(world, orders))
  // What was swallowed for good is found by a check.
  await world.reconcile()
  add('all', await comeToRest(world, orders))
  for (const queue of NOT_CONSUMED)
    if ((await world.backends.depth(queue)) > 0) add('all', [`something is in ${queue}`])

  let found = 0
  const excuses = new Map<string, readonly string[]>()
  for (const order of orders) {
    const result = await violationsOf(world, order)
    add(order.id, result.violations)
    excuses.set(order.id, result.excused)
    if (result.isFound && result.violations.length === 0) found++
  }
  for (const violation of passingViolations(journal)) add(orderIn(violation) || 'all', [violation])

  const isExcused = ([about, all]: [string, string[]]) =>
    all.every(violation => excuses.get(about)?.includes(violation))
  const verdict =
    violations.size === 0 ? 'agreed' : [...violations].every(isExcused) ? 'too slow to tell' : 'violated'
  return { verdict, violations, found, journal }
}

/** Plays all orders among faults, then stops the faults, waits until nothing moves, and compares. */
export const run = async (options: RunOptions): Promise<Outcome> => {
  const { faults, speed, signal } = options
  const over = new AbortController()
  const world = await startWorld({ faults, speed })
  try {
    signal?.throwIfAborted()
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { signal: over.signal })
    })
    return await Promise.race([playAll(world, options), aborted])
  } finally {
    over.abort()
    await world.close()
  }
}
