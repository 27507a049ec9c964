import { powertoolsTelemetry, type Telemetry } from '../../lib/platform/telemetry.ts'

/** The output of Powertools on standard output and standard error. */
export const powertoolsOutput = (use: (telemetry: Telemetry) => void): string => {
  const written: string[] = []
  const streams = [process.stdout, process.stderr]
  const originals = streams.map(stream => stream.write)
  for (const stream of streams) {
    stream.write = (chunk: string | Uint8Array) => {
      written.push(String(chunk))
      return true
    }
  }
  try {
    use(powertoolsTelemetry())
  } finally {
    for (const [index, stream] of streams.entries()) stream.write = originals[index] ?? stream.write
  }
  return written.join('')
}
