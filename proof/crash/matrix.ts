import { type Case, explore, type Options, PATTERNS } from './explore.ts'
import { LIVES } from './lives.ts'
import type { Bug } from './world.ts'

/** How many runs were made, and how many of them broke a promise. */
export type Count = { runs: number; broken: number }

export type Matrix = {
  total: Count
  /** By place and mode of the first fault, see {@link cellOf}. */
  cells: Map<string, Count>
  /** By life and pattern. */
  lives: Map<string, Count>
  /** The first few cases that broke a promise. */
  failures: Case[]
}

export const cellOf = (one: string, other: string): string => `${one} | ${other}`

const SHOWN = 10

const add = (counts: Map<string, Count>, key: string, broken: boolean) => {
  const { runs, broken: before } = counts.get(key) ?? { runs: 0, broken: 0 }
  counts.set(key, { runs: runs + 1, broken: before + (broken ? 1 : 0) })
}

/** Makes every run and counts. */
export const crashMatrix = async (
  options: Partial<Options> = {},
  made: (runs: number) => void = () => undefined,
): Promise<Matrix> => {
  const matrix: Matrix = { total: { runs: 0, broken: 0 }, cells: new Map(), lives: new Map(), failures: [] }
  for await (const one of explore({ lives: LIVES, patterns: PATTERNS, depth: 1, ...options })) {
    const broken = one.complaints.length > 0
    matrix.total.runs++
    if (broken) matrix.total.broken++
    if (broken && matrix.failures.length < SHOWN) matrix.failures.push(one)
    const [fault] = one.faults
    if (fault !== undefined) add(matrix.cells, cellOf(fault.place, fault.mode), broken)
    add(matrix.lives, cellOf(one.life, one.pattern), broken)
    made(matrix.total.runs)
  }
  return matrix
}

/** The first case in which a planted bug breaks a promise; undefined when none does. */
export const caseAgainst = async (bug: Bug): Promise<Case | undefined> => {
  // Many bugs need no fault at all to show.
  for (const depth of [0, 1]) {
    for await (const one of explore({ lives: LIVES, patterns: PATTERNS, depth, bug })) {
      if (one.complaints.length > 0) return one
    }
  }
  return undefined
}
