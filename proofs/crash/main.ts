import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { partOf, proof, say, secondsSince, upTo } from '../options.ts'
import { BUGS, type Bug } from './bugs.ts'
import { type Case, describeCase, holesOf, type Matrix, mergeMatrices, PATTERNS } from './explore.ts'
import { type Fault, parseFaults } from './faults.ts'
import { SCENARIOS } from './scenarios.ts'
import type { Job } from './thread.ts'
import { violationsOf } from './violations.ts'
import { runScenario, type Scenario } from './world.ts'

/** Runs the jobs in one thread per core; the results are in the sequence of the jobs. */
const inThreads = async <Result>(
  jobs: readonly Job[],
  onResult: (result: Result, index: number) => void,
): Promise<Result[]> => {
  const results: Result[] = []
  const waiting = jobs.entries()
  const work = async () => {
    const thread = new Worker(new URL('./thread.ts', import.meta.url))
    for (const [index, job] of waiting) {
      thread.postMessage(job)
      const [result] = await once(thread, 'message')
      results[index] = result
      onResult(result, index)
    }
    await thread.terminate()
  }
  await Promise.all(Array.from({ length: Math.min(jobs.length, availableParallelism()) }, work))
  return results
}

/** The result, in one line and as JSON; problems make the proof fail. */
type Result = { summary: string; result: object; problems: readonly string[] }

const plantBugs = async (planted: readonly Bug[], isSilent: boolean): Promise<Result> => {
  const found = await inThreads<Case | undefined>(
    planted.map(bug => ({ bug })),
    (by, index) => {
      if (!isSilent) say(`${planted[index]?.name}: ${by === undefined ? 'NOT FOUND' : describeCase(by)}`)
    },
  )
  const bugs = planted.map(({ name }, index) => ({ bug: name, by: found[index] }))
  const problems = bugs.filter(({ by }) => by === undefined).map(({ bug }) => bug)
  const summary = `${bugs.length - problems.length} of ${bugs.length} bugs were found`
  return { summary, result: { bugs }, problems }
}

type Runs = { scenario: readonly Scenario[]; pattern: typeof PATTERNS; depth: number; every: number }

/** Repeats one run and prints each call. */
const repeatRun = async (
  { scenario: [scenario], pattern: [pattern] }: Runs,
  faults: Fault[],
): Promise<Result> => {
  if (scenario === undefined || pattern === undefined) throw new Error('Cannot run: nothing to run')
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

const runMatrix = async ({ scenario: scenarios, pattern: patterns, depth, every }: Runs): Promise<Result> => {
  let runs = 0
  const matrices = await inThreads<Matrix>(
    scenarios.map(({ name }) => ({
      only: name,
      patterns: patterns.map(pattern => pattern.name),
      depth,
      every,
    })),
    matrix => {
      runs += matrix.runs
      if (process.stderr.isTTY) process.stderr.write(`\r${runs} runs `)
    },
  )
  const matrix = mergeMatrices(matrices)
  const isWhole = scenarios.length === SCENARIOS.length && patterns.length === PATTERNS.length && depth > 0
  const holes = isWhole ? holesOf(matrix) : []
  return {
    summary: `${matrix.runs} runs, ${matrix.violated} with violations`,
    result: { ...matrix, holes },
    problems: [...matrix.failures.map(describeCase), ...holes.map(hole => `no run was ${hole}`)],
  }
}

export const crash = proof(
  'crash',
  'Kills the functions at every call, in virtual time, and checks what became of every order.',
)
  .option('--bugs', 'plant the known bugs instead, one after the other: each must be found')
  .option('--bug <text>', 'only the bugs whose names contain the text', partOf(BUGS))
  .option('--scenario <text>', 'only the scenarios whose names contain the text', partOf(SCENARIOS))
  .option('--pattern <text>', 'only the patterns whose names contain the text', partOf(PATTERNS))
  .option('--depth <n>', 'number of faults in one run; 2 takes hours', upTo(10), 1)
  .option(
    '--every <n>',
    'only every n-th fault, from a random one on; each kind at least once',
    upTo(1000),
    1,
  )
  .option(
    '--fault <faults>',
    'one run, as in a failure: "7:late" or "7:late,12:lost", and its calls',
    parseFaults,
  )
  .option('--json', 'write the result as JSON')
  .action(
    async ({ bugs, bug, scenario = SCENARIOS, pattern = PATTERNS, depth, every, fault, json = false }) => {
      const began = performance.now()
      const runs = { scenario, pattern, depth, every }
      const { summary, result, problems } = await (fault !== undefined
        ? repeatRun(runs, fault)
        : bugs || bug !== undefined
          ? plantBugs(bug ?? BUGS, json)
          : runMatrix(runs))
      const seconds = secondsSince(began)
      if (json) say(JSON.stringify({ seconds, ...result }))
      else {
        for (const problem of problems) say(`✗ ${problem}`)
        say(`${summary} in ${seconds} s`)
      }
      process.exitCode = problems.length === 0 ? 0 : 1
    },
  )
