import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'

// Stands in for lib/telemetry.ts, to show what Powertools' logger and metrics would cost our own receiver.

type Fields = Readonly<Record<string, string | number | boolean | undefined>>
type Dimensions = Readonly<Record<string, string>>

const serviceName = process.env.SERVICE_NAME ?? 'order-relay'
const logger = new Logger({ serviceName })
const metrics = new Metrics({ namespace: 'order-relay', serviceName })

const measure = (metric: string, unit: 'Count' | 'Seconds', value: number, dimensions: Dimensions) => {
  metrics.addDimensions(dimensions)
  metrics.addMetric(metric, unit, value)
  metrics.publishStoredMetrics()
}

export const telemetry = {
  info: (message: string, fields: Fields = {}) => logger.info(message, fields),
  warn: (message: string, fields: Fields = {}) => logger.warn(message, fields),
  error: (message: string, error: unknown, fields: Fields = {}) =>
    logger.error(message, { ...fields, error: error instanceof Error ? error : new Error(String(error)) }),
  count: (metric: string, dimensions: Dimensions = {}) => measure(metric, 'Count', 1, dimensions),
  seconds: (metric: string, value: number, dimensions: Dimensions = {}) =>
    measure(metric, 'Seconds', value, dimensions),
}
