import { EVENTS, type OUTCOMES, STATUSES } from '@order-relay/deploy/dashboard.ts'
import { FAILED_ORDERS } from '@order-relay/lib/accounting/service.ts'
import { METRICS_NAMESPACE } from '@order-relay/lib/platform/names.ts'
import type { Metric } from '@order-relay/lib/platform/telemetry.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { localLines } from '../core/local-log.ts'
import { wordsOf } from '../core/output.ts'

export type Series = {
  namespace: typeof METRICS_NAMESPACE | 'AWS/SQS'
  name: string
  dimensions: Readonly<Record<string, string>>
  stat: 'Sum' | 'Maximum'
}

/** A start time and an interval in milliseconds: a multiple of a minute or, in the local stack, of {@link BUCKET_MS}. */
export type Intervals = { from: number; step: number; count: number }

/** Reads a value for each interval, undefined without data. */
export type ReadSeries = (
  series: readonly Series[],
  intervals: Intervals,
) => Promise<readonly (number | undefined)[][]>

const own = (name: Metric, ...dimensions: Record<string, string>[]): Series[] =>
  (dimensions.length === 0 ? [{}] : dimensions).map(each => ({
    namespace: METRICS_NAMESPACE,
    name,
    dimensions: each,
    stat: 'Sum',
  }))
const outcomes = (...names: (keyof typeof OUTCOMES)[]) =>
  own('Deliveries', ...names.map(outcome => ({ outcome })))
const isFailure = (status: string) => status.startsWith('5')
const requests = (statuses: string[]) => own('Requests', ...statuses.map(status => ({ status })))

/** The throughput of the relay. Each rate is the sum of several metrics. */
const FLOW = {
  queued: outcomes('queued'),
  repeated: outcomes('duplicate', 'ignored'),
  refused: outcomes('forged', 'too_large'),
  // The service signed these webhooks, so they are not forgeries. Those about orders of the relay's stores are quarantined.
  unreadableOrContradictory: outcomes('unreadable', 'contradictory'),
  requests: requests(STATUSES.filter(status => !isFailure(status))),
  requestsFailed: requests(STATUSES.filter(isFailure)),
  processed: own(
    'EventsProcessed',
    ...Object.keys(EVENTS).flatMap(event => ['true', 'false'].map(changed => ({ event, changed }))),
  ),
  retried: [...own('EventRetried'), ...own('ServiceUnauthorized')],
  feedsRetried: own('FeedRetried'),
  // Counted when the breaker opens, not for each call that finds the service unavailable.
  callsPaused: own('ServiceUnavailable'),
} satisfies Record<string, Series[]>

export type FlowName = keyof typeof FLOW
export const FLOW_NAMES = Object.keys(FLOW) as FlowName[]

/** Names the condition, since 0 pauses do not mean that the service was available: a short outage causes no pause. */
const PAUSES = `pauses in calls to the service (after ${FAILED_ORDERS} orders found it unavailable)`

/** The rates in words, such as "requests failed" for `requestsFailed`. */
export const flowFacts = (rates: Readonly<Record<FlowName, number>>): Record<string, number> =>
  Object.fromEntries(FLOW_NAMES.map(name => [name === 'callsPaused' ? PAUSES : wordsOf(name), rates[name]]))

/** The values of each rate by interval. */
export const flowRates = async (
  read: ReadSeries,
  intervals: Intervals,
): Promise<Record<FlowName, number[]>> => {
  const all = FLOW_NAMES.flatMap(name => FLOW[name])
  const values = await read(all, intervals)
  const totals = FLOW_NAMES.map(name => {
    const totals = Array.from({ length: intervals.count }, () => 0)
    for (const series of FLOW[name])
      for (const [index, value = 0] of values[all.indexOf(series)]?.entries() ?? [])
        totals[index] = (totals[index] ?? 0) + value
    return [name, totals]
  })
  return Object.fromEntries(totals)
}

const MINUTE = 60_000
/** The resolution of the local metrics, in milliseconds. */
const BUCKET_MS = 10_000
const KEPT_MS = 25 * 60 * MINUTE

/** Metrics as the functions write them to their log (CloudWatch's embedded metric format). */
const written = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({
    _aws: v.object({
      Timestamp: v.number(),
      CloudWatchMetrics: v.array(
        v.object({
          Dimensions: v.array(v.array(v.string())),
          Metrics: v.array(v.looseObject({ Name: v.string() })),
        }),
      ),
    }),
  }),
)

const keyOf = (name: string, dimensions: Readonly<Record<string, unknown>>) =>
  JSON.stringify([name, ...Object.entries(dimensions).sort(([a], [b]) => (a < b ? -1 : 1))])

