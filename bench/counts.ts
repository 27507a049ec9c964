import { deepEqual, equal } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Cloud, Way } from './cloud.ts'
import { bodyOf, eventOf, FOREIGN, recordOf } from './deliveries.ts'
import { type Implementation, relay, stack, tutorial, worker } from './implementations.ts'
import type { RunningFunction } from './runtime/function.ts'
import type { Call } from './tap.ts'

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
  /** One webhook, from the order queue to the store's feed. */
  worker: Count
}

/** Deliveries of each kind. */
const EACH = 20

const response = v.pipe(v.string(), v.parseJson(), v.looseObject({ statusCode: v.number() }))

const average = (calls: readonly Call[], before: Logged, after: Logged): Count => {
  const sum = (of: (call: Call) => number) => calls.reduce((total, call) => total + of(call), 0) / EACH
  return {
    calls: calls.length / EACH,
    actions: [...new Set(calls.map(({ action }) => action))],
    readUnits: sum(call => call.readUnits),
    writeUnits: sum(call => call.writeUnits),
    sqsRequests: sum(call => call.sqsRequests),
    logBytes: (after.bytes - before.bytes) / EACH,
    logLines: (after.lines - before.lines) / EACH,
  }
}
type Logged = ReturnType<RunningFunction['logged']>

/** The event of a delivery of a kind; a duplicate is signed again, as the sender's retry is. */
const EVENTS: Readonly<Record<Kind, (delivery: string) => unknown>> = {
  first: delivery => eventOf('2 KB', { delivery }),
  duplicate: delivery => eventOf('2 KB', { delivery, now: Date.now() + 5000 }),
  foreign: () => eventOf('2 KB', { source: FOREIGN }),
  forged: () => eventOf('2 KB', { secret: 'another' }),
}

/**
 * Sends deliveries of every kind, counts what goes over the wire, and verifies that the receiver does its whole job:
 * its answers, and what is in the order queue afterwards. A comparison with less would be worth nothing.
 */
const countReceiver = async (name: string, running: RunningFunction, cloud: Cloud) => {
  const send = async (event: unknown) => v.parse(response, (await running.invoke(event)).body).statusCode
  // Secrets are read before the first delivery, and once a minute at a forged one: they belong to no kind.
  await send(eventOf('2 KB'))
  await send(eventOf('2 KB', { secret: 'another' }))
  await cloud.drain()
  cloud.calls()

  const deliveries = Array.from({ length: EACH }, () => randomUUID())
  const count = async (kind: Kind): Promise<Count> => {
    const before = running.logged()
    for (const delivery of deliveries) {
      const expected = kind === 'forged' ? 401 : 200
      equal(await send(EVENTS[kind](delivery)), expected, `${name}: the status for a ${kind} delivery`)
    }
    const calls = cloud.calls()
    const expected = kind === 'first' ? deliveries.toSorted() : []
    const queued = (await cloud.drain()).map(body => JSON.parse(body).delivery).toSorted()
    deepEqual(queued, expected, `${name}: what a ${kind} delivery puts in the order queue`)
    return average(calls, before, running.logged())
  }
  const counted = {
    first: await count('first'),
    duplicate: await count('duplicate'),
    foreign: await count('foreign'),
    forged: await count('forged'),
  }
  equal(await send(eventOf('2 KB', { now: Date.now() - 301_000 })), 401, `${name}: a stale delivery`)
  return counted
}

/** Sends webhooks of new orders through the worker, one at a time. */
const countWorker = async (running: RunningFunction, cloud: Cloud): Promise<Count> => {
  const process = async () => {
    const body = bodyOf('2 KB', { delivery: randomUUID() })
    const answer = await running.invoke({ Records: [recordOf(body)] })
    deepEqual(JSON.parse(answer.body), { batchItemFailures: [] })
  }
  await process()
  cloud.calls()
  const before = running.logged()
  for (let each = 0; each < EACH; each++) await process()
  return average(cloud.calls(), before, running.logged())
}

export const countCalls = async (
  cloud: Cloud,
  start: (implementation: Implementation, way: Way) => Promise<RunningFunction>,
): Promise<Counts> => {
  const during = async <Result>(
    implementation: Implementation,
    count: (running: RunningFunction) => Promise<Result>,
  ) => {
    const running = await start(implementation, 'tapped')
    return count(running).finally(running.stop)
  }
  const receivers = new Map<Implementation, Record<Kind, Count>>()
  for (const each of [relay, stack, tutorial]) {
    receivers.set(each, await during(each, running => countReceiver(each.name, running, cloud)))
  }
  return { receivers, worker: await during(worker, running => countWorker(running, cloud)) }
}
