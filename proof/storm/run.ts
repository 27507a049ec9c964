import { setTimeout as sleep } from 'node:timers/promises'
import type { Bug } from '../crash/world.ts'
import { type Assembled, assemble } from './assemble.ts'
import type { Weather } from './faults.ts'
import type { Journal } from './journal.ts'
import { live, type Promised } from './live.ts'
import type { Life } from './lives.ts'
import { orderIn } from './names.ts'
import type { Pace } from './pace.ts'
import { complaintsAbout, isOfFeed, passingComplaints } from './verify.ts'

export type StormOptions = {
  lives: readonly Life[]
  weather: Weather
  pace: Pace
  bug?: Bug
  /** Hears how many lives are over. */
  progress?: (over: number) => void
  /** Breaks the storm off. */
  signal?: AbortSignal
}

export type Storm = {
  /** What is wrong, by order; under `everything` what is wrong with no order alone. */
  complaints: ReadonlyMap<string, readonly string[]>
  /** How many orders' webhooks never came and are known to their stores all the same. */
  found: number
  journal: Journal
}

/** However slow the machine: what is still under way then does not come to rest. */
const REST_MS = 600_000
const CHECK_EVERY_MS = 1000
const LOOK_MS = 100

export type Verdict = 'agreed' | 'wrong' | 'too slow to tell'

/** A slow machine can spoil the order of a feed, and nothing else. */
export const verdictOf = ({ complaints, journal: { tooSlow } }: Storm): Verdict => {
  if (complaints.size === 0) return 'agreed'
  const excused = [...complaints].every(([about, found]) => tooSlow.has(about) && found.every(isOfFeed))
  return excused ? 'too slow to tell' : 'wrong'
}

/** In the order in which messages pass through them. */
const QUEUES = ['order-line.fifo', 'feed-shop.fifo', 'feed-web.fifo']
const NOBODY_READS = ['order-line-dead.fifo', 'feeds-dead.fifo', 'quarantine']

const isIdle = async (world: Assembled): Promise<boolean> => {
  if (world.journal.underWay > 0) return false
  for (const queue of QUEUES) if ((await world.parts.waiting(queue)) > 0) return false
  return world.journal.underWay === 0
}

const isAtRest = async (world: Assembled, lives: readonly Life[]): Promise<boolean> => {
  for (const { id } of lives) {
    if ((await world.sandbox.webhooks(id)).some(({ state }) => state === 'pending')) return false
  }
  return isIdle(world)
}

const comeToRest = async (world: Assembled, lives: readonly Life[]): Promise<string[]> => {
  for (const end = Date.now() + REST_MS; Date.now() < end; await sleep(LOOK_MS)) {
    if ((await isIdle(world)) && (await isAtRest(world, lives))) return []
  }
  return ['it does not come to rest']
}

/** Several at once, each as soon as there is room. */
const side = async <Input>(
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

const abandoned = async (world: Assembled): Promise<string[]> => {
  const left = await Promise.all(
    NOBODY_READS.map(async queue =>
      (await world.parts.waiting(queue)) > 0 ? [`something is in ${queue}`] : [],
    ),
  )
  return left.flat()
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const blow = async (world: Assembled, { lives, pace, progress, signal }: StormOptions): Promise<Storm> => {
  const { parts, sandbox, ears, journal } = world
  const complaints = new Map<string, string[]>()
  const complain = (about: string, found: readonly string[]) => {
    if (found.length > 0) complaints.set(about, [...new Set([...(complaints.get(about) ?? []), ...found])])
  }
  const promises = new Map<string, Promised>()
  let over = 0
  let raging = true
  const checking = (async () => {
    for (; raging && !signal?.aborted; await sleep(CHECK_EVERY_MS)) await world.check().catch(() => undefined)
  })()
  await side(lives, pace.atOnce, async life => {
    const promised: Promised = {}
    promises.set(life.id, promised)
    if (signal?.aborted) return
    const around = { ...world, pace, note: journal.note, isIdle: () => isIdle(world) }
    await live(around, life, promised).catch(error => complain(life.id, [messageOf(error)]))
    progress?.(++over)
  })
  raging = false
  await checking

  world.calmDown()
  // What still waits for its next try would wait for minutes.
  for (const { id } of lives)
    if ((await sandbox.webhooks(id)).some(({ state }) => state === 'pending')) await sandbox.resend(id)
  complain('everything', await comeToRest(world, lives))
  // What was swallowed for good is found by a check.
  await world.check()
  complain('everything', [...(await comeToRest(world, lives)), ...(await abandoned(world))])

  let found = 0
  for (const life of lives) {
    const wrong = await complaintsAbout(life, promises.get(life.id) ?? {}, { parts, sandbox, ears, journal })
    complain(life.id, wrong)
    const webhooks = await sandbox.webhooks(life.id)
    const missed = webhooks.some(
      ({ delivery }) => journal.swallowed.has(delivery) && !journal.queued.has(delivery),
    )
    if (missed && wrong.length === 0 && ears.of(life.id).length > 0) found++
  }
  for (const complaint of passingComplaints(journal))
    complain(orderIn(complaint) || 'everything', [complaint])
  return { complaints, found, journal }
}

/** Lets all lives happen in the weather, then calms it down, waits for rest, and compares. */
export const storm = async (options: StormOptions): Promise<Storm> => {
  const { weather, pace, bug, signal } = options
  const over = new AbortController()
  const world = await assemble({ weather, pace, ...(bug !== undefined && { bug }) })
  try {
    signal?.throwIfAborted()
    const broken = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { signal: over.signal })
    })
    return await Promise.race([blow(world, options), broken])
  } finally {
    over.abort()
    await world.close()
  }
}
