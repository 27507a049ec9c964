import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { BUGS } from './bugs.ts'
import { crashMatrix, PATTERNS } from './explore.ts'
import { LIMITS } from './functions.ts'
import { PLACES } from './places.ts'

test('a crash or a lost answer at any call violates no promise', async () => {
  // A sample: `npm run proof -- crash` makes every run. Six modes and every seventh fault: all of both in turn.
  const patterns = PATTERNS.filter(({ name }) => name === 'once, retried after five minutes')
  const matrix = await crashMatrix({ patterns, every: 7 })
  expect(matrix.failures).toEqual([])
  expect(PLACES.filter(place => matrix.struck[place] === undefined)).toEqual([])
  expect(matrix.runs).toBeGreaterThan(700)
}, 60_000)

test('every planted bug is found', async () => {
  // Bugs are planted by module hooks, which Jest's own loader does not know.
  const { stdout } = await promisify(execFile)(process.execPath, ['test/crash/main.ts', '--bugs', '--json']).catch(
    (failed: { stdout: string }) => failed,
  )
  const { bugs } = JSON.parse(stdout) as { bugs: { bug: string; by?: { violations: string[] } }[] }
  expect(bugs).toHaveLength(BUGS.length)
  expect(bugs.filter(({ by }) => by === undefined).map(({ bug }) => bug)).toEqual([])
}, 60_000)

test('a bug whose place is not in the source is an error', async () => {
  const { firstViolationWith } = await import('./plant.ts')
  void firstViolationWith
})

test('the models have the limits of the stack', async () => {
  const yaml = async (path: string): Promise<unknown> =>
    parse(await readFile(path, 'utf8'), { logLevel: 'error' })
  const { orders, webFeed } = LIMITS
  expect(await yaml('deploy/queues.yml')).toMatchObject({
    Resources: {
      OrdersQueue: {
        Properties: {
          VisibilityTimeout: orders.visibility / 1000,
          RedrivePolicy: { maxReceiveCount: orders.maxReceives },
        },
      },
    },
  })
  const sqs = { batchSize: orders.batchSize, functionResponseType: 'ReportBatchItemFailures' }
  expect(await yaml('serverless.yml')).toMatchObject({
    functions: {
      worker: { timeout: orders.timeout / 1000, events: [{ sqs }] },
      feeder: { timeout: webFeed.timeout / 1000 },
    },
  })
})
