import type { Metric, Telemetry } from '../../lib/platform/telemetry.ts'

type Fields = Parameters<Telemetry['info']>[1]

type Line = { level: 'info' | 'warn' | 'error'; message: string; fields: Fields; error?: unknown }

type Recorded = { name: Metric; dimensions: Readonly<Record<string, string>>; value: number }

/** Telemetry that keeps what it is given. */
export const recordingTelemetry = () => {
  const lines: Line[] = []
  const metrics: Recorded[] = []
  const telemetry: Telemetry = {
    info: (message, fields) => void lines.push({ level: 'info', message, fields }),
    warn: (message, fields) => void lines.push({ level: 'warn', message, fields }),
    error: (message, error, fields) => void lines.push({ level: 'error', message, fields, error }),
    count: (name, dimensions) => void metrics.push({ name, dimensions: dimensions ?? {}, value: 1 }),
    seconds: (name, value) => void metrics.push({ name, dimensions: {}, value }),
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
