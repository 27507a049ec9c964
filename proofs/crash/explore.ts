import { HOUR, MINUTE, SECOND } from '../../test/support/scenarios.ts'
import { type Fault, MODES, type Mode } from './faults.ts'
import { isRead, PLACES, type Place } from './places.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Pattern } from './sender.ts'
import { violationsOf } from './violations.ts'
import { type Run, runScenario, type Scenario } from './world.ts'

type NamedPattern = Pattern & { name: string }

const LATER = [HOUR, 6 * HOUR, 24 * HOUR]

/** One schedule retries within the five minutes of SQS's deduplication, the other after them. */
const SCHEDULES = {
  'retried within five minutes': [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, ...LATER],
  'retried after five minutes': [6 * MINUTE, 10 * MINUTE, 30 * MINUTE, ...LATER],
} as const

const patternOf = (sends: Pattern['sends'], schedule: keyof typeof SCHEDULES): NamedPattern => ({
  name: `${sends}, ${schedule}`,
  sends,
  waits: SCHEDULES[schedule],
})

/** The default pattern of the service and the stores. */
export const ONCE = patternOf('once', 'retried within five minutes')

/** The sending patterns of webhooks and requests. */
export const PATTERNS: readonly NamedPattern[] = (['once', 'repeated', 'concurrent'] as const).flatMap(
  sends => [patternOf(sends, 'retried within five minutes'), patternOf(sends, 'retried after five minutes')],
)

/** A run: the injected faults and the violations. */
export type Case = {
  scenario: string
  pattern: string
  faults: readonly { at: number; place: Place; mode: Mode }[]
  violations: readonly string[]
}

export type Options = {
  scenarios?: readonly Scenario[]
  /** Only the scenario of this name. */
  only?: string
  /** The names of patterns. @default all */
  patterns?: readonly string[]
  /** Number of faults per run. @default 1 */
  depth?: number
  /** Injects every n-th fault, from a random one on, and the first of each mode at each place. @default 1 */
  every?: number
  /** Stops after the first run with a violation. @default false */
  untilFirst?: boolean
}

export type Matrix = {
  runs: number
  violated: number
  /** The first few runs with violations. */
  failures: Case[]
  /** The number of runs by mode and place of the first fault. */
  struck: Record<string, number>
}

const hitOf = ({ place, mode }: { place: Place; mode: Mode }) => `${mode} at "${place}"`

const addTo = (counts: Record<string, number>, name: string, count = 1) => {
  counts[name] = (counts[name] ?? 0) + count
}

/** Maximum number of failures, and of violations per failure, to show. */
const SHOWN = 5

/**
 * The distinct modes of a place. A call without an effect cannot take effect late, and a response after the timeout is
 * ignored, so these runs would repeat the runs in which the call is lost.
 */
const modesAt = (place: Place): readonly Mode[] => {
  if (isRead(place)) return MODES.filter(mode => mode !== 'unanswered' && mode !== 'late')
  return place.endsWith(': answer') ? MODES.filter(mode => mode !== 'late') : MODES
}

/** Runs without a fault, then with a fault of each mode at each call that was made, up to the depth. */
export const crashMatrix = async ({
  scenarios = SCENARIOS,
  only,
  patterns,
  depth = 1,
  every = 1,
  untilFirst = false,
}: Options = {}): Promise<Matrix> => {
  const matrix: Matrix = { runs: 0, violated: 0, failures: [], struck: {} }
  let count = Math.floor(Math.random() * every)
  const isOver = () => untilFirst && matrix.violated > 0

  const note = ({ scenario, world, ...run }: Run, pattern: NamedPattern) => {
    matrix.runs++
    const faults = run.faults.flatMap(({ at, mode }) => {
      const place = world.calls[at]
      return place === undefined ? [] : [{ at, place, mode }]
    })
    if (faults[0] !== undefined) addTo(matrix.struck, hitOf(faults[0]))
    const violations = violationsOf({ scenario, world, ...run })
    if (violations.length === 0) return
    matrix.violated++
    if (matrix.failures.length < SHOWN)
      matrix.failures.push({ scenario: scenario.name, pattern: pattern.name, faults, violations })
  }
  /** Completed runs by scenario and faults, with the values that they read from their pattern. */
  const ran = new Map<string, { pattern: Pattern; asked: Set<keyof Pattern>; calls: readonly Place[] }[]>()
  /** The calls of a run. Patterns that return the same values for everything that was read give identical runs. */
  const callsOf = async (scenario: Scenario, pattern: NamedPattern, faults: readonly Fault[]) => {
    const name = JSON.stringify([scenario.name, faults])
    const others = ran.get(name) ?? []
    const same = others.find(other => [...other.asked].every(part => other.pattern[part] === pattern[part]))
    if (same !== undefined) return same.calls
    const asked = new Set<keyof Pattern>()
    const observed = new Proxy<Pattern>(pattern, {
      get(_target, part: keyof Pattern) {
        asked.add(part)
        return pattern[part]
      },
    })
    const run = await runScenario(scenario, observed, faults)
    note(run, pattern)
    const { calls } = run.world
    ran.set(name, [...others, { pattern, asked, calls }])
    return calls
  }
  const explore = async (scenario: Scenario, pattern: NamedPattern, faults: readonly Fault[]) => {
    const calls = await callsOf(scenario, pattern, faults)
    if (faults.length === depth) return
    for (const [at, place] of calls.entries())
      for (const mode of at > (faults.at(-1)?.at ?? -1) ? modesAt(place) : [])
        if ((count++ % every === 0 || !matrix.struck[hitOf({ place, mode })]) && !isOver())
          await explore(scenario, pattern, [...faults, { at, mode }])
  }
  for (const pattern of PATTERNS.filter(({ name }) => patterns?.includes(name) ?? true))
    for (const scenario of scenarios.filter(({ name }) => name === (only ?? name)))
      if (!isOver()) await explore(scenario, pattern, [])
  return matrix
}

/** Merges the matrices of several scenarios. */
export const mergeMatrices = (matrices: readonly Matrix[]): Matrix => {
  const all: Matrix = { runs: 0, violated: 0, failures: [], struck: {} }
  for (const { runs, violated, failures, struck } of matrices) {
    all.runs += runs
    all.violated += violated
    all.failures.push(...failures.slice(0, SHOWN - all.failures.length))
    for (const [hit, count] of Object.entries(struck)) addTo(all.struck, hit, count)
  }
  return all
}

/** Places and modes without a run: holes in the matrix. */
export const holesOf = ({ struck }: Matrix): string[] =>
  PLACES.flatMap(place => modesAt(place).map(mode => hitOf({ place, mode }))).filter(hit => !struck[hit])

/** A case in one line, with the options to repeat it. */
export const describeCase = ({ scenario, pattern, faults, violations }: Case): string => {
  const struck = faults.map(hitOf).join(', then ') || 'no fault'
  const again = faults.map(({ at, mode }) => `${at}:${mode}`).join(',')
  const more = violations.length > SHOWN ? `; and ${violations.length - SHOWN} more` : ''
  const shown = violations.slice(0, SHOWN).join('; ') + more
  return `${scenario}; ${pattern}; ${struck} (--fault "${again}"): ${shown}`
}
