import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { credentialsIn } from '@order-relay/local/credentials.ts'
import { freePorts } from '@order-relay/local/ports.ts'
import { environmentOf, urlOf } from '@order-relay/local/settings.ts'
import { storeProcess } from '@order-relay/operator/conformance/store-process.ts'
import { feedQueueName } from '../../lib/platform/names.ts'
import { until } from '../../test/support/until.ts'
import { backendClients, SOURCES } from './backends.ts'
import { chance } from './chance.ts'
import { newJournal } from './journal.ts'
import { serviceClient } from './service.ts'
import { newInbox, type StoreRequest, startQueueStore, storeRequester } from './stores.ts'
import type { World } from './world.ts'

/** The time range after the start, or after readiness, in which `npm start` is killed. */
const LONGEST_MS = { starting: 4000, ready: 6000 }
/** Some are killed before they are ready. */
const STARTING_SHARE = 0.2
const START_MS = 180_000
const LOOK_MS = 100

const PROJECT = join(import.meta.dirname, '../..')

type KillOptions = {
  seed: number
  kills: number
  /** The progress of the run, from 0 to 1, over which kills are spread. */
  progress: () => number
}

/**
 * Runs `npm start` in its own process group, and repeatedly kills and restarts it with the same data and ports. Stores
 * and the accountant retry requests that a closed port refuses.
 */
export const startKilled = async ({ seed, kills, progress }: KillOptions): Promise<World> => {
  await using closing = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'order-relay-kills-'))
  closing.defer(() => rm(dataDir, { recursive: true, force: true }))
  const ports = await freePorts()
  const environment = environmentOf({ ports, dataDir, watch: false })
  const journal = newJournal()
  const inbox = newInbox()
  const { start, isRunning, kill, ends, output } = storeProcess(['npm', '--prefix', PROJECT, 'start'], {
    ...process.env,
    ...environment,
  })
  closing.defer(kill)
  let isReady = false
  let struck = 0

  const timesReady = async () => (await output()).split('\nready').length - 1
  const noteEnd = async () => {
    if (ends() > 0)
      journal.violations.push(`npm start ended without being killed: ${(await output()).slice(-2000)}`)
  }
  /** Starts it; resolves when it is ready, or has been killed. */
  const startAndWait = async () => {
    const before = await timesReady()
    await start()
    await until(async () => !isRunning() || (await timesReady()) > before, START_MS)
    isReady = isRunning()
    await noteEnd()
  }
  const strike = async () => {
    isReady = false
    await kill()
    struck++
    journal.note('npm start: killed')
  }

  await startAndWait()
  let isOver = false
  const killing = (async () => {
    const moments = Array.from({ length: kills }, (_, index) => 0.9 * chance(seed, 'moment', index)).sort()
    for (const [index, moment] of moments.entries()) {
      while (progress() < moment && !isOver) await sleep(LOOK_MS)
      if (isOver) return
      await sleep(chance(seed, 'ready', index) * LONGEST_MS.ready)
      await strike()
      if (chance(seed, 'starting', index) < STARTING_SHARE) {
        await start()
        await sleep(chance(seed, 'started', index) * LONGEST_MS.starting)
        await strike()
      }
      await startAndWait()
    }
  })()
  killing.catch(error => journal.violations.push(String(error)))

  const { depth, stored, sqs, queueUrl, destroy } = backendClients(ports, {
    credentials: credentialsIn(dataDir),
  })
  closing.defer(destroy)
  for (const source of SOURCES)
    closing.defer(startQueueStore(sqs, queueUrl(feedQueueName(source)), inbox).stop)
  closing.defer(() => killing.catch(() => undefined))
  const ask = storeRequester(urlOf(ports.relay))
  const request: StoreRequest = async (method, source, path, body) => {
    const answer = await ask(method, source, path, body)
    const { status, isAccepted } = answer
    journal.requests.set('store to relay', (journal.requests.get('store to relay') ?? 0) + 1)
    // A closed port returns no status, and an order that is still queued cannot be read.
    if (status > 0 && !isAccepted && !(method === 'GET' && status === 404))
      journal.violations.push(`${method} /orders/${path} was answered ${status}`)
    return answer
  }
  const open = closing.move()
  return {
    journal,
    inbox,
    request,
    stored,
    // The queues cannot be read while it is down, and they open before the endpoints.
    depth: queue => (isReady ? depth(queue).catch(() => 1) : Promise.resolve(1)),
    service: serviceClient(urlOf(ports.sandbox), true),
    struck: () => struck,
    reconcile: async () => undefined,
    stopFaults: () => killing.then(noteEnd),
    async [Symbol.asyncDispose]() {
      isOver = true
      await open.disposeAsync()
    },
  }
}
