import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import type { Bundle } from './bundles.ts'
import type { Cloud } from './cloud/start.ts'
import type { Call } from './cloud/tap.ts'
import { bodyOf, eventOf, FOREIGN, SIZES } from './deliveries.ts'
import { type Implementation, ours, powertools, tutorial, worker } from './implementations.ts'
import { startFunction } from './runtime/function.ts'

export const KINDS = ['first', 'duplicate', 'foreign', 'forged'] as const
export type Kind = (typeof KINDS)[number]

/** What one delivery of a kind costs, on average. */
export type Count = {
  calls: number
  actions: string[]
  readUnits: number
  writeUnits: number
  sqsRequests: number
  logBytes: number
  logLines: number
}
export type Counts = {
  receivers: ReadonlyMap<Implementation, Readonly<Record<Kind, Count>>>
  /** One webhook, from the line to the store's feed. */
  worker: Count
}

/** Deliveries of each kind. */
const EACH = 20

const answer = v.pipe(v.string(), v.parseJson(), v.looseObject({ statusCode: v.number() }))

const sum = (calls: readonly Call[], of: (call: Call) => number) =>
  calls.reduce((total, call) => total + of(call), 0)

type Logged = { bytes: number; lines: number }

const average = (calls: readonly Call[], before: Logged, after: Logged): Count => ({
  calls: calls.length / EACH,
  actions: [...new Set(calls.map(({ action }) => action))],
  readUnits: sum(calls, call => call.readUnits) / EACH,
  writeUnits: sum(calls, call => call.writeUnits) / EACH,
  sqsRequests: sum(calls, call => call.sqsRequests) / EACH,
  logBytes: (after.bytes - before.bytes) / EACH,
  logLines: (after.lines - before.lines) / EACH,
})

/** The event of one delivery of a kind; `delivery` is the one that was sent first. */
const eventOfKind = (kind: Kind, delivery: string, now: number) => {
  switch (kind) {
    case 'first':
      return eventOf('2 KB', { delivery, now })
    case 'duplicate':
      return eventOf('2 KB', { delivery, now })
    case 'foreign':
      return eventOf('2 KB', { source: FOREIGN, now })
    case 'forged':
      return eventOf('2 KB', { secret: 'somebody else', now })
  }
}

const expectSame = (what: string, found: unknown, wanted: unknown) => {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(
      `Cannot compare: ${what} is ${JSON.stringify(found)} and should be ${JSON.stringify(wanted)}`,
    )
  }
}

/** What is on the line, once as much as is expected has been found there; an emulator may take a moment. */
const drained = async (cloud: Cloud, expected: number): Promise<string[]> => {
  const found = await cloud.drain()
  for (let tries = 0; found.length < expected && tries < 20; tries++) {
    await sleep(100)
    found.push(...(await cloud.drain()))
  }
  return found
}

/**
 * Sends deliveries of every kind through one implementation, counts what goes over the wire, and verifies
 * that it did its job: answers, and what is on the line afterwards.
 */
const countFor = async ({ name }: Implementation, bundle: Bundle, cloud: Cloud) => {
  const running = await startFunction(bundle, cloud.environment('tapped'))
  const send = async (event: unknown) => v.parse(answer, (await running.invoke(event)).body).statusCode
  try {
    // Secrets are read at the first delivery, and once a minute at a forged one; neither belongs to a kind.
    await send(eventOf('2 KB'))
    await send(eventOf('2 KB', { secret: 'somebody else' }))
    await cloud.drain()
    await cloud.calls()

    const deliveries = Array.from({ length: EACH }, () => randomUUID())
    const count = async (kind: Kind) => {
      const wanted = kind === 'forged' ? 401 : 200
      const before = running.logged()
      for (const delivery of deliveries) {
        // A duplicate is signed anew, as the sender's retry is.
        const now = Date.now() + (kind === 'duplicate' ? 5000 : 0)
        expectSame(
          `${name}: the answer to a ${kind} delivery`,
          await send(eventOfKind(kind, delivery, now)),
          wanted,
        )
      }
      const calls = await cloud.calls()
      const expected = kind === 'first' ? deliveries.toSorted() : []
      const queued = (await drained(cloud, expected.length)).map(body => JSON.parse(body).delivery)
      expectSame(`${name}: what a ${kind} delivery puts on the line`, queued.toSorted(), expected)
      return average(calls, before, running.logged())
    }
    const first = await count('first')
    const duplicate = await count('duplicate')
    const foreign = await count('foreign')
    const forged = await count('forged')
    const stale = await send(eventOf('2 KB', { now: Date.now() - 301_000 }))
    expectSame(`${name}: the answer to a stale delivery`, stale, 401)
    return { first, duplicate, foreign, forged }
  } finally {
    await running.stop()
  }
}

/** A webhook as the worker receives it from the line. */
const recordOf = (delivery: string) => {
  const body = bodyOf(SIZES['2 KB'], { delivery })
  return {
    messageId: delivery,
    receiptHandle: delivery,
    body,
    attributes: {
      MessageGroupId: delivery,
      ApproximateReceiveCount: '1',
      ApproximateFirstReceiveTimestamp: String(Date.now()),
      SentTimestamp: String(Date.now()),
      SenderId: 'bench',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:order-line.fifo',
    awsRegion: 'eu-central-1',
  }
}

/** Sends webhooks of new orders through the worker, one at a time. */
const countWorker = async (bundle: Bundle, cloud: Cloud): Promise<Count> => {
  const running = await startFunction(bundle, cloud.environment('tapped'))
  const work = async () => {
    const { body } = await running.invoke({ Records: [recordOf(randomUUID())] })
    expectSame('the answer of the worker', JSON.parse(body), { batchItemFailures: [] })
  }
  try {
    await work()
    await cloud.calls()
    const before = running.logged()
    for (let each = 0; each < EACH; each++) await work()
    return average(await cloud.calls(), before, running.logged())
  } finally {
    await running.stop()
  }
}

export const countCalls = async (
  cloud: Cloud,
  bundleOf: (implementation: Implementation) => Promise<Bundle>,
): Promise<Counts> => {
  const receivers = new Map<Implementation, Record<Kind, Count>>()
  for (const implementation of [ours, powertools, tutorial]) {
    receivers.set(implementation, await countFor(implementation, await bundleOf(implementation), cloud))
  }
  return { receivers, worker: await countWorker(await bundleOf(worker), cloud) }
}
