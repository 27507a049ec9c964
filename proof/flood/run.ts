import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { feedQueueName } from '../../lib/feeds/sqs.ts'
import { complaintsOfAnswers } from './answers.ts'
import { type Arrivals, arrivalsOf } from './arrivals.ts'
import type { Player } from './cast.ts'
import { complaintsOfMemory, type Memory, memoryOf, RESIDENT_EVERY_MS } from './memory.ts'
import { changesOf, type Plan } from './plan.ts'
import { complaintsOfQueues, emptied } from './queues.ts'
import { type Stage, setStage } from './stage.ts'
import { readFeed } from './store.ts'
import { complaintsOfTables } from './tables.ts'
import { allTold } from './wait.ts'

const LINE = 'order-line.fifo'

export type FloodOptions = {
  plan: Plan
  receivers: number
  workers: number
  lanes: number
  backlog: number
  /** The whole flood may take so long, in minutes. */
  minutes: number
  signal: AbortSignal
  progress: (line: string) => void
}

export type Flood = {
  problems: readonly string[]
  /** From the first delivery sent to the last one told. */
  seconds: number
  answers: Readonly<Record<string, number>>
  calls: Readonly<Record<string, number>>
  unavailable: number
  brokenOff: number
  told: number
  /** From the first sending of a change to the store's reading of it, in milliseconds, sorted. */
  latencies: Float64Array
  memory: readonly Memory[]
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Reads the feeds of all stores while they fill. */
const startReading = ({ sqs, queue }: Stage, plan: Plan) => {
  const latencies = new Float64Array(changesOf(plan))
  const arrivals = arrivalsOf(plan, Date.now)
  const end = new AbortController()
  const resident: number[] = []
  const looking = setInterval(() => resident.push(process.memoryUsage.rss()), RESIDENT_EVERY_MS)
  const hear = (source: string) => (body: string) => {
    const took = arrivals.hear(source, body)
    if (took !== undefined) latencies[arrivals.arrived() - 1] = took
  }
  const feeds = plan.sources.map(source =>
    readFeed(sqs, queue(feedQueueName(source)), hear(source), end.signal),
  )
  return {
    arrivals,
    feeds,
    resident,
    latencies: () => latencies.subarray(0, arrivals.arrived()).sort(),
    stop: async () => {
      clearInterval(looking)
      end.abort()
      await Promise.allSettled(feeds)
    },
  }
}

/** What is wrong when all is over, on the feeds, in the tables and in the queues. */
const aftermath = async ({ dynamodb, sqs, queue }: Stage, plan: Plan, arrivals: Arrivals) => {
  const queues = [LINE, 'order-line-dead.fifo', 'quarantine', ...plan.sources.map(feedQueueName)]
  return [
    ...arrivals.complaints(),
    ...(await complaintsOfTables(dynamodb, plan)),
    ...(await complaintsOfQueues(sqs, queues.map(queue))),
  ]
}

const floodIn = async (directory: string, options: FloodOptions, players: Player[]): Promise<Flood> => {
  const { plan, receivers, signal, progress } = options
  progress('starting')
  const stage = await setStage(directory, options, players)
  const { aws, functions, sqs, queue, trouble } = stage
  const reading = startReading(stage, plan)
  const { arrivals } = reading
  try {
    const problems: string[] = []
    const begun = performance.now()
    const sender = stage.startSender()
    const broken = [aws, ...functions].map(async player => {
      throw new Error(`The ${player.name} ${await player.ended}`)
    })
    const over = new AbortController()
    const whileWanted = AbortSignal.any([signal, over.signal])
    const told = allTold(options, sender, arrivals.arrived, whileWanted)
    await Promise.race([told, ...reading.feeds, ...broken]).catch(error => problems.push(messageOf(error)))
    over.abort()
    signal.throwIfAborted()
    const seconds = (performance.now() - begun) / 1000

    progress('looking through feeds, tables and queues')
    await emptied(sqs, queue(LINE)).catch(error => problems.push(messageOf(error)))
    await reading.stop()
    problems.push(...(await aftermath(stage, plan, arrivals).catch(error => [messageOf(error)])))
    await stage.stop()

    const { answers = {}, unavailable = 0 } = sender.said
    const { calls = {}, brokenOff = 0 } = aws.said
    const memory = [...players, { name: 'store', resident: reading.resident, live: [] }].map(memoryOf)
    problems.push(
      ...complaintsOfAnswers(plan, { answers, calls, unavailable, receivers, seconds }),
      ...complaintsOfMemory(memory.filter(({ name }) => functions.some(player => player.name === name))),
      ...trouble,
    )
    const latencies = reading.latencies()
    return {
      problems,
      seconds,
      answers,
      calls,
      unavailable,
      brokenOff,
      told: latencies.length,
      latencies,
      memory,
    }
  } finally {
    await reading.stop()
  }
}

/** Floods a relay of its own and says what became of it; leaves nothing running and nothing behind. */
export const flood = async (options: FloodOptions): Promise<Flood> => {
  const directory = await mkdtemp(join(tmpdir(), 'order-relay-flood-'))
  const players: Player[] = []
  try {
    return await floodIn(directory, options, players)
  } finally {
    await Promise.all(players.map(({ stop }) => stop()))
    await rm(directory, { recursive: true, force: true })
  }
}
