import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { costViolations, heapGrowth } from './flood-violations.ts'

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
  const { code, output } = await flood('--deliveries', '60', '--seed', '3')
  expect(output).toMatch(/^agreed/)
  expect(code).toBe(0)
  const { answers } = JSON.parse(await readFile(join(directory, 'reports/flood-3.json'), 'utf8'))
  expect(Object.keys(answers).length).toBeGreaterThan(5)
})

test.concurrent('a planted bug is found', async () => {
  const { code, output } = await flood(
    '--deliveries',
    '25',
    '--seed',
    '4',
    '--bug',
    'the receiver takes every source',
  )
  expect(output).toContain('foreign source: 200 queued')
  expect(code).toBe(1)
})

const counts = {
  answers: { 'first: 200 queued': 2, 'stale: 401 unauthorized': 5 },
  unavailable: 0,
  seconds: 10,
}
const calls = {
  'webhook to AWS: GetItem for first': 2,
  'webhook to AWS: SendMessage for first': 2,
  'webhook to AWS: PutItem for first': 2,
}

test('the known cost violates nothing', () => {
  expect(costViolations({ ...counts, calls })).toEqual([])
})

test.each([
  ['a call for a forgery', { 'webhook to AWS: GetItem for stale': 1 }],
  ['an oversized body that is queued', { 'webhook to AWS: SendMessage for too large': 1 }],
  ['a record that is missing', { 'webhook to AWS: PutItem for first': 1 }],
  ['secrets read for each forgery', { 'webhook to AWS: GetParametersByPath for none': 5 }],
  ['a call to the service', { 'worker to service: request for first': 1 }],
])('%s is found', (_name, other) => {
  expect(costViolations({ ...counts, calls: { ...calls, ...other } })).not.toEqual([])
})

test('memory that grows is found, in a run that is long enough', () => {
  const growing = Array.from({ length: 100 }, (_, at) => 100 + at)
  expect(heapGrowth(growing)).toBeGreaterThan(0.2)
  expect(heapGrowth(growing.fill(100))).toBe(0)
  expect(heapGrowth(growing.slice(0, 20))).toBeUndefined()
})

test('a wrong option is refused with a remedy', async () => {
  const { code, output } = await flood('--deliveries', 'abc')
  expect(output).toBe('Cannot run: --deliveries is "abc"; use a whole number\n')
  expect(code).toBe(2)
})
