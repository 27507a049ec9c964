import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const run = promisify(execFile)

test('forty lives of orders through broken connections end in agreement', async () => {
  const { stdout } = await run(process.execPath, ['proof/storm/main.ts', '--orders', '40', '--seed', '7'])
  expect(stdout).toContain('service, table and store agree on every order')
  expect(Number(/(\d+) of them struck/.exec(stdout)?.[1])).toBeGreaterThan(10)
})
