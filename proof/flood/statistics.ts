/** The value below which this part of the sorted values lies; NaN when there are none. */
export const quantile = (sorted: ArrayLike<number>, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

const median = (values: readonly number[]) => quantile(Float64Array.from(values).sort(), 0.5)

/** The median of each quarter of the run, in which the values were taken evenly. */
export const quartersOf = (values: readonly number[]): readonly number[] =>
  [0, 1, 2, 3].map(quarter =>
    median(values.slice((values.length * quarter) / 4, (values.length * (quarter + 1)) / 4)),
  )