/** Reads the metrics in the local log; each call continues where the previous one ended. */
const localSeries = (context: Context): ReadSeries => {
  const lines = localLines(context, new Date(Date.now() - KEPT_MS))
  /** By metric and start of the bucket. */
  const metrics = new Map<string, Map<number, { Sum: number; Maximum: number }>>()
  const add = (text: string, oldest: number) => {
    const line = v.safeParse(written, text)
    if (!line.success || line.output._aws.Timestamp < oldest) return
    const { _aws: about, ...values } = line.output
    const bucket = Math.floor(about.Timestamp / BUCKET_MS) * BUCKET_MS
    for (const { Dimensions, Metrics } of about.CloudWatchMetrics)
      for (const { Name } of Metrics) {
        const own = Dimensions[0]?.filter(name => name !== 'service').map(name => [name, values[name]])
        const key = keyOf(Name, Object.fromEntries(own ?? []))
        const points = metrics.get(key) ?? new Map()
        metrics.set(key, points)
        const value = Number(values[Name])
        const { Sum, Maximum } = points.get(bucket) ?? { Sum: 0, Maximum: value }
        points.set(bucket, { Sum: Sum + value, Maximum: Math.max(Maximum, value) })
      }
  }
  const readOn = async () => {
    const oldest = Date.now() - KEPT_MS
    for await (const text of lines()) if (text.includes('"_aws"')) add(text, oldest)
    for (const points of metrics.values())
      for (const bucket of points.keys()) {
        if (bucket >= oldest) break
        points.delete(bucket)
      }
  }
  let reading: Promise<void> | undefined
  return async (series, { from, step, count }) => {
    reading ??= readOn().finally(() => {
      reading = undefined
    })
    await reading
    return series.map(({ name, dimensions, stat }) => {
      const row = Array<number | undefined>(count).fill(undefined)
      for (const [bucket, { Sum, Maximum }] of metrics.get(keyOf(name, dimensions)) ?? []) {
        const index = Math.floor((bucket - from) / step)
        if (index < 0 || index >= count) continue
        const before = row[index] ?? 0
        row[index] = stat === 'Sum' ? before + Sum : Math.max(before, Maximum)
      }
      return row
    })
  }
}

const namedValues = (dimensions: Readonly<Record<string, string>>) =>
  Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }))

/** Maximum number of metrics in a CloudWatch call. */
const CALL_MAX = 500

const cloudWatchSeries =
  ({ aws, service }: Context): ReadSeries =>
  async (series, { from, step, count }) => {
    const cloudWatch = await aws.cloudWatch()
    const values = series.map(() => Array<number | undefined>(count).fill(undefined))
    const queries = series.map(({ namespace, name, dimensions, stat }, index) => ({
      Id: `q${index}`,
      MetricStat: {
        Metric: {
          Namespace: namespace,
          MetricName: name,
          Dimensions: namedValues({ ...(namespace === METRICS_NAMESPACE && { service }), ...dimensions }),
        },
        Stat: stat,
        Period: step / 1000,
      },
    }))
    const range = { StartTime: new Date(from), EndTime: new Date(from + count * step) }
    for (let at = 0; at < queries.length; at += CALL_MAX) {
      const MetricDataQueries = queries.slice(at, at + CALL_MAX)
      const pages = cloudWatch.paginateGetMetricData({ ...range, MetricDataQueries })
      for await (const { MetricDataResults = [] } of pages)
        for (const { Id = '', Timestamps = [], Values = [] } of MetricDataResults) {
          const row = values[Number(Id.slice(1))]
          for (const [index, time] of Timestamps.entries()) {
            if (row !== undefined) row[Math.floor((time.getTime() - from) / step)] = Values[index]
          }
        }
    }
    return values
  }

/** The metrics of the relay: CloudWatch's, or those in the local log. */
export const seriesOf = (context: Context): ReadSeries =>
  context.local ? localSeries(context) : cloudWatchSeries(context)

const intervalsUntilNow = (count: number, step: number): Intervals => ({
  from: (Math.floor(Date.now() / step) - count + 1) * step,
  step,
  count,
})

/** The most recent intervals, including the current one. */
export const lastIntervals = (count: number, minutes: number): Intervals =>
  intervalsUntilNow(count, minutes * MINUTE)

/** The buckets of the local metrics that cover a period in seconds until now. */
export const lastBuckets = (seconds: number): Intervals =>
  intervalsUntilNow((seconds * 1000) / BUCKET_MS, BUCKET_MS)
