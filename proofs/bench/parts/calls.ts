import { deepEqual, equal } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Context, Part } from '../context.ts'
import { bodyOf, eventOf, FOREIGN, messagesOf } from '../deliveries.ts'
import { type Implementation, relay, stack, tutorial, worker } from '../implementations.ts'
import prices from '../prices.json' with { type: 'json' }
import type { RunningFunction } from '../runtime/function.ts'
import type { AwsCall } from '../ways.ts'

const KINDS = ['first', 'duplicate', 'foreign', 'forged'] as const
type Kind = (typeof KINDS)[number]

const LIMITS: Readonly<Record<Kind, number>> = { first: 3, duplicate: 1, foreign: 0, forged: 0 }

/** The event of a delivery of a kind; a duplicate is signed again, as the sender's retry is. */
const EVENTS: Readonly<Record<Kind, (delivery: string) => unknown>> = {
  first: delivery => eventOf('2 KB', { delivery }),
  duplicate: delivery => eventOf('2 KB', { delivery, now: Date.now() + 5000 }),
  foreign: () => eventOf('2 KB', { source: FOREIGN }),
  forged: () => eventOf('2 KB', { secret: 'another' }),
}

/** Deliveries of each kind. */
const EACH = 20

/** The average cost of a run. */
const averageOf = async ({ calls }: Context, running: RunningFunction, run: () => Promise<void>) => {
  calls()
  const before = running.logged()
  await run()
  const [after, made] = [running.logged(), calls()]
  const each = (of: (call: AwsCall) => number) => made.reduce((total, call) => total + of(call), 0) / EACH
  return {
    calls: made.length / EACH,
    actions: [...new Set(made.map(({ action }) => action))],
    readUnits: each(call => call.readUnits),
    writeUnits: each(call => call.writeUnits),
    sqsRequests: each(call => call.sqsRequests),
    logBytes: (after.bytes - before.bytes) / EACH,
    logLines: (after.lines - before.lines) / EACH,
  }
}
type Count = Awaited<ReturnType<typeof averageOf>>

const response = v.pipe(v.string(), v.parseJson(), v.looseObject({ statusCode: v.number() }))

/**
 * Sends deliveries of each kind, counts the calls on the wire, and verifies the responses and the order queue, since a
 * comparison with an incomplete receiver would be meaningless.
 */
const countReceiver = async (name: string, running: RunningFunction, context: Context) => {
  const send = async (event: unknown) => v.parse(response, (await running.invoke(event)).body).statusCode
  // Secrets are read before the first delivery and once a minute after a forged one, so these calls count for no kind.
  await send(eventOf('2 KB'))
  await send(EVENTS.forged(''))
  await context.drain()

  const deliveries = Array.from({ length: EACH }, () => randomUUID())
  const count = async (kind: Kind): Promise<Count> => {
    const counted = await averageOf(context, running, async () => {
      const expected = kind === 'forged' ? 401 : 200
      for (const delivery of deliveries)
        equal(await send(EVENTS[kind](delivery)), expected, `${name}: the status for a ${kind} delivery`)
    })
    const expected = kind === 'first' ? deliveries.toSorted() : []
    const queued = (await context.drain()).map(body => JSON.parse(body).delivery).toSorted()
    deepEqual(queued, expected, `${name}: what a ${kind} delivery puts in the order queue`)
    return counted
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
const countWorker = async (running: RunningFunction, context: Context): Promise<Count> => {
  const process = () => running.invoke(messagesOf(bodyOf('2 KB')), '{"batchItemFailures":[]}')
  await process()
  return averageOf(context, running, async () => {
    for (let each = 0; each < EACH; each++) await process()
  })
}

const countAll = async (context: Context) => {
  const during = async <Result>(
    implementation: Implementation,
    count: (running: RunningFunction) => Promise<Result>,
  ) => {
    const running = await context.start(implementation, 'tapped')
    return count(running).finally(running.stop)
  }
  const receivers = []
  for (const each of [relay, stack, tutorial])
    receivers.push({
      name: each.name,
      ...(await during(each, running => countReceiver(each.name, running, context))),
    })
  /** One webhook, from the order queue to the store's feed. */
  return { receivers, worker: await during(worker, running => countWorker(running, context)) }
}

let counts: ReturnType<typeof countAll> | undefined

/** AWS calls, billed units and bytes of log for one delivery of each kind of 2 KB, counted on the wire. */
export const calls: Part = async context => {
  counts ??= countAll(context)
  const results = await counts
  const found = KINDS.map(kind => results.receivers[0]?.[kind].calls)
  const target = {
    what: `AWS calls for a ${KINDS.join(' / ')} delivery`,
    target: KINDS.map(kind => LIMITS[kind]).join(' / '),
    found: found.join(' / '),
    met: KINDS.every((kind, index) => found[index] === LIMITS[kind]),
  }
  return { results, targets: [target] }
}

/** Values that cannot be measured without AWS and are assumed equal for all implementations. */
const MEMORY_GB = 0.5
const CALL_MS = 4
const BESIDE_MS = 2
/** The size of Lambda's own log lines per invocation, and CloudWatch's overhead per line. */
const PLATFORM_LOG_BYTES = 300
const PLATFORM_LOG_LINES = 3
const LINE_OVERHEAD_BYTES = 26

/**
 * US dollars for a million of one kind, by service.
 *
 * @param batch messages that Lambda reads from the order queue at a time, which are received and deleted by one
 * request each; for a request to an endpoint, undefined
 */
const costOf = (count: Count, batch?: number) => {
  const { aws } = prices
  const runs = 1 / (batch ?? 1)
  const seconds = ((count.calls * CALL_MS + BESIDE_MS) / 1000) * runs
  const lines = count.logLines + PLATFORM_LOG_LINES * runs
  const logged = count.logBytes + PLATFORM_LOG_BYTES * runs + lines * LINE_OVERHEAD_BYTES
  const parts = {
    api: batch === undefined ? aws.httpApiMillionRequests.price : 0,
    lambda: runs * aws.lambdaMillionRequests.price + 1e6 * seconds * MEMORY_GB * aws.lambdaGbSecond.price,
    dynamodb: count.writeUnits * aws.writeMillionUnits.price + count.readUnits * aws.readMillionUnits.price,
    sqs: (count.sqsRequests + (batch === undefined ? 0 : 2 * runs)) * aws.fifoMillionRequests.price,
    logs: (logged / 1000) * aws.logsGb.price,
  }
  const sum = Object.values(parts).reduce((total, part) => total + part, 0)
  const rounded = Object.entries({ ...parts, sum }).map(([part, dollars]) => [part, +dollars.toFixed(2)])
  return Object.fromEntries(rounded)
}

/** US dollars for a million deliveries of each kind: counted calls, times the prices of proofs/bench/prices.json. */
export const cost: Part = async context => {
  counts ??= countAll(context)
  const { receivers, worker } = await counts
  const receiversCost = receivers.map(({ name, ...kinds }) => ({
    name,
    ...Object.fromEntries(KINDS.map(kind => [kind, costOf(kinds[kind])])),
  }))
  const workerCost = { oneAtATime: costOf(worker, 1), batchesOfTen: costOf(worker, 10) }
  return { results: { receivers: receiversCost, worker: workerCost } }
}
