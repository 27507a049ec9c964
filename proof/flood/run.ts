import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { SSMClient } from '@aws-sdk/client-ssm'
import { feedQueueName } from '../../lib/feeds/sqs.ts'
import { ACCOUNT_ID } from '../../local/intrinsics.ts'
import { freePorts } from '../../local/ports.ts'
import { urlOf } from '../../local/settings.ts'
import { complaintsOfAnswers } from './answers.ts'
import { arrivalsOf } from './arrivals.ts'
import { type Player, ready, startPlayer } from './cast.ts'
import { waitingIn } from './depth.ts'
import { bundleFunctions } from './functions.ts'
import { changesOf, type Plan } from './plan.ts'
import { provision } from './provision.ts'
import type { Settings } from './settings.ts'
import { LOOK_EVERY_MS, type Memory, memoryOf } from './statistics.ts'
import { readFeed } from './store.ts'
import { complaintsOfTables } from './tables.ts'

const REGION = 'eu-central-1'
/** When nothing has moved for so long, nothing will. */
const STALL_MS = 60_000
const GROWTH_MAX = 0.2

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
  memory: readonly ({ name: string } & Memory)[]
}

/** Waits for the last change to be told; rejects when nothing moves any more or the time is over. */
const allTold = async (
  { plan, minutes, progress, signal }: FloodOptions,
  sender: Player,
  arrived: () => number,
): Promise<void> => {
  const due = changesOf(plan)
  const begun = Date.now()
  let moved = { at: begun, sum: 0 }
  let ended: string | undefined
  sender.ended.then(how => {
    ended = how
  })
  while (arrived() < due || ended === undefined) {
    signal.throwIfAborted()
    const { sent = 0 } = sender.said
    const now = Date.now()
    if (sent + arrived() !== moved.sum) moved = { at: now, sum: sent + arrived() }
    progress(
      `${sent} of ${plan.deliveries} sent, ${arrived()} of ${due} told, ${Math.round((now - begun) / 1000)} s`,
    )
    if (ended !== undefined && sender.said.answers === undefined) throw new Error(`The sender ${ended}`)
    if (now - moved.at > STALL_MS) throw new Error(`Nothing has moved for ${STALL_MS / 1000} seconds`)
    if (now - begun > minutes * 60_000) throw new Error(`It is not over after ${minutes} minutes`)
    await sleep(200, undefined, { signal })
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const complaintsOfQueues = async (sqs: SQSClient, urls: readonly string[]) => {
  const depths = await Promise.all(urls.map(async url => ({ url, held: await waitingIn(sqs, url) })))
  return depths.flatMap(({ url, held }) =>
    held === 0 ? [] : [`The queue ${url.slice(url.lastIndexOf('/') + 1)} still holds ${held} messages`],
  )
}

/** Waits until the order line has let go of the last message, and so nothing can follow any more. */
const lineIsEmpty = async (sqs: SQSClient, url: string) => {
  for (let tries = 0; (await waitingIn(sqs, url)) > 0 && tries < 200; tries++) await sleep(50)
}

const floodIn = async (directory: string, options: FloodOptions, players: Player[]): Promise<Flood> => {
  const { plan, receivers, workers, lanes, backlog, signal, progress } = options
  const ports = await freePorts()
  const trouble: string[] = []
  const settings: Settings = {
    ...{ plan, region: REGION, ports, directory, lanes, backlog, memoryEvery: LOOK_EVERY_MS },
    secret: randomBytes(32).toString('hex'),
    receivers: [],
    functions: await bundleFunctions(join(directory, 'bundles')),
  }
  const start = (name: string, more: Partial<Settings> = {}) => {
    const hear = (line: string) => {
      if (line.trim() !== '' && trouble.length < 20) trouble.push(line)
    }
    const player = startPlayer(name, { ...settings, ...more }, ports, hear)
    players.push(player)
    return player
  }
  const named = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${name} ${index + 1}`)

  progress('starting')
  const aws = start('aws')
  await ready([aws])
  const client = { region: REGION, credentials: { accessKeyId: 'store', secretAccessKey: 'local' } }
  const clients = {
    dynamodb: new DynamoDBClient({ ...client, endpoint: urlOf(ports.dynamodb) }),
    sqs: new SQSClient({ ...client, endpoint: urlOf(ports.sqs) }),
    ssm: new SSMClient({ ...client, endpoint: urlOf(ports.ssm) }),
  }
  await provision(clients, {
    region: REGION,
    sqsPort: ports.sqs,
    sources: plan.sources,
    secret: settings.secret,
  })
  const doors = named('receiver', receivers).map(name => start(name))
  const hands = named('worker', workers).map(name => start(name))
  await ready([...doors, ...hands])

  const latencies = new Float64Array(changesOf(plan))
  const arrivals = arrivalsOf(plan, Date.now)
  const stopReading = new AbortController()
  const queue = (name: string) => `${urlOf(ports.sqs)}/${ACCOUNT_ID}/${name}`
  const reading = plan.sources.map(source =>
    readFeed(
      clients.sqs,
      queue(feedQueueName(source)),
      body => {
        const took = arrivals.hear(source, body)
        if (took !== undefined) latencies[arrivals.arrived() - 1] = took
      },
      stopReading.signal,
    ),
  )

  const begun = performance.now()
  const looks: number[] = []
  const looking = setInterval(() => looks.push(process.memoryUsage.rss()), LOOK_EVERY_MS)
  const aftermath = async () => {
    await lineIsEmpty(clients.sqs, queue('order-line.fifo'))
    stopReading.abort()
    await Promise.all(reading)
    const queues = [
      'order-line.fifo',
      'order-line-dead.fifo',
      'quarantine',
      ...plan.sources.map(feedQueueName),
    ]
    return [
      ...arrivals.complaints(),
      ...(await complaintsOfTables(clients.dynamodb, plan)),
      ...(await complaintsOfQueues(clients.sqs, queues.map(queue))),
    ]
  }

  const sender = start('sender', { receivers: doors.map(({ said }) => said.ready ?? 0) })
  try {
    const problems: string[] = []
    const broken = [aws, ...doors, ...hands].map(async player => {
      throw new Error(`The ${player.name} ${await player.ended}`)
    })
    const over = new AbortController()
    const patient = { ...options, signal: AbortSignal.any([signal, over.signal]) }
    await Promise.race([allTold(patient, sender, arrivals.arrived), ...reading, ...broken]).catch(
      (error: unknown) => problems.push(messageOf(error)),
    )
    over.abort()
    signal.throwIfAborted()
    const seconds = (performance.now() - begun) / 1000
    clearInterval(looking)
    progress('looking through the tables')
    problems.push(...(await aftermath().catch((error: unknown) => [messageOf(error)])))
    await Promise.all([...doors, ...hands].map(({ stop }) => stop()))
    for (const one of Object.values(clients)) one.destroy()
    await aws.stop()

    const memory = [...players.map(({ name, looks }) => ({ name, looks })), { name: 'store', looks }].map(
      ({ name, looks: all }) => ({ name, ...memoryOf(all) }),
    )
    const { answers = {}, unavailable = 0 } = sender.said
    const { calls = {}, brokenOff = 0 } = aws.said
    problems.push(
      ...complaintsOfAnswers(plan, { answers, calls, unavailable, receivers, seconds }),
      ...memory
        .filter(({ name, growth = 0 }) => /^(?:receiver|worker)/.test(name) && growth > GROWTH_MAX)
        .map(({ name, growth = 0 }) => `The memory of the ${name} grew by ${Math.round(growth * 100)} %`),
      ...trouble,
    )
    const told = arrivals.arrived()
    return {
      ...{ problems, seconds, answers, calls, unavailable, brokenOff, told, memory },
      latencies: latencies.subarray(0, told).sort(),
    }
  } finally {
    clearInterval(looking)
    stopReading.abort()
    await Promise.allSettled(reading)
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
