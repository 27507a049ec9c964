const inOrder = (values: readonly number[]) => values.toSorted((a, b) => a - b)

export const median = (values: readonly number[]): number =>
  inOrder(values)[Math.floor(values.length / 2)] ?? 0

/** What is left out at either end: a pair that the machine held up says nothing. */
const TRIMMED = 0.1

export type Verdict = {
  /** How much longer the second takes, on average. */
  difference: number
  /** Student's t: how many standard errors that is from nothing. */
  t: number
}

/** Whether paired differences, each independent of the others, are around zero. */
export const judge = (differences: readonly number[]): Verdict => {
  const out = Math.floor(differences.length * TRIMMED)
  const kept = inOrder(differences).slice(out, differences.length - out)
  const difference = kept.reduce((sum, value) => sum + value, 0) / kept.length
  const variance = kept.reduce((sum, value) => sum + (value - difference) ** 2, 0) / (kept.length - 1)
  return { difference, t: difference / Math.sqrt(variance / kept.length) }
}
