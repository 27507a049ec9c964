import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SQSClient } from '@aws-sdk/client-sqs'
import { type KeyKind, storeKeyParameter } from '@order-relay/lib/api/keys.ts'
import { unixSeconds } from '@order-relay/lib/platform/environment.ts'
import { PARAMETERS, storeName } from '@order-relay/lib/platform/names.ts'
import { indexOf } from '@order-relay/lib/platform/parameters.ts'
import { sign } from '@order-relay/lib/protocol/signature.ts'
import { HEADERS, PROBE } from '@order-relay/lib/protocol/webhook.ts'
import PQueue from 'p-queue'
import { type Credentials, signedAs } from './credentials.ts'
import { serveDocuments } from './documents.ts'
import { startDynamodb } from './dynamodb.ts'
import { type EventSource, startEventSource } from './event-source.ts'
import { actAsHttpApi, type Gateway, limitFunctions } from './gateway.ts'
import { type ParameterStore, startParameterStore } from './parameter-store.ts'
import type { Service } from './service.ts'
import { queueUrl, REGION, SANDBOX_KEY, SANDBOX_SECRET_ID, type Settings, urlOf } from './settings.ts'
import { startSqs } from './sqs.ts'

/** Maximum number of requests, and of batches of messages, that the functions process concurrently. */
const CONCURRENCY = Math.max(4, 2 * availableParallelism())

/** How long running functions may take to finish before they are terminated, in milliseconds. */
const FINISH_MS = 5_000

/**
 * The keys `local-<source>` and `local-<source>-read` of each store, with its source as it is, percent-encoded, and in
 * the form of its name in AWS. A header has no whitespace in a key and other characters as bytes.
 */
const localKeys = (path: string, sources: readonly string[]) => {
  const formsOf = (source: string) => [
    ...(/\s/.test(source) ? [] : [Buffer.from(source).toString('latin1')]),
    encodeURIComponent(source),
    storeName(source),
  ]
  const keys = (end: string, kind: KeyKind) =>
    sources.flatMap(source => formsOf(source).map(form => [`local-${form}${end}`, { source, kind }] as const))
  // The key of a store "shop-read" is not the read-only key of "shop".
  const owners = new Map([...keys('-read', 'read-only'), ...keys('', 'full')])
  return [...owners].map(([key, { source, kind }]) => storeKeyParameter(path, source, key, { kind }))
}

/**
 * Writes the keys and secrets that only the local stack has: the sandbox's API key, the keys of the stores, and the
 * given webhook secrets in place of those of earlier starts.
 */
export const seed = async (
  parameters: ParameterStore,
  path: string,
  sources: readonly string[],
  webhookSecrets: readonly string[],
  removed: readonly string[] = [],
) => {
  await parameters.put(`${path}/${PARAMETERS.accountingKey}`, SANDBOX_KEY)
  // Created before these keys existed.
  await parameters.deleteAll(name => name.startsWith(`${indexOf(`${path}/${PARAMETERS.storeKeys}`)}/`))
  const unused = new Set<string>(localKeys(path, removed).map(({ Name }) => Name))
  await parameters.deleteAll(name => unused.has(name))
  for (const { Name, Value } of localKeys(path, sources)) await parameters.put(Name, Value)
  const secrets = `${path}/${PARAMETERS.webhookSecrets}`
  await parameters.deleteAll(name => name.startsWith(`${secrets}/local-`))
  for (const [index, secret] of webhookSecrets.entries()) {
    await parameters.put(`${secrets}/local-${index + 1}`, secret)
  }
}

/** Calls a function through serverless-offline's copy of Lambda's Invoke API. */
const invokerAt =
  (port: number, credentials: Credentials) =>
  (functionName: string) =>
  async (event: unknown, signal?: AbortSignal) => {
    const url = `${urlOf(port)}/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`
    const response = await fetch(url, {
      method: 'POST',
      headers: signedAs(credentials),
      body: JSON.stringify(event),
      ...(signal && { signal }),
    })
    const body = await response.text()
    const failed = !response.ok || response.headers.has('x-amz-function-error')
    if (failed) throw new Error(`Cannot run ${functionName}: HTTP ${response.status} ${body.slice(0, 500)}`)
    return body === '' ? undefined : JSON.parse(body)
  }

/** Loads the functions of requests and queues, so that the first order does not wait for them. */
const load = async (
  { routes, eventSources }: Service,
  { gateway, invoker, secret }: { gateway: Gateway; invoker: ReturnType<typeof invokerAt>; secret: string },
) => {
  const payload = JSON.stringify({ event: PROBE, delivery: randomUUID(), data: {} })
  const headers = { [HEADERS.signature]: sign({ secret, t: unixSeconds(Date.now()), body: payload }) }
  const requests = routes.map(async ({ method, path }) => {
    const url = path.replaceAll(/\{[^}]*\}/g, 'load')
    const { statusCode } = await gateway.inject({ method, url, payload, headers })
    if (statusCode >= 500) throw new Error(`Cannot load the function of "${method} ${path}": see above`)
  })
  const batches = [...new Set(eventSources.map(({ functionName }) => functionName))].map(functionName =>
    invoker(functionName)({ Records: [] }),
  )
  await Promise.all([...requests, ...batches])
}

/**
 * Runs functions immediately and at their intervals; returns a function that stops the schedules without waiting for
 * runs in progress. A run may take almost as long as its interval: while orders fail, the scheduled check waits for the
 * accounting service.
 */
