import { HOUR, MINUTE, SECOND } from '../scenarios.ts'
import { type Fault, MODES, type Mode } from './faults.ts'
import { PLACES, type Place } from './places.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Pattern } from './sender.ts'
import { violationsOf } from './violations.ts'
import { type Run, runScenario, type Scenario } from './world.ts'

export { SCENARIOS }

type NamedPattern = Pattern & { name: string }

const LATER = [HOUR, 6 * HOUR, 24 * HOUR]

/** One schedule retries within the five minutes in which SQS drops duplicates, the other after them. */
const SCHEDULES = {
  'retried within five minutes': [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, ...LATER],
  'retried after five minutes': [6 * MINUTE, 10 * MINUTE, 30 * MINUTE, ...LATER],
} as const

const patternOf = (sends: Pattern['sends'], schedule: keyof typeof SCHEDULES): NamedPattern => ({
  ...{ name: `${sends}, ${schedule}`, sends, waits: SCHEDULES[schedule] },
})

/** As the service and the stores send where nothing else is said. */
export const ONCE = patternOf('once', 'retried within five minutes')

/** How webhooks and requests are sent. */
export const PATTERNS: readonly NamedPattern[] = (['once', 'repeated', 'concurrent'] as const).flatMap(
  sends => [patternOf(sends, 'retried within five minutes'), patternOf(sends, 'retried after five minutes')],
)

/** One run: what went wrong by intention, and what was violated. */
export type Case = {
  scenario: string
  pattern: string
  faults: readonly { at: number; place: Place; mode: Mode }[]
  violations: readonly string[]
}

export type Options = {
  scenarios?: readonly Scenario[]
  patterns?: readonly NamedPattern[]
  /** How many faults strike in one run. @default 1 */
  depth?: number
  /** Only every n-th fault strikes, for a quick sample. @default 1 */
  every?: number
  /** Ends with the first run that violates something. @default false */
  untilFirst?: boolean
}

export type Matrix = {
  runs: number
  violated: number
  /** The first few runs that violated something. */
  failures: Case[]
  /** How many runs were struck at each place, by mode. */
  struck: Record<string, Partial<Record<Mode, number>>>
}

/** How many failures, and how many violations of each, are shown. */
const SHOWN = 5

/** Runs with no fault, and then with a fault of every mode at every call that was made, down to the depth. */
export const crashMatrix = async (
  { scenarios = SCENARIOS, patterns = PATTERNS, depth = 1, every = 1, untilFirst = false }: Options = {},
  onRun: (runs: number) => void = () => undefined,
): Promise<Matrix> => {
  const matrix: Matrix = { runs: 0, violated: 0, failures: [], struck: {} }
  let count = 0
  const isOver = () => untilFirst && matrix.violated > 0

  const note = ({ scenario, world, ...run }: Run, pattern: NamedPattern) => {
    onRun(++matrix.runs)
    const faults = run.faults.flatMap(({ at, mode }) => {
      const place = world.calls[at]
      return place === undefined ? [] : [{ at, place, mode }]
    })
    for (const { place, mode } of faults.slice(0, 1)) {
      const counts = matrix.struck[place] ?? {}
      matrix.struck[place] = { ...counts, [mode]: (counts[mode] ?? 0) + 1 }
    }
    const violations = violationsOf({ scenario, world, ...run })
    if (violations.length === 0) return
    matrix.violated++
    if (matrix.failures.length < SHOWN)
      matrix.failures.push({ scenario: scenario.name, pattern: pattern.name, faults, violations })
  }
  const explore = async (scenario: Scenario, pattern: NamedPattern, faults: readonly Fault[]) => {
    const run = await runScenario(scenario, pattern, faults)
    note(run, pattern)
    if (faults.length === depth) return
    for (let at = (faults.at(-1)?.at ?? -1) + 1; at < run.world.calls.length; at++)
      for (const mode of MODES)
        if (count++ % every === 0 && !isOver()) await explore(scenario, pattern, [...faults, { at, mode }])
  }
  for (const pattern of patterns)
    for (const scenario of scenarios) if (!isOver()) await explore(scenario, pattern, [])
  return matrix
}

/** Places and modes that no run was struck at: the matrix has a hole there. */
export const holesOf = ({ struck }: Matrix): string[] =>
  PLACES.flatMap(place => MODES.filter(mode => !struck[place]?.[mode]).map(mode => `${mode} at "${place}"`))

/** One case in a line, with what is needed to run it again. */
export const describeCase = ({ scenario, pattern, faults, violations }: Case): string => {
  const struck = faults.map(({ place, mode }) => `${mode} at "${place}"`).join(', then ') || 'no fault'
  const again = faults.map(({ at, mode }) => `${at}:${mode}`).join(',')
  const more = violations.length > SHOWN ? `; and ${violations.length - SHOWN} more` : ''
  const shown = violations.slice(0, SHOWN).join('; ') + more
  return `${scenario}; ${pattern}; ${struck} (--fault "${again}"): ${shown}`
}
