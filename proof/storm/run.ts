import { setTimeout as sleep } from 'node:timers/promises'
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { type Assembled, assemble, type StormBug } from './assemble.ts'
import type { Weather } from './faults.ts'
import { live, type Promised } from './live.ts'
import type { Life } from './lives.ts'
import type { Pace } from './pace.ts'
import type { Journal } from './proxy.ts'
import { complaintsAbout } from './verify.ts'

export type StormOptions = {
  lives: readonly Life[]
  weather: Weather
  pace: Pace
  bug?: StormBug
  /** Hears how many lives are over. */
  progress?: (over: number) => void
}

export type Storm = {
  /** What is wrong, by order; under `everything` what is wrong with no order alone. */
  complaints: ReadonlyMap<string, readonly string[]>
  journal: Journal
}

const CHECK_EVERY_MS = 1000
const REST_MS = 120_000
const LOOK_MS = 100

const waiting = async ({ parts: { sqs, queueUrl } }: Assembled, queue: string): Promise<number> => {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl(queue),
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  )
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0)
}

const QUEUES = ['order-line.fifo', 'feed-shop.fifo', 'feed-web.fifo']
const NOBODY_READS = ['order-line-dead.fifo', 'feeds-dead.fifo', 'quarantine']

const atRest = async (world: Assembled, lives: readonly Life[]): Promise<boolean> => {
  for (const queue of QUEUES) if ((await waiting(world, queue)) > 0) return false
  for (const { id } of lives) {
    if ((await world.sandbox.webhooks(id)).some(({ state }) => state === 'pending')) return false
  }
  return true
}

const comeToRest = async (world: Assembled, lives: readonly Life[]): Promise<string[]> => {
  for (const end = Date.now() + REST_MS; Date.now() < end; await sleep(LOOK_MS)) {
    if (await atRest(world, lives)) return []
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

const wholeComplaints = async (world: Assembled, pace: Pace): Promise<string[]> => {
  const left = await Promise.all(
    NOBODY_READS.map(async queue => ((await waiting(world, queue)) > 0 ? [`something is in ${queue}`] : [])),
  )
  const longest = Math.round(world.longestRun())
  return [
    ...left.flat(),
    ...(longest > pace.visibility * 1000
      ? [
          `a function ran for ${longest} ms, longer than its messages were out: this machine is too busy to tell`,
        ]
      : []),
  ]
}

/** Lets all lives happen in the weather, then calms it down, waits for rest, and compares. */
export const storm = async ({ lives, weather, pace, bug, progress }: StormOptions): Promise<Storm> => {
  const world = await assemble({ weather, pace, ...(bug !== undefined && { bug }) })
  try {
    const promises = new Map<string, Promised>()
    let over = 0
    let raging = true
    const checking = (async () => {
      for (; raging; await sleep(CHECK_EVERY_MS)) await world.check().catch(() => undefined)
    })()
    await side(lives, pace.atOnce, async life => {
      promises.set(life.id, await live({ ...world, pace }, life))
      progress?.(++over)
    })
    raging = false
    await checking

    world.calmDown()
    const everything = await comeToRest(world, lives)
    // What was swallowed for good is found by a check.
    await world.check()
    everything.push(...(await comeToRest(world, lives)), ...(await wholeComplaints(world, pace)))

    const complaints = new Map<string, readonly string[]>()
    if (everything.length > 0) complaints.set('everything', everything)
    const { parts, sandbox, ears, journal } = world
    for (const life of lives) {
      const seen = { parts, sandbox, ears, journal }
      const found = await complaintsAbout(life, promises.get(life.id) ?? {}, seen)
      if (found.length > 0) complaints.set(life.id, found)
    }
    return { complaints, journal }
  } finally {
    await world.close()
  }
}
