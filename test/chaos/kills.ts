import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { feedQueueName } from '../../lib/platform/names.ts'
import { freePorts } from '../../local/ports.ts'
import { environmentOf, urlOf } from '../../local/settings.ts'
import { backendClients, SOURCES } from './backends.ts'
import { chance } from './chance.ts'
import { newJournal } from './journal.ts'
import { serviceClient } from './service.ts'
import { newInbox, type StoreRequest, startQueueStore, storeRequester } from './stores.ts'
import type { World } from './world.ts'

/** How long after its start, or after it is ready, `npm start` may be killed. */
const LONGEST_MS = { starting: 4000, ready: 6000 }
/** Some are killed before they are ready. */
const STARTING_SHARE = 0.2
const START_MS = 180_000
const LOOK_MS = 100

export type KillOptions = {
  seed: number
  kills: number
  /** How much of the run is over, from 0 to 1: kills are spread over it. */
  progress: () => number
}

/**
 * `npm start` in a process group of its own, which is killed now and then and started again on the same data and
 * ports. Stores and accountant repeat what a closed port refuses.
 */
export const startKilled = async ({ seed, kills, progress }: KillOptions): Promise<World> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-kills-'))
  const ports = await freePorts()
  const environment = environmentOf({ ports, dataDir, watch: false })
  const journal = newJournal()
  const inbox = newInbox()
  let child: ChildProcess
  let isReady = false
  let struck = 0

  /** Starts it; resolves when it is ready, or has been killed. */
  const start = () => {
    // Detached, it leads a process group, which is killed as one.
    child = spawn('npm', ['start'], {
      cwd: join(import.meta.dirname, '../..'),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    })
    const { stdout, stderr } = child
    const ended = once(child, 'exit').then(([code]) => {
      if (code !== null) journal.violations.push(`npm start ended with exit code ${code}`)
    })
    for (const stream of [stdout, stderr]) stream?.on('data', text => journal.note(`npm start: ${text}`))
    const ready = new Promise<void>(resolve => {
      if (stdout)
        createInterface(stdout).on('line', line => {
          if (!line.startsWith('ready')) return
          isReady = true
          resolve()
        })
    })
    const late = sleep(START_MS, undefined, { ref: false }).then(() => {
      throw new Error(`npm start was not ready within ${START_MS / 1000} s`)
    })
    return Promise.race([ready, ended, late])
  }
  const kill = async () => {
    const { pid, exitCode, signalCode } = child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const ended = once(child, 'exit')
    isReady = false
    process.kill(-pid, 'SIGKILL')
    await ended
  }

  const close = async () => {
    await kill()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await start()
  } catch (error) {
    await close()
    throw error
  }
  let isOver = false
  const killing = (async () => {
    const moments = Array.from({ length: kills }, (_, index) => 0.9 * chance(seed, 'moment', index)).sort()
    for (const [index, moment] of moments.entries()) {
      while (progress() < moment && !isOver) await sleep(LOOK_MS)
      if (isOver) return
      await sleep(chance(seed, 'ready', index) * LONGEST_MS.ready)
      await kill()
      struck++
      journal.note('npm start: killed')
      if (chance(seed, 'starting', index) < STARTING_SHARE) {
        start().catch(() => undefined)
        await sleep(chance(seed, 'started', index) * LONGEST_MS.starting)
        await kill()
        struck++
      }
      await start()
    }
  })()
  killing.catch(error => journal.violations.push(String(error)))

  const { depth, stored, sqs, queueUrl, destroy } = backendClients(ports)
  const readers = SOURCES.map(source => startQueueStore(sqs, queueUrl(feedQueueName(source)), inbox))
  const ask = storeRequester(urlOf(ports.relay))
  const request: StoreRequest = async (method, source, path, body) => {
    const answer = await ask(method, source, path, body)
    const { status, isAccepted } = answer
    journal.requests.set('store to relay', (journal.requests.get('store to relay') ?? 0) + 1)
    // A closed port has no status. An order that is still in the queue cannot be read.
    if (status > 0 && !isAccepted && !(method === 'GET' && status === 404))
      journal.violations.push(`${method} /orders/${path} was answered ${status}`)
    return answer
  }
  return {
    ...{ journal, inbox, request, stored },
    // While it is down nobody knows what is on its way, and queues open before the endpoints.
    depth: queue => (isReady ? depth(queue).catch(() => 1) : Promise.resolve(1)),
    service: serviceClient(urlOf(ports.sandbox), true),
    struck: () => struck,
    reconcile: async () => undefined,
    stopFaults: () => killing,
    async close() {
      isOver = true
      await killing.catch(() => undefined)
      for (const reader of readers) await reader.close()
      destroy()
      await close()
    },
  }
}
