import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePorts } from '../../local/ports.ts'
import { environmentOf, type Settings, urlOf } from '../../local/settings.ts'
import { until } from '../support/until.ts'
import { alive, familyOf } from './processes.ts'

const ROOT = join(import.meta.dirname, '../..')

let settings: Settings
const running = new Set<ChildProcess>()

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-start-'))
  settings = { ports: await freePorts(), dataDir, watch: false }
})

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await rm(settings.dataDir, { recursive: true, force: true })
})

/** Runs `npm start` until it prints a line with this beginning. */
const npmStart = async (beginning: string, args: readonly string[] = []) => {
  const child = spawn('npm', ['start', '--silent', '--', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...environmentOf(settings) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', line => printed.push(line))
  }
  const ended = once(child, 'exit').then(([code, signal]) => {
    running.delete(child)
    return code ?? signal
  })
  let hasEnded = false
  ended.then(() => {
    hasEnded = true
  })
  await until(() => hasEnded || printed.some(line => line.startsWith(beginning)), 60_000)
  return { pid: child.pid ?? 0, printed, ended }
}

const member = async (pid: number, script: string) => {
  const found = (await familyOf(pid)).find(
    ({ command }) => command.includes(script) && !command.startsWith('sh'),
  )
  if (found === undefined) throw new Error(`Cannot find a child of ${pid} that runs ${script}`)
  return found.pid
}

/** Kills one process of `npm start` and waits until all the others have ended. */
const kill = async (start: { pid: number }, signal: NodeJS.Signals, script?: string) => {
  const family = await familyOf(start.pid)
  expect(family.length).toBeGreaterThan(2)
  process.kill(script === undefined ? start.pid : await member(start.pid, script), signal)
  await until(async () => (await alive(family)).length === 0)
}

test('npm start prints the addresses when it is ready, refuses a second start, and stops cleanly', async () => {
  const start = await npmStart('ready')
  const { ports } = settings
  expect(start.printed.filter(line => line.startsWith('ready'))).toEqual([
    `ready: relay ${urlOf(ports.relay)}, sandbox panel ${urlOf(ports.sandbox)}/, feeds ${urlOf(ports.sqs)}/000000000000/feed-<source>.fifo`,
  ])
  expect((await fetch(`${urlOf(ports.relay)}/webhook`, { method: 'POST', body: '{}' })).status).toBe(401)
  expect((await fetch(`${urlOf(ports.sandbox)}/`)).status).toBe(200)

  const second = await npmStart('ready')
  expect(await second.ended).toBe(1)
  expect(second.printed).toEqual([
    `Cannot start: port ${ports.relay} is taken; set RELAY_PORT to a free port, or stop the process that uses it`,
  ])
  await kill(start, 'SIGINT', 'local/start.ts')
  expect(await start.ended).toBe(0)
})

test('killed at any moment it leaves no process behind, and starts again', async () => {
  await kill(await npmStart('sandbox | sandbox ready'), 'SIGKILL', 'local/start.ts')
  // npm itself, which cannot notify anyone.
  await kill(await npmStart('sandbox | sandbox ready'), 'SIGKILL')
  // A part that ends stops the others.
  const start = await npmStart('ready')
  await kill(start, 'SIGKILL', 'serverless')
  expect(await start.ended).toBe(1)
  expect(start.printed).toContain('Stopped: the relay was ended by SIGKILL')
})
