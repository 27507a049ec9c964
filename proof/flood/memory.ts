import { quartersOf } from './statistics.ts'

/** How often a process looks at its resident set. */
export const RESIDENT_EVERY_MS = 250
/** How often a function's process collects its garbage to see what is left. */
export const LIVE_EVERY_MS = 2000

/** With less than a minute nothing can be said of growth: code is still being compiled. */
const ENOUGH = 60_000 / LIVE_EVERY_MS
const GROWTH_MAX = 0.2
/** `memorySize` of receiver and worker in serverless.yml. */
const LIMIT_MB = 512

export type Memory = {
  name: string
  /** The resident set: medians of the four quarters of the run, and the most there was. Bytes. */
  resident: readonly number[]
  peak: number
  /** What garbage collection leaves, quarter by quarter; NaN where none is asked for. Bytes. */
  live: readonly number[]
  /** By how much the last quarter's is above the second's: in the first, code is still being loaded. */
  growth: number | undefined
}

export type Looks = { name: string; resident: readonly number[]; live: readonly number[] }

export const memoryOf = ({ name, resident, live }: Looks): Memory => {
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN, last = Number.NaN] = quartersOf(live)
  return {
    name,
    resident: quartersOf(resident),
    peak: resident.reduce((most, one) => Math.max(most, one), 0),
    live: [first, second, third, last],
    growth: live.length < ENOUGH ? undefined : last / second - 1,
  }
}

/** The functions whose memory is not flat, or more than they have on Lambda. */
export const complaintsOfMemory = (functions: readonly Memory[]): readonly string[] =>
  functions.flatMap(({ name, peak, growth = 0 }) => [
    ...(growth > GROWTH_MAX ? [`The memory of the ${name} grew by ${Math.round(growth * 100)} %`] : []),
    ...(peak > LIMIT_MB * 2 ** 20 ? [`The ${name} took ${Math.round(peak / 2 ** 20)} MiB of memory`] : []),
  ])
