// A thread of main.ts, which runs jobs in sequence.

import { parentPort } from 'node:worker_threads'
import type { Bug } from './bugs.ts'
import { crashMatrix } from './explore.ts'
import { firstViolationWith } from './plant.ts'

// Stack traces of expected errors would cost a tenth of the time.
Error.stackTraceLimit = 0

/** A bug to plant, or a part of the matrix to explore. */
export type Job = { bug: Bug } | { only: string; patterns: readonly string[]; depth: number; every: number }

parentPort?.on('message', async (job: Job) =>
  parentPort?.postMessage(await ('bug' in job ? firstViolationWith(job.bug) : crashMatrix(job))),
)
