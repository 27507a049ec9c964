import { availableParallelism } from 'node:os'
import { startData, startEmbedded } from './embedded.ts'
import { type EventSource, startEventSources } from './event-sources.ts'
import { awsEnvironment, resolveEnvironments } from './functions-environment.ts'
import { answerFailures, type Gateway, passThrough } from './gateway.ts'
import { resolver } from './intrinsics.ts'
import type { Service } from './service.ts'
import type { Settings } from './settings.ts'
import { turnstile } from './turnstile.ts'
import { within } from './wait.ts'
import { warm } from './warm.ts'

/** How many requests, and how many batches of messages, are with the functions at once. */
const CONCURRENCY = Math.max(4, 2 * availableParallelism())

/** How long running functions may finish before they are ended, milliseconds. */
const FINISH_MS = 5_000

export type RelayOptions = { service: Service; settings: Settings; onError: (error: unknown) => void }

/**
 * The parts of the relay around its functions: what they store in, what feeds them, and the door before
 * them. Resolves when the data directory is ours; `serve` waits for the rest.
 *
 * @throws Error when the data directory is in use or not readable, or the template cannot be resolved
 */
export const startRelay = async ({ service, settings, onError }: RelayOptions) => {
  const { ports } = settings
  const { region, stage } = service.provider
  const resources = service.resources.Resources
  const stackName = `${service.service}-${stage}`
  const resolve = resolver({ resources, region, stackName, sqsPort: ports.sqs })
  const environments = resolveEnvironments(service, resolve)

  const requests = turnstile(CONCURRENCY)
  const batches = turnstile(CONCURRENCY)
  const dynamodb = await startData(settings)
  const embedded = startEmbedded({ dynamodb, settings, region, resources, resolve })
  // Its failure is met where it is awaited; until then the functions are built beside it.
  const stores = embedded.then(() => undefined)
  stores.catch(() => undefined)
  let gateway: Gateway | undefined
  let sources: EventSource[] = []

  return {
    /** The functions' variables, every value resolved. */
    environments,
    /** The variables that lead an AWS SDK to the embedded parts. */
    aws: awsEnvironment(ports, region),
    /** Settled once tables and queues are there. */
    stores,
    /** Opens the door and feeds the functions, once everything is there. */
    serve: async (door: Gateway) => {
      gateway = door
      passThrough(door, requests)
      answerFailures(door)
      const { sqs } = await embedded
      sources = startEventSources({ service, resolve, ports, sqs, turnstile: batches, onError })
      await warm(service, ports)
    },
    /** Keeps new work back until the functions have finished what they hold. */
    pause: async () => {
      await within(FINISH_MS, Promise.all([requests.close(), batches.close()]))
    },
    resume: () => {
      requests.open()
      batches.open()
    },
    stop: async () => {
      const finished = [requests.close(), ...sources.map(source => source.stop())]
      await within(FINISH_MS, Promise.all(finished))
      // Who still waits in line is cut off, and its sender tries again.
      await gateway?.stop({ timeout: 0 })
      await embedded.then(
        parts => parts.close(),
        () => undefined,
      )
    },
  }
}

export type Relay = Awaited<ReturnType<typeof startRelay>>
