import { complaintsOf } from './complaints.ts'
import { type Fault, MODES, type Mode } from './faults.ts'
import type { Place } from './places.ts'
import type { Pattern } from './sender.ts'
import { type Bug, type Life, live } from './world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const LATER = [HOUR, 6 * HOUR, 24 * HOUR]

/** The schedules: one comes again inside the five minutes in which SQS drops duplicates, one after them. */
const SCHEDULES = {
  'within five minutes': [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, ...LATER],
  'after five minutes': [6 * MINUTE, 10 * MINUTE, 30 * MINUTE, ...LATER],
} as const

export const PATTERNS: readonly (Pattern & { name: string })[] = (
  ['once', 'repeated', 'concurrent'] as const
).flatMap(comes =>
  Object.entries(SCHEDULES).map(([when, waits]) => ({ name: `${comes}, again ${when}`, comes, waits })),
)

/** One run that was made: where it was hurt, and what was wrong afterwards. */
export type Case = {
  life: string
  pattern: string
  faults: readonly { place: Place; mode: Mode; at: number }[]
  complaints: readonly string[]
}

export type Options = {
  lives: readonly Life[]
  patterns: readonly (Pattern & { name: string })[]
  /** How many faults strike in one run; every combination of places is tried. */
  depth: number
  bug?: Bug
}

/**
 * Lets every life happen in every pattern without a fault, and then with a fault of every mode at every call
 * that it makes, and so on to the depth.
 */
export async function* explore({ lives, patterns, depth, bug = {} }: Options): AsyncGenerator<Case> {
  for (const life of lives) {
    for (const pattern of patterns) yield* struck(life, pattern, [], depth, bug)
  }
}

async function* struck(
  life: Life,
  pattern: Pattern & { name: string },
  faults: readonly Fault[],
  left: number,
  bug: Bug,
): AsyncGenerator<Case> {
  const ran = await live(life, pattern, faults, bug)
  yield {
    life: life.name,
    pattern: pattern.name,
    faults: faults.flatMap(({ at, mode }) => {
      const place = ran.visits[at]
      return place === undefined ? [] : [{ place, mode, at }]
    }),
    complaints: complaintsOf(ran, life, faults.length),
  }
  if (left === 0) return
  for (let at = (faults.at(-1)?.at ?? -1) + 1; at < ran.visits.length; at++) {
    for (const mode of MODES) yield* struck(life, pattern, [...faults, { at, mode }], left - 1, bug)
  }
}
