import type { Part } from '../context.ts'
import { ours } from '../implementations.ts'
import { type LineOptions, throughTheLine } from '../line-model.ts'
import { lines } from '../plots.ts'
import { shown } from '../report.ts'
import { quantile } from '../statistics.ts'
import { AT_THE_DOOR, costOf, fromTheLine, readPrices } from './cost.ts'

const MOST = 10_000
const RATES = [1, 10, 100, 300, 1000, 3000, MOST]
const SECONDS_OF_MONTH = 30 * 24 * 60 * 60

/** As serverless.yml has them. */
const WORKERS = 10
const BATCH = 10
const TURNED_UP = 100

/** What cannot be measured here, in seconds. */
const RECEIVE = 0.02
const WEBHOOK = 0.02
const REQUEST = 0.12
const BETWEEN = 0.02

const options = (rate: number, workers: number, seconds: number): LineOptions => ({
  rate,
  workers,
  seconds,
  batch: BATCH,
  between: BETWEEN,
  // Ten seconds of traffic at least, of orders that each come up once in ten seconds.
  messages: Math.min(Math.max(2000, rate * 20), 100_000),
  orders: Math.max(100, rate * 10),
  seed: 7,
})

const capacity = (workers: number, seconds: number) => (workers * BATCH) / (seconds + BETWEEN)

/** Seconds from arrival to the end of work; undefined when more arrives than is worked off. */
const waits = (rate: number, workers: number, seconds: number) => {
  if (rate >= capacity(workers, seconds)) return undefined
  const took = [...throughTheLine(options(rate, workers, seconds))]
  return { median: quantile(took, 0.5), slow: quantile(took, 0.99) }
}

const shownWaits = (rate: number, workers: number, seconds: number): string => {
  const found = waits(rate, workers, seconds)
  if (found === undefined) return `line grows: ${capacity(workers, seconds).toFixed(0)}/s are worked off`
  return `${(found.median * 1000).toFixed(0)} / ${(found.slow * 1000).toFixed(0)} ms`
}

/** Denser towards the rate at which the line begins to grow, where the wait does. */
const ratesUpTo = (limit: number): number[] =>
  [...RATES, 3, 30, ...[0.5, 0.7, 0.8, 0.9, 0.95, 0.98].map(share => share * limit)]
    .filter(rate => rate < limit && rate <= MOST)
    .toSorted((a, b) => a - b)

type Limit = { rate: number; what: string; turn: string }

const LIMITS: readonly Limit[] = [
  {
    rate: 100,
    what: 'throttling of the HTTP API, by decision: `requestsPerSecond`',
    turn: 'the parameter, in `serverless.yml`; AWS gives an account 10,000 a second in a region',
  },
  {
    rate: 500,
    what: 'orders of one store: they share a partition key, and a partition takes 1,000 write units a second',
    turn: 'nothing: DynamoDB splits a partition that stays hot, by the order number; warm throughput ahead of a campaign',
  },
  {
    rate: capacity(WORKERS, REQUEST),
    what: `requests of stores, each with a call of 100 ms: \`maximumConcurrency\` ${WORKERS} in batches of ${BATCH}`,
    turn: "the worker's `maximumConcurrency`, as far as the accounting service takes calls: ten for each step",
  },
  {
    rate: 2000,
    what: 'a new DynamoDB table on demand: 4,000 write units a second, two for an order',
    turn: 'nothing: it doubles by itself within minutes of traffic, up to the quota of 40,000; or warm throughput',
  },
  {
    rate: capacity(WORKERS, WEBHOOK),
    what: `webhooks, which need no call: \`maximumConcurrency\` ${WORKERS} in batches of ${BATCH}`,
    turn: "the worker's `maximumConcurrency`, up to 1,000",
  },
  { rate: 10_000, what: 'the HTTP API of an account in a region', turn: 'a quota, on request' },
  {
    rate: 19_000,
    what: 'SQS FIFO in high-throughput mode: SendMessage calls a second in Frankfurt (70,000 in Ireland)',
    turn: 'another region or a quota; groups are hashes of the order, so all partitions are used alike',
  },
  {
    rate: 1000 / RECEIVE,
    what: 'receivers side by side: 1,000 Lambda instances of an account, 20 ms for each delivery',
    turn: 'a quota, on request; a new account may begin with far fewer',
  },
]

/** How cost and latency grow from 1 to 10,000 deliveries a second. */
export const scaling: Part = async ({ counts }) => {
  const { receivers, worker } = await counts()
  const { aws } = await readPrices()
  const first = receivers.get(ours)?.first
  const million = (batch: number) =>
    (first === undefined ? Number.NaN : costOf(first, aws, AT_THE_DOOR).sum) +
    costOf(worker, aws, fromTheLine(batch)).sum
  const month = (rate: number, batch: number) =>
    Math.round((million(batch) * rate * SECONDS_OF_MONTH) / 1e6).toLocaleString('en')

  const rows = RATES.map(rate => [
    rate.toLocaleString('en'),
    `$${month(rate, 10)} to ${month(rate, 1)}`,
    shown(rate * RECEIVE),
    shownWaits(rate, WORKERS, WEBHOOK),
    shownWaits(rate, TURNED_UP, WEBHOOK),
    shownWaits(rate, WORKERS, REQUEST),
    shownWaits(rate, TURNED_UP, REQUEST),
  ])
  const line = (name: string, workers: number, seconds: number) => ({
    name,
    points: ratesUpTo(capacity(workers, seconds)).flatMap(rate => {
      const found = waits(rate, workers, seconds)
      return found === undefined ? [] : [[rate, found.slow * 1000] as const]
    }),
  })
  return {
    title: 'Growth',
    text: [
      'A model, not a measurement: arrivals at random (seeded), a FIFO queue by the rules of SQS (message groups, ' +
        `batches of ${BATCH}), and Lambda's event source. Taken: ${WEBHOOK * 1000} ms for a webhook in the worker, ` +
        `${REQUEST * 1000} ms for a request with its call to the service, ${BETWEEN * 1000} ms between two batches, ` +
        `orders that come up once in ten seconds. Shown are median and 99 of 100, from arrival on the line to the ` +
        `store's feed. The cost is that of first deliveries all the way to the feed, from full batches to one message at a time.`,
      'One order is worked on by one worker at a time, so it gets through as often as the service answers a call; what grows is the number of orders, and they do not wait for each other.',
    ],
    tables: [
      {
        head: [
          'deliveries a second',
          'a month',
          'receivers side by side',
          `webhooks, ${WORKERS} workers (as shipped)`,
          `webhooks, ${TURNED_UP} workers`,
          `requests, ${WORKERS} workers (as shipped)`,
          `requests, ${TURNED_UP} workers`,
        ],
        rows,
      },
      {
        head: ['at, a second', 'the limit', 'what to turn'],
        rows: LIMITS.toSorted((a, b) => a.rate - b.rate).map(({ rate, what, turn }) => [
          Math.round(rate).toLocaleString('en'),
          what,
          turn,
        ]),
      },
    ],
    targets: [],
    plots: [
      {
        name: 'growth',
        alt: 'Milliseconds on the line, 99 of 100, over deliveries a second',
        svg: lines(
          'On the line, 99 of 100: until the workers do not suffice',
          { x: 'deliveries a second', y: 'ms' },
          [
            line('webhooks, 10 workers', WORKERS, WEBHOOK),
            line('webhooks, 100 workers', TURNED_UP, WEBHOOK),
            line('requests, 10 workers', WORKERS, REQUEST),
            line('requests, 100 workers', TURNED_UP, REQUEST),
          ],
        ),
      },
    ],
  }
}
