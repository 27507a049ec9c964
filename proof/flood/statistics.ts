/** The value below which this part of the sorted values lies; NaN when there are none. */
export const quantile = (sorted: ArrayLike<number>, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

const median = (values: readonly number[]) => quantile(Float64Array.from(values).sort(), 0.5)

/** How often a process looks at its memory. */
export const LOOK_EVERY_MS = 250
/** In less than a minute nothing can be said of growth: code is still being compiled. */
const ENOUGH = 60_000 / LOOK_EVERY_MS

export type Memory = { quarters: readonly number[]; growth: number | undefined }

/**
 * The median of each quarter of the run, and by how much the last is above the second: in the first, code is
 * still being loaded and compiled.
 */
export const memoryOf = (looks: readonly number[]): Memory => {
  const quarters = [0, 1, 2, 3].map(quarter =>
    median(looks.slice((looks.length * quarter) / 4, (looks.length * (quarter + 1)) / 4)),
  )
  const [, second = Number.NaN, , last = Number.NaN] = quarters
  return { quarters, growth: looks.length < ENOUGH ? undefined : last / second - 1 }
}

const GROWTH_MAX = 0.2

/** The processes whose memory is not flat. */
export const complaintsOfMemory = (memory: readonly ({ name: string } & Memory)[]): readonly string[] =>
  memory
    .filter(({ growth = 0 }) => growth > GROWTH_MAX)
    .map(({ name, growth = 0 }) => `The memory of the ${name} grew by ${Math.round(growth * 100)} %`)
