import { type Options, say, secondsSince } from '../options.ts'
import { assertPlantable, BUGS } from './bugs.ts'
import { type Case, crashMatrix, describeCase, holesOf, PATTERNS } from './explore.ts'
import { parseFaults } from './faults.ts'
import { firstViolationWith } from './plant.ts'
import { SCENARIOS } from './scenarios.ts'
import { violationsOf } from './violations.ts'
import { runScenario } from './world.ts'

export const USAGE = `Kills the functions at every call, in virtual time, and checks what became of every order.

  --bugs            plant the known bugs instead, one after the other: each must be found
  --bug TEXT        only the bugs whose names contain the text
  --scenario TEXT   only the scenarios whose names contain the text
  --pattern TEXT    only the patterns whose names contain the text
  --depth N         how many faults strike in one run (default: 1; 2 takes hours)
  --fault FAULTS    one run, as in a failure: "7:late" or "7:late,12:lost", and every call it makes
  --json            write the result as JSON
`

// Stack traces of expected errors would take a tenth of the time.
Error.stackTraceLimit = 0

/** What was found, in a line, and as JSON; problems make the proof fail. */
type Result = { summary: string; result: object; problems: readonly string[] }

const plantBugs = async (options: Options): Promise<Result> => {
  assertPlantable(BUGS)
  const found: { bug: string; by: Case | undefined }[] = []
  for (const bug of options.named('bug', BUGS)) {
    const by = await firstViolationWith(bug)
    found.push({ bug: bug.name, by })
    if (!options.has('json')) say(`${bug.name}: ${by === undefined ? 'NOT FOUND' : describeCase(by)}`)
  }
  const problems = found.filter(({ by }) => by === undefined).map(({ bug }) => bug)
  const summary = `${found.length - problems.length} of ${found.length} bugs were found`
  return { summary, result: { bugs: found }, problems }
}

/** One run again, call by call. */
const repeatRun = async (options: Options, text: string): Promise<Result> => {
  const [[scenario], [pattern]] = [options.named('scenario', SCENARIOS), options.named('pattern', PATTERNS)]
  if (scenario === undefined || pattern === undefined) throw new Error('Cannot run: nothing to run')
  const faults = parseFaults(text)
  const run = await runScenario(scenario, pattern, faults)
  const { calls } = run.world
  say(`${scenario.name}; ${pattern.name}`)
  for (const [at, place] of calls.entries()) {
    const mode = faults.find(fault => fault.at === at)?.mode
    say(`${String(at).padStart(4)}  ${place}${mode === undefined ? '' : `   ← ${mode}`}`)
  }
  const violations = violationsOf(run)
  return { summary: `${calls.length} calls`, result: { violations }, problems: violations }
}

const runMatrix = async (options: Options): Promise<Result> => {
  const scenarios = options.named('scenario', SCENARIOS)
  const patterns = options.named('pattern', PATTERNS)
  const depth = options.number('depth', 1)
  const matrix = await crashMatrix({ scenarios, patterns, depth }, runs => {
    if (process.stderr.isTTY && runs % 100 === 0) process.stderr.write(`\r${runs} runs `)
  })
  const isWhole = scenarios.length === SCENARIOS.length && patterns.length === PATTERNS.length && depth > 0
  const holes = isWhole ? holesOf(matrix) : []
  return {
    summary: `${matrix.runs} runs, ${matrix.violated} with violations`,
    result: { ...matrix, holes },
    problems: [...matrix.failures.map(describeCase), ...holes.map(hole => `no run was ${hole}`)],
  }
}

export const run = async (options: Options): Promise<number> => {
  const began = performance.now()
  const fault = options.text('fault')
  const isPlanting = options.has('bugs') || options.text('bug') !== undefined
  const { summary, result, problems } = await (fault !== undefined
    ? repeatRun(options, fault)
    : (isPlanting ? plantBugs : runMatrix)(options))
  const seconds = secondsSince(began)
  if (options.has('json')) say(JSON.stringify({ seconds, ...result }))
  else {
    for (const problem of problems) say(`✗ ${problem}`)
    say(`${summary} in ${seconds} s`)
  }
  return problems.length === 0 ? 0 : 1
}
