/** What several runs measured: the median, the middle half of the runs, and the calmest tenth. */
export type Measured = { median: number; low: number; high: number; calm: number }

/** A value between the sorted neighbours, such as the median for 0.5. */
export const quantile = (values: readonly number[], which: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * which
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

/** The limit of the lowest tenth. Other processes on the machine only add to a time, so this varies the least. */
const calm = (values: readonly number[]): number => quantile(values, 0.1)

const rounded = (value: number): number => Number(value.toPrecision(3))

export const measured = (values: readonly number[]): Measured => ({
  median: rounded(quantile(values, 0.5)),
  low: rounded(quantile(values, 0.25)),
  high: rounded(quantile(values, 0.75)),
  calm: rounded(calm(values)),
})

/** The ratio of `these` to `those`, by the calmest runs of both. */
export const ratio = (these: readonly number[], those: readonly number[]): number =>
  rounded(calm(these) / calm(those))

/**
 * Measures each in turn, in rounds, so that all are measured under the same load.
 *
 * @param after called after each round
 * @returns what was found for each; the first rounds, in which caches fill, do not count
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
