import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { freePorts } from '../../local/ports.ts'
import { environmentOf, type Settings, urlOf } from '../../local/settings.ts'
import { relayOf } from '../cli/relay.ts'
import { useFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { alive, familyOf } from './processes.ts'

const ROOT = join(import.meta.dirname, '../..')

let settings: Settings
const running = new Set<ChildProcess>()
const local = relayOf(() => environmentOf(settings))

const dataDir = useFolder(() => {
  for (const child of running) child.kill('SIGKILL')
})
beforeAll(async () => {
  settings = { ports: await freePorts(), dataDir: dataDir(), watch: false }
})

/** Runs `npm start`, or its script alone, until it prints a line with this beginning. */
const start = async (beginning: string, command = 'node local/start.ts') => {
  const [program = '', ...args] = command.split(' ')
  const child = spawn(program === 'node' ? process.execPath : program, args, {
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

const npmStart = (beginning: string) => start(beginning, 'npm start --silent')

/** Ends one process of a start and waits until all the others have ended. */
const kill = async ({ pid }: { pid: number }, signal: NodeJS.Signals, script?: string) => {
  const family = await familyOf(pid)
  expect(family.length).toBeGreaterThan(2)
  const victim =
    script === undefined
      ? pid
      : family.find(({ command }) => command.includes(script) && !command.startsWith('sh'))?.pid
  if (victim === undefined) throw new Error(`Cannot find a child of ${pid} that runs ${script}`)
  process.kill(victim, signal)
  await until(async () => (await alive(family)).length === 0)
}

describe('npm start', () => {
  let first: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    first = await npmStart('ready')
  })

  test('prints the addresses when it is ready', async () => {
    const { ports } = settings
    expect(first.printed.filter(line => line.startsWith('ready'))).toEqual([
      `ready: relay ${urlOf(ports.relay)}, sandbox panel ${urlOf(ports.sandbox)}/, feeds ${urlOf(ports.sqs)}/000000000000/feed-<source>.fifo`,
    ])
    expect((await fetch(`${urlOf(ports.relay)}/webhook`, { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await fetch(`${urlOf(ports.sandbox)}/`)).status).toBe(200)
    const { code, out } = await local.relay(['doctor'])
    expect(out).toContain('No problems found in the local stack.')
    expect(code).toBe(0)
  })

  test('can be set up anew by commands alone', async () => {
    const url = `${urlOf(settings.ports.relay)}/webhook`
    expect((await local.relay(['unregister'])).code).toBe(0)
    const unregistered = await local.relay(['doctor'])
    expect(unregistered.code).toBe(1)
    expect(unregistered.out).toMatch(/!! {4}the webhook is registered: .*\n {6}→ relay register --local/)

    const kept = await local.relay(['key', 'set'], { input: 'sandbox-key\n' })
    expect(kept.out).toContain(`${urlOf(settings.ports.sandbox)} accepts it, with the scope orders.write`)
    expect(kept.out + kept.err).not.toContain('sandbox-key')

    const registered = await local.json(['register'])
    expect(registered.data).toMatchObject({ url, registered: 'now', accepted: true })
    const again = await local.json(['register'])
    expect(again.data).toMatchObject({ registered: 'before', secret: registered.data.secret, accepted: true })
    expect(await local.json(['doctor'])).toMatchObject({ code: 0, data: { ok: true, problems: 0 } })
  })

  test('reports a secret of another URL as such', async () => {
    const url = 'http://127.0.0.1:9/webhook'
    const { code, err } = await local.relay(['register', '--url', url])
    expect(err).toContain('Cannot confirm that the secret is accepted')
    expect(code).toBe(1)
    const { data } = await local.json(['doctor'])
    expect(JSON.stringify(data.findings)).toContain(`not of ${urlOf(settings.ports.relay)}/webhook`)
    expect((await local.json(['unregister', '--url', url])).data.removed).toHaveLength(1)
  })

  test('refuses a second start, and stops cleanly', async () => {
    const second = await start('ready')
    expect(await second.ended).toBe(1)
    expect(second.printed).toEqual([
      `Cannot start: port ${settings.ports.relay} is taken; set RELAY_PORT to a free port, or stop the process that uses it`,
    ])
    await kill(first, 'SIGINT', 'local/start.ts')
    expect(await first.ended).toBe(0)
  })
})

test('killed at any moment it leaves no process behind, and starts again', async () => {
  await kill(await start('sandbox | sandbox ready'), 'SIGKILL')
  // npm itself, which cannot notify anyone.
  await kill(await npmStart('sandbox | sandbox ready'), 'SIGKILL')
  // A part that ends stops the others.
  const last = await start('ready')
  await kill(last, 'SIGKILL', 'serverless')
  expect(await last.ended).toBe(1)
  expect(last.printed).toContain('Stopped: the relay was ended by SIGKILL')
})
