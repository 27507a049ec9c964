import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'

/** Loading takes a good part of a short run. */
const CACHE = resolve('node_modules/.cache/order-relay')
const MAIN = resolve('test/chaos/main.ts')
const directory = await mkdtemp(join(tmpdir(), 'order-relay-chaos-test-'))
afterAll(() => rm(directory, { recursive: true }))

/** In a process of its own: bugs are planted by module hooks, which Jest's own loader does not know. */
const chaos = (...options: string[]) =>
  new Promise<{ code: unknown; output: string }>(done => {
    execFile(
      process.execPath,
      [MAIN, '--quick', ...options],
      { cwd: directory, env: { ...process.env, NODE_COMPILE_CACHE: CACHE } },
      (error, stdout, stderr) => done({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    )
  })

const BUG = ['--bug', 'a time behind']
const FOUND = 'a webhook replayed later was answered 200, not 401'

test.concurrent('fifteen orders among faults end in agreement', async () => {
  const { code, output } = await chaos('--orders', '15', '--seed', '7')
  expect(output).toContain('agreed')
  const { faults } = JSON.parse(await readFile(join(directory, 'reports/chaos-7.json'), 'utf8'))
  expect(Object.keys(faults.byLink).length).toBeGreaterThan(5)
  expect(code).toBe(0)
})

test.concurrent('a planted bug is found, made small, and found again', async () => {
  const found = await chaos('--orders', '8', '--seed', '13', '--strength', '0', ...BUG)
  expect(found.output).toContain(FOUND)
  expect(found.output.match(/^\{"id":/gm)).toHaveLength(1)
  expect(found.code).toBe(1)

  const again = await chaos('--again', 'reports/chaos-13.json', ...BUG)
  expect(again.output).toContain(FOUND)
  expect(again.code).toBe(1)
})

test.each([
  [['--orders', 'abc'], 'Cannot run: --orders is "abc"; use a number up to 99999'],
  [['--bug', 'one'], 'Cannot run: --bug is "one"; use the beginning of one of these:'],
  [['--again', 'none.json'], 'Cannot run: "none.json" has no smallest case; use a report of a violated run'],
])('%j is refused with a remedy', async (options, message) => {
  const { code, output } = await chaos(...options)
  expect(output.slice(0, message.length)).toBe(message)
  expect(output).not.toContain('    at ')
  expect(code).toBe(2)
})
