import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import type { Part } from '../context.ts'
import { type Count, KINDS, type Kind } from '../counts.ts'
import { relay } from '../implementations.ts'

const LIMITS: Readonly<Record<Kind, number>> = { first: 3, duplicate: 1, foreign: 0, forged: 0 }

/** AWS calls, billed units and bytes of log for one delivery of each kind of 2 KB, counted on the wire. */
export const calls: Part = async ({ counts }) => {
  const { receivers, worker } = await counts()
  const found = KINDS.map(kind => receivers.get(relay)?.[kind].calls ?? Number.NaN)
  return {
    results: {
      receivers: [...receivers].map(([{ name }, kinds]) => ({ name, ...kinds })),
      worker,
    },
    targets: [
      {
        what: `AWS calls for a ${KINDS.join(' / ')} delivery`,
        target: KINDS.map(kind => LIMITS[kind]).join(' / '),
        found: found.join(' / '),
        met: KINDS.every((kind, index) => found[index] === LIMITS[kind]),
      },
    ],
  }
}

const price = v.object({ price: v.number() })
const priceList = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    aws: v.object({
      httpApiMillionRequests: price,
      lambdaMillionRequests: price,
      lambdaGbSecond: price,
      writeMillionUnits: price,
      readMillionUnits: price,
      fifoMillionRequests: price,
      logsGb: price,
    }),
  }),
)
type Prices = v.InferOutput<typeof priceList>['aws']

/** What cannot be measured without AWS, and is assumed to be the same for all. */
const MEMORY_GB = 0.5
const CALL_MS = 4
const BESIDE_MS = 2
/** Lambda's own log lines of a run, and what CloudWatch adds to each line. */
const PLATFORM_LOG_BYTES = 300
const PLATFORM_LOG_LINES = 3
const LINE_OVERHEAD_BYTES = 26

/** A request to an endpoint, or messages that Lambda reads from the order queue, so many at a time. */
type Trigger = { requests: number } | { batch: number }

/** US dollars for a million of one kind, by service; a batch is received and deleted by one request each. */
const costOf = (count: Count, prices: Prices, trigger: Trigger) => {
  const runs = 'batch' in trigger ? 1 / trigger.batch : trigger.requests
  const seconds = ((count.calls * CALL_MS + BESIDE_MS) / 1000) * runs
  const logged =
    count.logBytes +
    PLATFORM_LOG_BYTES * runs +
    (count.logLines + PLATFORM_LOG_LINES * runs) * LINE_OVERHEAD_BYTES
  const parts = {
    api: ('batch' in trigger ? 0 : runs) * prices.httpApiMillionRequests.price,
    lambda:
      runs * prices.lambdaMillionRequests.price + 1e6 * seconds * MEMORY_GB * prices.lambdaGbSecond.price,
    dynamodb:
      count.writeUnits * prices.writeMillionUnits.price + count.readUnits * prices.readMillionUnits.price,
    sqs: (count.sqsRequests + ('batch' in trigger ? 2 * runs : 0)) * prices.fifoMillionRequests.price,
    logs: (logged / 1000) * prices.logsGb.price,
  }
  const sum = Object.values(parts).reduce((total, part) => total + part, 0)
  return Object.fromEntries(
    Object.entries({ ...parts, sum }).map(([part, dollars]) => [part, Number(dollars.toFixed(2))]),
  )
}

/** US dollars for a million deliveries of each kind: counted calls, times the prices of bench/prices.json. */
export const cost: Part = async ({ counts }) => {
  const { aws } = v.parse(priceList, await readFile('bench/prices.json', 'utf8'))
  const { receivers, worker } = await counts()
  const receiversCost = [...receivers].map(([{ name }, kinds]) => ({
    name,
    ...Object.fromEntries(KINDS.map(kind => [kind, costOf(kinds[kind], aws, { requests: 1 })])),
  }))
  return {
    results: {
      receivers: receiversCost,
      worker: {
        oneAtATime: costOf(worker, aws, { batch: 1 }),
        batchesOfTen: costOf(worker, aws, { batch: 10 }),
      },
    },
  }
}
