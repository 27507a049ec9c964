import type { Metric, Telemetry } from '../../lib/platform/telemetry.ts'

type Fields = Parameters<Telemetry['info']>[1]

type Line = { level: 'info' | 'warn' | 'error'; message: string; fields: Fields; error?: unknown }

/** A recorded metric. */
export type Recorded = { name: Metric; dimensions: Readonly<Record<string, string>>; value: number }

/**
 * Telemetry that records its calls.
 *
 * @param onMetric called for each metric when it is recorded
 */
export const recordingTelemetry = (onMetric: (metric: Recorded) => void = () => undefined) => {
  const lines: Line[] = []
  const metrics: Recorded[] = []
  const measure = (metric: Recorded) => {
    metrics.push(metric)
    onMetric(metric)
  }
  const telemetry: Telemetry = {
    info: (message, fields) => void lines.push({ level: 'info', message, fields }),
    warn: (message, fields) => void lines.push({ level: 'warn', message, fields }),
    error: (message, error, fields) => void lines.push({ level: 'error', message, fields, error }),
    count: (name, dimensions, value = 1) => measure({ name, dimensions: dimensions ?? {}, value }),
    seconds: (name, value) => measure({ name, dimensions: {}, value }),
  }
  return {
    telemetry,
    lines,
    metrics,
    messages: () => lines.map(({ message }) => message),
    counted: () => metrics.map(({ name }) => name),
    clear: () => {
      lines.length = 0
      metrics.length = 0
    },
  }
}
