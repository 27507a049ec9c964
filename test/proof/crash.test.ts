import '../../proof/quiet.ts'
import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { BUGS } from '../../proof/crash/bugs.ts'
import { PATTERNS } from '../../proof/crash/explore.ts'
import { LIVES } from '../../proof/crash/lives.ts'
import { caseAgainst, crashMatrix } from '../../proof/crash/matrix.ts'
import { holes } from '../../proof/crash/report.ts'
import { BATCH, TIMEOUT } from '../../proof/crash/worker.ts'
import { LINE_OPTIONS } from '../../proof/crash/world.ts'

test('a death or a lost answer at any await breaks no promise', async () => {
  // The sender that comes again after five minutes is the harder one; `npm run proof` lives all patterns.
  const patterns = PATTERNS.filter(({ name }) => name === 'once, again after five minutes')
  const matrix = await crashMatrix({ patterns })
  expect(matrix.failures).toEqual([])
  expect(holes(matrix)).toEqual([])
  expect(matrix.lives.size).toBe(LIVES.length)
  expect(matrix.total.runs).toBeGreaterThan(2000)
}, 60_000)

test.each(Object.entries(BUGS))(
  'the matrix catches: %s',
  async (_name, bug) => {
    const caught = await caseAgainst(bug)
    expect(caught?.complaints).not.toHaveLength(0)
    expect(caught?.complaints.join()).not.toContain('DynamoDB has no')
  },
  60_000,
)

test('the models have the limits of the stack', async () => {
  const yaml = async (path: string): Promise<unknown> =>
    parse(await readFile(new URL(path, import.meta.url), 'utf8'), { logLevel: 'error' })
  expect(await yaml('../../deploy/queues.yml')).toMatchObject({
    Resources: {
      OrderLine: {
        Properties: {
          VisibilityTimeout: LINE_OPTIONS.visibility / 1000,
          RedrivePolicy: { maxReceiveCount: LINE_OPTIONS.maxReceives },
        },
      },
    },
  })
  expect(await yaml('../../serverless.yml')).toMatchObject({
    functions: { worker: { timeout: TIMEOUT / 1000, events: [{ sqs: { batchSize: BATCH } }] } },
  })
})
