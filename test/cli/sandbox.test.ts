import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { until } from '../support/until.ts'
import { MAIN } from './relay.ts'

let folder: string
let command: ChildProcess

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'order-relay-sandbox-'))
})

afterEach(async () => {
  command.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** `relay sandbox`; answers with its address. */
const started = async (): Promise<string> => {
  command = spawn(process.execPath, [MAIN, 'sandbox', '--port', '0', '--data', join(folder, 'sandbox.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (command.stdout === null) throw new Error('Cannot read what the command prints')
  for await (const line of createInterface({ input: command.stdout })) {
    const url = /^sandbox ready at (\S+)$/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('Cannot use the sandbox: it ended')
}

const answers = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

test.each(['SIGINT', 'SIGTERM'] as const)(
  'it ends cleanly when only the command is sent %s',
  async signal => {
    const url = await started()
    expect(await answers(url)).toBe(true)
    const ended = once(command, 'exit')
    command.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(await answers(url)).toBe(false)
  },
)

test('it does not live on when the command is killed', async () => {
  const url = await started()
  command.kill('SIGKILL')
  await until(async () => !(await answers(url)))
})
