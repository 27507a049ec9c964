import type { Place } from '../place/place.ts'
import type { LogLine, Range } from './line.ts'
import { localLog } from './local.ts'

/** The log of the relay's functions: CloudWatch Logs, or the file that the local stack keeps. */
export async function* logOf(place: Place, range: Range): AsyncGenerator<LogLine> {
  if (place.local) return yield* localLog(place.dataDir, range)
  // Takes a while to load, and only this needs it.
  const { awsLog } = await import('./aws.ts')
  yield* awsLog(place.region, await place.deployment(), range)
}
