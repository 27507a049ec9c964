import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import type { Part } from '../context.ts'
import { type Count, KINDS } from '../counts.ts'
import { shown } from '../report.ts'

const price = v.object({ what: v.string(), price: v.number(), source: v.string(), date: v.string() })
const priceList = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    region: v.string(),
    aws: v.object({
      httpApiMillionRequests: price,
      lambdaMillionRequests: price,
      lambdaGbSecond: price,
      writeMillionUnits: price,
      readMillionUnits: price,
      fifoMillionRequests: price,
      logsGb: price,
    }),
    hosted: v.array(
      v.object({
        name: v.string(),
        million: v.number(),
        terms: v.string(),
        source: v.string(),
        date: v.string(),
      }),
    ),
  }),
)
type Prices = v.InferOutput<typeof priceList>['aws']

/** What cannot be measured without AWS, and is taken to be the same for all. */
const MEMORY_GB = 0.5
const CALL_MS = 4
const BESIDE_MS = 2
/** Lambda's own lines of each run, and what CloudWatch adds to each line. */
const PLATFORM_LOG_BYTES = 300
const PLATFORM_LOG_LINES = 3
const LINE_OVERHEAD_BYTES = 26

export const readPrices = async () => v.parse(priceList, await readFile('bench/prices.json', 'utf8'))

type Way = {
  /** HTTP requests. */
  requests: number
  /** How many are handed over to a function at once; a batch is received and deleted by one request each. */
  batch?: number
}

/** A delivery at a door, and a message that Lambda brings from the line. */
export const AT_THE_DOOR: Way = { requests: 1 }
export const fromTheLine = (batch: number): Way => ({ requests: 0, batch })

/** What a million of one kind cost, by service, in US dollars. */
export const costOf = (count: Count, prices: Prices, { requests, batch }: Way) => {
  const runs = 1 / (batch ?? 1)
  const seconds = ((count.calls * CALL_MS + BESIDE_MS) / 1000) * runs
  const logged =
    count.logBytes +
    PLATFORM_LOG_BYTES * runs +
    (count.logLines + PLATFORM_LOG_LINES * runs) * LINE_OVERHEAD_BYTES
  const parts = {
    api: requests * prices.httpApiMillionRequests.price,
    lambda:
      runs * prices.lambdaMillionRequests.price + 1e6 * seconds * MEMORY_GB * prices.lambdaGbSecond.price,
    dynamodb:
      count.writeUnits * prices.writeMillionUnits.price + count.readUnits * prices.readMillionUnits.price,
    sqs: (count.sqsRequests + (batch === undefined ? 0 : 2 * runs)) * prices.fifoMillionRequests.price,
    logs: (logged / 1000) * prices.logsGb.price,
  }
  return { ...parts, sum: Object.values(parts).reduce((sum, part) => sum + part, 0) }
}

const dollars = (value: number) => value.toFixed(2)

/** Dollars for a million deliveries of each kind. */
export const cost: Part = async ({ counts }) => {
  const { region, aws, hosted } = await readPrices()
  const { receivers, worker } = await counts()
  const row = (name: string, kind: string, count: Count, way: Way) => {
    const { api, lambda, dynamodb, sqs, logs, sum } = costOf(count, aws, way)
    return [name, kind, ...[api, lambda, dynamodb, sqs, logs].map(dollars), `**${dollars(sum)}**`]
  }
  const rows = [
    ...[...receivers].flatMap(([{ name }, kinds]) =>
      KINDS.map(kind => row(name, kind, kinds[kind], AT_THE_DOOR)),
    ),
    row('worker', 'a webhook, one at a time', worker, fromTheLine(1)),
    row('worker', 'a webhook, ten in a batch', worker, fromTheLine(10)),
  ]
  return {
    title: 'What a million deliveries cost',
    text: [
      `US dollars for a million deliveries with a body of 2 KB, from the counted calls and the list prices of ` +
        `${region} without free tiers (\`bench/prices.json\`). Taken to be the same for all: ${MEMORY_GB * 1024} MB, ` +
        `${CALL_MS} ms for each call and ${BESIDE_MS} ms beside them, Lambda's own ${PLATFORM_LOG_BYTES} bytes of log. ` +
        'The rows of the worker are what comes behind a first delivery, whoever received it.',
      'What hosted webhook gateways publish, for comparison of size rather than of service: they bring consoles ' +
        'and retries of their own, and none knows what an order is.',
    ],
    tables: [
      {
        head: ['', 'delivery', 'HTTP API', 'Lambda', 'DynamoDB', 'SQS', 'logs', 'together'],
        rows,
      },
      {
        head: ['hosted gateway', 'a million events', 'terms', 'source', 'read'],
        rows: hosted.map(({ name, million, terms, source, date }) => [
          name,
          shown(million),
          terms,
          source,
          date,
        ]),
      },
      {
        head: ['price', 'US dollars', 'source', 'date'],
        rows: Object.values(aws).map(({ what, price, source, date }) => [what, String(price), source, date]),
      },
    ],
    targets: [],
  }
}
