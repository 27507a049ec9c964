import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'

const namespace = 'order-relay'
/** Set by serverless.yml to the stack's name, so that two stages of one account do not share their alarms. */
const service = process.env.POWERTOOLS_SERVICE_NAME ?? namespace
const logger = new Logger({ serviceName: service })

/** Fields of a log line: ids, outcomes, counts. Never a secret, a name, a mobile number or an e-mail (P11). */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>

type Dimensions = Readonly<Record<string, string>>

const measure = (metric: string, unit: 'Count' | 'Seconds', value: number, dimensions: Dimensions): void => {
  const metrics = new Metrics({ namespace, serviceName: service, singleMetric: true })
  metrics.addDimensions(dimensions)
  metrics.addMetric(metric, unit, value)
}

/** What happens, for people (logs) and for alarms (metrics in embedded format). */
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
