/** A measured thing: its median over the runs, and how far the middle half of them spread. */
export type Measured = { median: number; low: number; high: number; runs: number }

const at = (sorted: readonly number[], quantile: number): number => {
  const position = (sorted.length - 1) * quantile
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

export const quantile = (values: readonly number[], which: number): number =>
  at(
    values.toSorted((a, b) => a - b),
    which,
  )

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The median, with the quartiles as its spread. */
export const measured = (values: readonly number[]): Measured => ({
  median: median(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
  runs: values.length,
})

/**
 * How many times as much `these` are as `those`, run by run: what was measured at the same time is compared,
 * so that a machine that is slower for a while does not count for one of them.
 */
export const ratio = (these: readonly number[], those: readonly number[]): Measured =>
  measured(these.map((value, run) => value / (those[run] ?? Number.NaN)))
