/** Statistics of several runs: the median, the middle half, and the fastest tenth. */
export type Measured = { median: number; low: number; high: number; calm: number }

/** A value between the sorted neighbors, such as the median for 0.5. */
export const quantile = (values: readonly number[], which: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * which
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

/** The 10th percentile. Other processes can only lengthen a run, so this varies least. */
const calm = (values: readonly number[]): number => quantile(values, 0.1)

const rounded = (value: number): number => Number(value.toPrecision(3))

export const measured = (values: readonly number[]): Measured => ({
  median: rounded(quantile(values, 0.5)),
  low: rounded(quantile(values, 0.25)),
  high: rounded(quantile(values, 0.75)),
  calm: rounded(calm(values)),
})

/** The ratio of `these` to `those`, by the fastest runs of both. */
export const ratio = (these: readonly number[], those: readonly number[]): number =>
  rounded(calm(these) / calm(those))

/**
 * Measures in rounds, one after another, so that all are measured under the same load.
 *
 * @param after called after each round
 * @returns the results of each, without the first rounds, which fill caches
 */
export const inTurn = async <Subject, Found>(
  subjects: readonly Subject[],
  { rounds, warmUp = 1 }: { rounds: number; warmUp?: number },
  measure: (subject: Subject) => Promise<Found>,
  after: () => unknown = () => undefined,
): Promise<(subject: Subject) => Found[]> => {
  const found = new Map(subjects.map(subject => [subject, [] as Found[]]))
  for (let round = -warmUp; round < rounds; round++) {
    for (const subject of subjects) {
      const one = await measure(subject)
      if (round >= 0) found.get(subject)?.push(one)
    }
    await after()
  }
  return subject => found.get(subject) ?? []
}
