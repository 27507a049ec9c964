// Stands in for lib/telemetry.ts: the lines that it writes, made by hand, to show what Powertools costs.

type Fields = Readonly<Record<string, string | number | boolean | undefined>>
type Dimensions = Readonly<Record<string, string>>

const Namespace = 'order-relay'
const service = process.env.POWERTOOLS_SERVICE_NAME ?? Namespace

const write = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

const log = (level: string, message: string, fields: object) =>
  write({ level, message, timestamp: new Date().toISOString(), service, ...fields })

const measure = (metric: string, Unit: string, value: number, dimensions: Dimensions) =>
  write({
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace,
          Dimensions: [['service', ...Object.keys(dimensions)]],
          Metrics: [{ Name: metric, Unit }],
        },
      ],
    },
    service,
    ...dimensions,
    [metric]: value,
  })

export const telemetry = {
  info: (message: string, fields: Fields = {}) => log('INFO', message, fields),
  warn: (message: string, fields: Fields = {}) => log('WARN', message, fields),
  error: (message: string, error: unknown, fields: Fields = {}) =>
    log('ERROR', message, { ...fields, error: String(error) }),
  count: (metric: string, dimensions: Dimensions = {}) => measure(metric, 'Count', 1, dimensions),
  seconds: (metric: string, value: number, dimensions: Dimensions = {}) =>
    measure(metric, 'Seconds', value, dimensions),
}
