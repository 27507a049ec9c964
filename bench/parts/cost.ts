import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import type { Part } from '../context.ts'
import { type Count, KINDS } from '../counts.ts'
import { shown } from '../report.ts'

const price = v.object({ price: v.number(), source: v.string(), date: v.string() })
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
/** Lambda's own three lines of each run, and what CloudWatch adds to each line. */
const PLATFORM_LOG_BYTES = 300
const LINE_OVERHEAD_BYTES = 26

export const readPrices = async () => v.parse(priceList, await readFile('bench/prices.json', 'utf8'))

/** Lambda receives and deletes for the worker; one message at a time is the dearest that can happen. */
export const fromTheLine = (worker: Count): Count => ({ ...worker, sqsRequests: worker.sqsRequests + 2 })

/** What a million of one kind cost, by service, in US dollars. */
export const costOf = (count: Count, prices: Prices, { requests }: { requests: number }) => {
  const seconds = (count.calls * CALL_MS + BESIDE_MS) / 1000
  const logged = count.logBytes + PLATFORM_LOG_BYTES + (count.logLines + 3) * LINE_OVERHEAD_BYTES
  const parts = {
    api: requests * prices.httpApiMillionRequests.price,
    lambda: prices.lambdaMillionRequests.price + 1e6 * seconds * MEMORY_GB * prices.lambdaGbSecond.price,
    dynamodb:
      count.writeUnits * prices.writeMillionUnits.price + count.readUnits * prices.readMillionUnits.price,
    sqs: count.sqsRequests * prices.fifoMillionRequests.price,
    logs: (logged / 1000) * prices.logsGb.price,
  }
  return { ...parts, sum: Object.values(parts).reduce((sum, part) => sum + part, 0) }
}

const dollars = (value: number) => value.toFixed(2)

/** Dollars for a million deliveries of each kind. */
export const cost: Part = async ({ counts }) => {
  const { region, aws, hosted } = await readPrices()
  const { receivers, worker } = await counts()
  const row = (name: string, kind: string, count: Count, requests: number) => {
    const { api, lambda, dynamodb, sqs, logs, sum } = costOf(count, aws, { requests })
    return [name, kind, ...[api, lambda, dynamodb, sqs, logs].map(dollars), `**${dollars(sum)}**`]
  }
  const rows = [...receivers].flatMap(([{ name }, kinds]) =>
    KINDS.map(kind => row(name, kind, kinds[kind], 1)),
  )
  return {
    title: 'What a million deliveries cost',
    text: [
      `US dollars for a million deliveries with a body of 2 KB, from the counted calls and the list prices of ` +
        `${region} without free tiers (\`bench/prices.json\`). Taken to be the same for all: ${MEMORY_GB * 1024} MB, ` +
        `${CALL_MS} ms for each call and ${BESIDE_MS} ms beside them, Lambda's own ${PLATFORM_LOG_BYTES} bytes of log. ` +
        'The row of the worker is what comes behind a first delivery, whoever received it: here one message at ' +
        'a time, which ten in a batch make cheaper.',
      'What hosted webhook gateways publish, for comparison of size rather than of service: they bring consoles ' +
        'and retries of their own, and none knows what an order is.',
    ],
    tables: [
      {
        head: ['', 'delivery', 'HTTP API', 'Lambda', 'DynamoDB', 'SQS', 'logs', 'together'],
        rows: [...rows, row('worker', 'a webhook from the line', fromTheLine(worker), 0)],
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
        rows: Object.entries(aws).map(([name, { price, source, date }]) => [
          name,
          String(price),
          source,
          date,
        ]),
      },
    ],
    targets: [],
  }
}
