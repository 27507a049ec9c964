import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { expect, test } from '@jest/globals'
import { useFolder } from '../../test/support/folder.ts'

const PROOF = resolve('proofs/main.ts')
const directory = useFolder()

/** Runs in a separate process, like the command. */
const chaos = async (seed: number, ...options: string[]) => {
  const args = [PROOF, 'chaos', '--quick', '--seed', String(seed), ...options]
  const output = await new Promise<string>(done => {
    execFile(process.execPath, args, { cwd: directory() }, (error, stdout, stderr) =>
      done(`${stdout}${stderr}exit code ${error === null ? 0 : error.code}`),
    )
  })
  const report = await readFile(directory(`reports/chaos-${seed}.json`), 'utf8').catch(() => '{}')
  return { output, report: JSON.parse(report) }
}

test.concurrent('the service, relay and stores agree on all orders after faults', async () => {
  const { output, report } = await chaos(7, '--orders', '8')
  expect(output).toMatch(/\nagreed: .*\nexit code 0$/)
  expect(Object.keys(report.faultsByLink).length).toBeGreaterThan(4)
})

test.concurrent('a flood of webhooks is processed completely at the expected cost', async () => {
  const { output, report } = await chaos(8, '--flood', '--orders', '15')
  expect(output).toMatch(/\nagreed: .*\nexit code 0$/)
  expect(Object.keys(report.answers)).toEqual(
    expect.arrayContaining(['200 queued', '200 duplicate', '200 ignored', '401 unauthorized']),
  )
})

test.concurrent('finds a planted bug with a single order', async () => {
  const { output, report } = await chaos(13, '--only', '10', '--strength', '2', '--bug', 'published before')
  expect(output).toMatch(/o00010: version 1 .* was published with two contents.*\nexit code 1$/s)
  expect(report.verdict).toBe('violated')
})
