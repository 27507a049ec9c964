/** What several runs measured: the median and the middle half of the runs. */
export type Measured = { median: number; low: number; high: number }

/** A value between the sorted neighbours, such as the median for 0.5. */
export const quantile = (values: readonly number[], which: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * which
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

const rounded = (value: number): number => Number(value.toPrecision(3))

export const measured = (values: readonly number[]): Measured => ({
  median: rounded(median(values)),
  low: rounded(quantile(values, 0.25)),
  high: rounded(quantile(values, 0.75)),
})

/**
 * How many times as large `these` are as `those`, run by run: both were measured at the same time, so a machine
 * that is slow for a while affects both.
 */
export const ratio = (these: readonly number[], those: readonly number[]): Measured =>
  measured(these.map((value, run) => value / (those[run] ?? Number.NaN)))
