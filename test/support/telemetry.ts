import { jest } from '@jest/globals'
import { telemetry } from '../../lib/telemetry.ts'

/** Keeps logs and metrics off the screen and answers with the names of the metrics counted from now on. */
export const hearTelemetry = (): { counted: string[] } => {
  const counted: string[] = []
  for (const level of ['info', 'warn', 'error', 'seconds'] as const) {
    jest.spyOn(telemetry, level).mockImplementation(() => undefined)
  }
  jest.spyOn(telemetry, 'count').mockImplementation(metric => {
    counted.push(metric)
  })
  return { counted }
}
