import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { argumentsFrom } from '../../proof/storm/arguments.ts'

const MAIN = resolve('proof/storm/main.ts')
const directory = await mkdtemp(join(tmpdir(), 'order-relay-storm-test-'))
afterAll(() => rm(directory, { recursive: true }))

const storm = (...options: string[]) =>
  new Promise<{ code: unknown; said: string }>(over => {
    execFile(process.execPath, [MAIN, '--quick', ...options], { cwd: directory }, (error, stdout, stderr) =>
      over({ code: error === null ? 0 : error.code, said: stdout + stderr }),
    )
  })

const BUG = ['--bug', 'a time behind']

test.concurrent('twenty lives of orders through broken connections end in agreement', async () => {
  const { code, said } = await storm('--orders', '20', '--seed', '7')
  expect(said).toContain('service, table and store agree on every order')
  expect(Number(/(\d+) +\d+\nWhat struck/.exec(said)?.[1])).toBeGreaterThan(10)
  expect(code).toBe(0)
})

test.concurrent('a planted bug is found, made small and found again', async () => {
  const found = await storm('--orders', '15', '--seed', '7', '--strength', '0', ...BUG)
  expect(found.said).toContain('a webhook played back later was answered 200, not 401')
  expect(found.code).toBe(1)
  expect(found.said.match(/^\{"id":/gm)).toHaveLength(1)

  const again = await storm('--again', 'reports/storm-7.json', ...BUG)
  expect(again.said).toContain('a webhook played back later was answered 200, not 401')
  expect(again.code).toBe(1)
})

test('what cannot be done is refused without a trace of the program', async () => {
  const { code, said } = await storm('--orders', 'abc')
  expect(said).toBe('Cannot storm: --orders is "abc"; give a whole number from 1 to 99999\n')
  expect(code).toBe(2)
})

test.each([
  [['--seed', 'x1'], 'Cannot storm: --seed is "x1"; give a whole number from 0 to 4294967295'],
  [['--strength', '11'], 'Cannot storm: --strength is "11"; give a number from 0 (no faults) to 10'],
  [['--bug', 'one'], /^Cannot storm: --bug is "one"; give the beginning of one of these.*\n {2}one success/s],
  [['--again', 'none.json'], /^Cannot storm: --again is "none.json"; it cannot be read .*: give a file/],
  [['--again', MAIN], /^Cannot storm: --again is ".*main.ts"; it is no case of a storm/],
  [['--gale'], "Cannot storm: Unknown option '--gale'; see --help"],
])('%j is refused with what to give instead', async (options, message) => {
  await expect(argumentsFrom(options)).rejects.toThrow(message)
})
