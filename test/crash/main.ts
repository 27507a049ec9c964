import { parseArgs } from 'node:util'
import { assertPlantable, BUGS } from './bugs.ts'
import { type Case, crashMatrix, describeCase, holesOf, PATTERNS } from './explore.ts'
import { parseFaults } from './faults.ts'
import { firstViolationWith } from './plant.ts'
import { SCENARIOS } from './scenarios.ts'
import { violationsOf } from './violations.ts'
import { runScenario } from './world.ts'

const USAGE = `Kills the functions at every call, in virtual time, and checks what became of every order.

  --bugs            plant the known bugs instead, one after the other: each must be found
  --bug TEXT        only the bugs whose names contain the text
  --scenario TEXT   only the scenarios whose names contain the text
  --pattern TEXT    only the patterns whose names begin with the text
  --depth N         how many faults strike in one run (default: 1; 2 takes hours)
  --fault FAULTS    one run, as in a failure: "7:late" or "7:late,12:lost", and every call it makes
  --json            write the result as JSON
`

// Stack traces of expected errors would take a tenth of the time.
Error.stackTraceLimit = 0

const { values } = parseArgs({
  options: {
    bugs: { type: 'boolean', default: false },
    bug: { type: 'string' },
    scenario: { type: 'string', default: '' },
    pattern: { type: 'string', default: '' },
    depth: { type: 'string', default: '1' },
    fault: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const scenarios = SCENARIOS.filter(({ name }) => name.includes(values.scenario))
const patterns = PATTERNS.filter(({ name }) => name.startsWith(values.pattern))
const say = (line: string) => void process.stdout.write(`${line}\n`)
const began = performance.now()

/** Writes the result, and the problems that make this process fail. */
const finish = (summary: string, result: object, problems: readonly string[]) => {
  const seconds = Math.round((performance.now() - began) / 100) / 10
  if (values.json) say(JSON.stringify({ seconds, ...result }))
  else {
    for (const problem of problems) say(`✗ ${problem}`)
    say(`${summary} in ${seconds} s`)
  }
  process.exitCode = problems.length === 0 ? 0 : 1
}

const plantBugs = async () => {
  assertPlantable(BUGS)
  const found: { bug: string; by: Case | undefined }[] = []
  for (const bug of BUGS.filter(({ name }) => name.includes(values.bug ?? ''))) {
    const by = await firstViolationWith(bug)
    found.push({ bug: bug.name, by })
    if (!values.json) say(`${bug.name}: ${by === undefined ? 'NOT FOUND' : describeCase(by)}`)
  }
  const missed = found.filter(({ by }) => by === undefined).map(({ bug }) => bug)
  const summary = `${found.length - missed.length} of ${found.length} bugs were found`
  finish(summary, { bugs: found }, missed)
}

/** One run again, call by call. */
const repeatRun = async (text: string) => {
  const [scenario] = scenarios
  const [pattern] = patterns
  if (scenario === undefined || pattern === undefined)
    throw new Error('Cannot run: no such scenario or pattern')
  const faults = parseFaults(text)
  const run = await runScenario(scenario, pattern, faults)
  say(`${scenario.name}; ${pattern.name}`)
  for (const [at, place] of run.world.calls.entries()) {
    const mode = faults.find(fault => fault.at === at)?.mode
    say(`${String(at).padStart(4)}  ${place}${mode === undefined ? '' : `   ← ${mode}`}`)
  }
  const violations = violationsOf(run)
  finish(`${run.world.calls.length} calls`, { violations }, violations)
}

const runMatrix = async () => {
  const isWhole = values.scenario === '' && values.pattern === '' && values.depth !== '0'
  const matrix = await crashMatrix({ scenarios, patterns, depth: Number(values.depth) }, runs => {
    if (process.stderr.isTTY && runs % 100 === 0) process.stderr.write(`\r${runs} runs `)
  })
  const holes = isWhole ? holesOf(matrix) : []
  const problems = [...matrix.failures.map(describeCase), ...holes.map(hole => `no run was ${hole}`)]
  finish(`${matrix.runs} runs, ${matrix.violated} with violations`, { ...matrix, holes }, problems)
}

if (values.help) say(USAGE)
else if (values.fault !== undefined) await repeatRun(values.fault)
else if (values.bugs || values.bug !== undefined) await plantBugs()
else await runMatrix()
