import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics, type MetricUnit } from '@aws-lambda-powertools/metrics'

/** Fields of a log line: ids, outcomes, counts. Never a secret, a name, a mobile number or an e-mail (P11). */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>

type Dimensions = Readonly<Record<string, string>>

// serverless.yml sets POWERTOOLS_SERVICE_NAME to the stack's name, so that two stages of one account do not
// share their alarms.
const logger = new Logger()
const metrics = new Metrics({ namespace: 'order-relay' })

/** Published at once: metrics that are published together share their dimensions. */
const measure = (
  metric: string,
  unit: (typeof MetricUnit)[keyof typeof MetricUnit],
  value: number,
  dimensions: Dimensions,
) => {
  for (const [name, text] of Object.entries(dimensions)) metrics.addDimension(name, text)
  metrics.addMetric(metric, unit, value)
  metrics.publishStoredMetrics()
}

/** What happens, for people (logs) and for alarms (metrics). */
export const telemetry = {
  info: (message: string, fields: Fields = {}): void => logger.info(message, fields),
  warn: (message: string, fields: Fields = {}): void => logger.warn(message, fields),
  error: (message: string, error: unknown, fields: Fields = {}): void =>
    logger.error(message, { ...fields, error: error instanceof Error ? error : new Error(String(error)) }),
  /** Counts one, under a metric name that alarms and the dashboard know. */
  count: (metric: string, dimensions: Dimensions = {}): void => measure(metric, 'Count', 1, dimensions),
  /** A time in seconds, under a metric name that alarms and the dashboard know. */
  seconds: (metric: string, value: number, dimensions: Dimensions = {}): void =>
    measure(metric, 'Seconds', value, dimensions),
}
