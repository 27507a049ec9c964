const namespace = 'order-relay'
/** Set by serverless.yml to the stack's name, so that two stages of one account do not share their alarms. */
const service = process.env.SERVICE_NAME ?? namespace
/** `off` where nobody reads what is written here. */
const silent = process.env.TELEMETRY === 'off'

/** Fields of a log line: ids, outcomes, counts. Never a secret, a name, a mobile number or an e-mail (P11). */
type Fields = Readonly<Record<string, string | number | boolean | undefined>>

type Dimensions = Readonly<Record<string, string>>

/** One line of JSON, as Lambda passes it on to CloudWatch Logs. */
const write = (line: object): void => {
  if (!silent) process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Set by Lambda for each invocation, as `Root=1-…;Parent=…;Sampled=…`. */
const trace = (): string | undefined => /Root=([^;]+)/.exec(process.env._X_AMZN_TRACE_ID ?? '')?.[1]

const log = (level: 'INFO' | 'WARN' | 'ERROR', message: string, fields: object): void =>
  write({
    level,
    message,
    timestamp: new Date().toISOString(),
    service,
    xray_trace_id: trace(),
    ...fields,
  })

/** CloudWatch makes a metric of a line in its embedded metric format. */
const measure = (metric: string, unit: 'Count' | 'Seconds', value: number, dimensions: Dimensions): void =>
  write({
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: [['service', ...Object.keys(dimensions)]],
          Metrics: [{ Name: metric, Unit: unit }],
        },
      ],
    },
    service,
    ...dimensions,
    [metric]: value,
  })

const told = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && { cause: told(cause) }) }
}

/**
 * What happens, for people (logs) and for alarms (metrics). Both are lines of JSON as Powertools for AWS
 * Lambda writes them; with Powertools itself a delivery takes twice the CPU time, see docs/performance.md.
 */
export const telemetry = {
  info: (message: string, fields: Fields = {}): void => log('INFO', message, fields),
  warn: (message: string, fields: Fields = {}): void => log('WARN', message, fields),
  error: (message: string, error: unknown, fields: Fields = {}): void =>
    log('ERROR', message, { ...fields, error: told(error) }),
  /** Counts one, under a metric name that alarms and the dashboard know. */
  count: (metric: string, dimensions: Dimensions = {}): void => measure(metric, 'Count', 1, dimensions),
  /** A time in seconds, under a metric name that alarms and the dashboard know. */
  seconds: (metric: string, value: number, dimensions: Dimensions = {}): void =>
    measure(metric, 'Seconds', value, dimensions),
}
