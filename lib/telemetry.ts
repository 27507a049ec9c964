import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'

const service = 'order-relay'
const logger = new Logger({ serviceName: service })

/** Fields of a log line: ids, outcomes, counts. Never a secret, a name, a mobile number or an e-mail (P11). */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>

/** What happens, for people (logs) and for alarms (metrics in embedded format). */
export const telemetry = {
  info: (message: string, fields: Fields = {}): void => logger.info(message, fields),
  warn: (message: string, fields: Fields = {}): void => logger.warn(message, fields),
  error: (message: string, error: unknown, fields: Fields = {}): void =>
    logger.error(message, { ...fields, error: error instanceof Error ? error : new Error(String(error)) }),
  /** Counts one, under a metric name that alarms and the dashboard know. */
  count: (metric: string, dimensions: Readonly<Record<string, string>> = {}): void => {
    const metrics = new Metrics({ namespace: service, serviceName: service, singleMetric: true })
    metrics.addDimensions(dimensions)
    metrics.addMetric(metric, 'Count', 1)
  },
}