export const startSchedules = (
  schedules: Service['schedules'],
  run: (functionName: string, signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): (() => void) => {
  const stopping = new AbortController()
  const { signal } = stopping
  const timers = schedules.map(({ functionName, interval }) => {
    const runOnce = () =>
      run(functionName, signal).catch(error => {
        if (!signal.aborted) onError(error)
      })
    void runOnce()
    return setInterval(runOnce, interval)
  })
  return () => {
    stopping.abort()
    for (const timer of timers) clearInterval(timer)
  }
}

export type RelayOptions = {
  service: Service
  settings: Settings
  /** Those that this process requires on its ports, if any. */
  credentials: Credentials
  sources: readonly string[]
  /** The stores of the previous start that stores.yml no longer has. @default none */
  removed?: readonly string[]
  webhookSecrets: readonly string[]
  onError: (error: unknown) => void
}

/**
 * The parts of the relay around its functions. Resolves once the data directory is locked for this process
 * and the tables are there; `ready` resolves once queues, keys and secrets are.
 *
 * @throws Error when the data directory is in use or cannot be read
 */
export const startRelay = async (options: RelayOptions) => {
  const { service, settings, credentials, sources, removed, webhookSecrets, onError } = options
  const { ports, dataDir } = settings
  const path = service.environment.SECRETS_PATH ?? ''
  const invoker = invokerAt(ports.lambda, credentials)
  // A request spends most of its time waiting for the worker.
  const requests = new PQueue({ concurrency: 2 * CONCURRENCY })
  const batches = new PQueue({ concurrency: CONCURRENCY })
  // Neither a stop nor a rebuild waits for scheduled runs.
  const scheduled = new PQueue()
  const queueOf = new Map([
    ...service.eventSources.map(({ key }) => [key, batches] as const),
    ...service.schedules.map(({ key }) => [key, scheduled] as const),
  ])
  limitFunctions(key => ({
    queue: queueOf.get(key) ?? requests,
    timeout: 1000 * (service.timeouts[key] ?? 0),
  }))
  /** Starts no more functions, and resolves when none is running. */
  const pause = (queue: PQueue) => {
    queue.pause()
    return queue.onPendingZero()
  }
  const inTime = (...work: Promise<unknown>[]) =>
    Promise.race([Promise.all(work), sleep(FINISH_MS, undefined, { ref: false })])
  const stopping = Promise.withResolvers<void>()
  let gateway: Gateway | undefined
  let [secret = 'unknown'] = webhookSecrets
  let eventSources: EventSource[] = []
  let endSchedules: () => void = () => undefined

  const dynamodb = await startDynamodb({
    port: ports.dynamodb,
    path: join(dataDir, 'dynamodb'),
    tables: service.tables,
    credentials,
  })
  const queues = startSqs({
    port: ports.sqs,
    path: join(dataDir, 'queues'),
    queues: service.queues,
    release: service.eventSources.map(({ queue }) => queue),
  })
  const parameterStore = startParameterStore({
    port: ports.ssm,
    path: join(dataDir, 'parameters.json'),
    seed: parameters => seed(parameters, path, sources, webhookSecrets, removed),
  })
  const parts = [Promise.resolve(dynamodb), queues, parameterStore]
  const ready = Promise.all(parts).then(() => undefined)
  // A failure is handled where `ready` is awaited.
  ready.catch(() => undefined)
  const sqs = new SQSClient({
    region: REGION,
    credentials,
    endpoint: urlOf(ports.sqs),
    // Each event source occupies one while it waits for messages.
    requestHandler: { httpAgent: { maxSockets: Number.POSITIVE_INFINITY } },
  })

  return {
    ready,
    /**
     * Adds the secret with which the sandbox signs its webhooks, replacing that of the last start. Without one, as in a
     * restart, keeps the stored secrets: an operator may have replaced it since.
     */
    useWebhookSecret: async (added?: string) => {
      const store = await parameterStore
      const secrets = `${path}/${PARAMETERS.webhookSecrets}`
      if (added !== undefined) await store.put(`${secrets}/${SANDBOX_SECRET_ID}`, added)
      secret = added ?? store.lastIn(secrets) ?? secret
    },
    /** Loads the functions, opens the HTTP port and starts the event sources. */
    serve: async (http: Gateway) => {
      gateway = http
      actAsHttpApi(http)
      serveDocuments(http)
      await load(service, { gateway: http, invoker, secret })
      eventSources = service.eventSources.map(({ functionName, queue, ...options }) =>
        startEventSource({
          ...options,
          sqs,
          onError,
          queueUrl: queueUrl(ports.sqs, queue),
          invoke: invoker(functionName),
        }),
      )
      endSchedules = startSchedules(service.schedules, (name, signal) => invoker(name)({}, signal), onError)
      await http.start()
    },
    /**
     * Delays new work until the functions have finished their current work. Waits for every batch, which its function's
     * timeout limits: if its function were terminated, its messages would stay hidden until their visibility timeout. A
     * stop ends the wait, since the next start releases them.
     *
     * @param onLate called if batches take longer than requests may take
     */
    pause: async (onLate: () => void) => {
      scheduled.pause()
      const late = setTimeout(onLate, FINISH_MS)
      await Promise.race([pause(batches), stopping.promise])
      clearTimeout(late)
      await inTime(pause(requests))
    },
    resume: () => {
      for (const queue of [requests, batches, scheduled]) queue.start()
    },
    stop: async () => {
      stopping.resolve()
      endSchedules()
      await inTime(pause(requests), ...eventSources.map(source => source.stop()))
      // Waiting requests are aborted, and their senders retry.
      await gateway?.stop({ timeout: 0 })
      sqs.destroy()
      const started = await Promise.allSettled(parts)
      await Promise.all(started.map(part => part.status === 'fulfilled' && part.value.close()))
    },
  }
}

export type Relay = Awaited<ReturnType<typeof startRelay>>
