// A thread of main.ts, which does one job after the other.

import { parentPort } from 'node:worker_threads'
import { BUGS } from './bugs.ts'
import { type Case, crashMatrix, type Matrix, PATTERNS } from './explore.ts'
import { firstViolationWith } from './plant.ts'
import { SCENARIOS } from './scenarios.ts'

// Stack traces of expected errors would take a tenth of the time.
Error.stackTraceLimit = 0

/** A bug to plant or a scenario to explore, by their names: what they do cannot be passed to a thread. */
export type Job = { bug: string } | { scenario: string; patterns: readonly string[]; depth: number }

const perform = async (job: Job): Promise<Case | Matrix | undefined> => {
  if ('bug' in job) {
    const bug = BUGS.find(({ name }) => name === job.bug)
    return bug && firstViolationWith(bug)
  }
  const { scenario, patterns, depth } = job
  return crashMatrix({
    scenarios: SCENARIOS.filter(({ name }) => name === scenario),
    patterns: PATTERNS.filter(({ name }) => patterns.includes(name)),
    depth,
  })
}

parentPort?.on('message', async (job: Job) => parentPort?.postMessage(await perform(job)))
