import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'

/** Loading takes a good part of a short run. */
const CACHE = resolve('node_modules/.cache/order-relay')
const MAIN = resolve('test/chaos/flood.ts')
const directory = await mkdtemp(join(tmpdir(), 'order-relay-flood-test-'))
afterAll(() => rm(directory, { recursive: true }))

const flood = (...options: string[]) =>
  new Promise<{ code: unknown; output: string }>(done => {
    execFile(
      process.execPath,
      [MAIN, ...options],
      { cwd: directory, env: { ...process.env, NODE_COMPILE_CACHE: CACHE } },
      (error, stdout, stderr) => done({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    )
  })

test.concurrent('a small flood arrives whole, at the known cost', async () => {
  const { code, output } = await flood('--deliveries', '120', '--seed', '3')
  expect(output).toMatch(/^agreed/)
  expect(code).toBe(0)
  const { answers } = JSON.parse(await readFile(join(directory, 'reports/flood-3.json'), 'utf8'))
  expect(Object.keys(answers).length).toBeGreaterThan(5)
})

test.concurrent('a planted bug is found', async () => {
  const { code, output } = await flood(
    '--deliveries',
    '50',
    '--seed',
    '4',
    '--bug',
    'the receiver takes every source',
  )
  expect(output).toContain('foreign source: 200 queued')
  expect(code).toBe(1)
})

test('a wrong option is refused with a remedy', async () => {
  const { code, output } = await flood('--deliveries', 'abc')
  expect(output).toBe('Cannot run: --deliveries is "abc"; use a whole number\n')
  expect(code).toBe(2)
})
