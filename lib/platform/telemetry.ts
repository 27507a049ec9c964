import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics, type MetricUnit } from '@aws-lambda-powertools/metrics'
import { METRICS_NAMESPACE } from './names.ts'
import { visible } from './visible.ts'

/** Fields of a log line: ids, outcomes, counts. Never a secret, name, mobile number or e-mail (promise P11). */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>

/** The metrics of the stack, used by its alarms and dashboard, and their dimensions in addition to `service`. */
export const METRICS = {
  Deliveries: ['outcome'],
  DeliveryFailed: [],
  Requests: ['status'],
  RequestFailed: [],
  EventsProcessed: ['event', 'changed'],
  EventRetried: [],
  HistoryThrottled: [],
  /** Seconds. */
  FailingEventAge: [],
  Quarantined: ['from'],
  ServiceUnauthorized: [],
  ServiceUnavailable: [],
  /** Seconds. */
  DueCheckAge: [],
  FeedRetried: [],
  /** Seconds. */
  FeedFailingAge: [],
  FeedDisabled: [],
  FeedDeadLettered: [],
  ProbeSeen: [],
} as const

export type Metric = keyof typeof METRICS

/**
 * The failures by which a gradual deployment judges a new version, also recorded with the dimension `version`. They have
 * at most one data point for each invocation.
 */
export const BY_VERSION: ReadonlySet<Metric> = new Set([
  'DeliveryFailed',
  'RequestFailed',
  'EventRetried',
  'FeedRetried',
])
export type Dimensions<Name extends Metric> = Readonly<Record<(typeof METRICS)[Name][number], string>>

/** Logs for people and metrics for alarms. */
export type Telemetry = {
  info: (message: string, fields?: Fields) => void
  warn: (message: string, fields?: Fields) => void
  error: (message: string, error: unknown, fields?: Fields) => void
  /** Adds to a metric, as one data point. @param times default: 1 */
  count: <Name extends Metric>(metric: Name, dimensions?: Dimensions<Name>, times?: number) => void
  /** Records a duration in seconds. */
  seconds: (metric: Metric, value: number) => void
}

/**
 * An error reduced to its name, message, stack and codes. Powertools logs every property and the cause of an error,
 * which may contain data: Node attaches the raw bytes of a response that it cannot parse (promise P11).
 */
const loggable = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error(String(error))
  const { name, message, stack } = error
  const codes = Object.entries(error).filter(([key]) => key === 'code' || key === '$metadata')
  return Object.assign(new Error(message), { name, stack }, Object.fromEntries(codes))
}

/** Escapes characters that split a line or control a terminal, which JSON leaves as they are. */
const escaped = (text: string) => {
  const json = JSON.stringify(text)
  const shown = visible(json)
  return shown === json ? text : JSON.rawJSON(shown)
}

/**
 * Telemetry in the formats of Powertools. serverless.yml sets POWERTOOLS_SERVICE_NAME to the name of the
 * stack, so that two stages in one account do not share their alarms.
 */
export const powertoolsTelemetry = (): Telemetry => {
  const logger = new Logger({
    jsonReplacerFn: (_key, value) => (typeof value === 'string' ? escaped(value) : value),
  })
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE })
  // A function without gradual deployments has the version `$LATEST`, which is never compared.
  const version = process.env.AWS_LAMBDA_FUNCTION_VERSION ?? '$LATEST'

  /** Published immediately: metrics published together would share their dimensions. */
  const measure = (
    metric: Metric,
    unit: (typeof MetricUnit)[keyof typeof MetricUnit],
    value: number,
    dimensions: Readonly<Record<string, string>> = {},
  ) => {
    for (const [name, text] of Object.entries(dimensions)) metrics.addDimension(name, text)
    if (version !== '$LATEST' && BY_VERSION.has(metric)) metrics.addDimensions({}).addDimensions({ version })
    metrics.addMetric(metric, unit, value)
    metrics.publishStoredMetrics()
  }

  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, error, fields = {}) => logger.error(message, { ...fields, error: loggable(error) }),
    count: (metric, dimensions, times = 1) => measure(metric, 'Count', times, dimensions),
    seconds: (metric, value) => measure(metric, 'Seconds', value),
  }
}
