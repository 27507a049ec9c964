import assert from 'node:assert/strict'
import { createApi } from '../../lib/api/handler.ts'
import type { HttpClient } from '../../lib/platform/http-client.ts'
import { PARAMETERS, QUEUES } from '../../lib/platform/names.ts'
import { createWebhook } from '../../lib/webhook/handler.ts'
import { createWorker } from '../../lib/worker/handler.ts'
import { context, sqsEvent, sqsRecord } from '../../test/support/lambda.ts'
import { readFeedMessage } from '../../test/support/oracle.ts'
import { recordingTelemetry } from '../../test/support/telemetry.ts'
import { awsClients, type Cloud, quarantinedBytes, storeKeyEntry } from '../crash/aws.ts'
import { dynamodbTables } from '../crash/dynamodb.ts'
import { type MakeCall, startInstance } from '../crash/faults.ts'
import { SETTINGS, STORES } from '../crash/functions.ts'
import type { FunctionName } from '../crash/places.ts'
import { fifoQueue, type Queue } from '../crash/queue.ts'

export const NOW = 1_800_000_000
export const SECRET = 'whsec_fuzz'
export const STORE_KEY = 'key-of-shop'

const unknownOrder: HttpClient = async ({ method, path }) => ({
  status: method === 'POST' && path.endsWith('/orders/') ? 400 : 404,
  headers: {},
  text: '{"error":{"message":"no"}}',
})

/** The relay's functions with models of AWS in which each call takes effect immediately. */
export const startRelay = (http: HttpClient = unknownOrder) => {
  const calls: string[] = []
  const clock = { now: () => NOW * 1000, after: () => undefined }
  const queues = new Map<string, Queue>()
  const cloud: Cloud = {
    tables: dynamodbTables(),
    // A message of the order queue may name any source, and each has a feed.
    fifoQueue(name) {
      const queue = queues.get(name) ?? fifoQueue(clock, { visibility: 0, maxReceives: 1, remembers: true })
      queues.set(name, queue)
      return queue
    },
    quarantine: [],
    parameters: new Map([
      [`${PARAMETERS.webhookSecrets}/one`, SECRET],
      [PARAMETERS.accountingKey, 'accounting-key'],
      storeKeyEntry('shop', STORE_KEY),
    ]),
    failingEntries: 0,
  }
  const call: MakeCall = async (_instance, place, effect) => {
    calls.push(place)
    return effect()
  }
  const dependenciesOf = (name: FunctionName) => ({
    ...awsClients(name, startInstance(), call, cloud),
    http,
    telemetry: recordingTelemetry().telemetry,
    stores: STORES,
    settings: { ...SETTINGS, waitSeconds: '0' },
    sleep: async () => undefined,
    now: clock.now,
    random: () => 0.5,
    newId: () => '00000000-0000-4000-8000-000000000001',
  })

  return {
    calls,
    createWebhook: () => createWebhook(dependenciesOf('webhook')),
    createApi: () => createApi(dependenciesOf('api')),
    /** The events that were queued. */
    events: () => (queues.get(QUEUES.orders)?.history() ?? []).map(({ body }) => body),
    /** The quarantined bodies, byte for byte. */
    quarantined: () => cloud.quarantine.map(quarantinedBytes),
    worker: () => createWorker(dependenciesOf('worker')),
    feeds: () => [...queues].filter(([name]) => name.startsWith('feed-')).map(([, queue]) => queue.history()),
  }
}

/**
 * Makes the worker process messages of the order queue in sequence.
 *
 * Throws if a message fails, something cannot be stored, or a feed version decreases.
 *
 * @returns the number of quarantined messages
 */
export const processMessages = async (messages: readonly string[], http?: HttpClient): Promise<number> => {
  const relay = startRelay(http)
  const records = messages.map((body, index) =>
    sqsRecord(`m${index}`, { body, attributes: { MessageGroupId: 'group' } }),
  )
  assert.deepEqual(await relay.worker()(sqsEvent(...records), context()), { batchItemFailures: [] })
  const quarantined = relay.quarantined()
  for (const kept of quarantined) assert.ok(messages.some(text => Buffer.from(text).equals(kept)))
  const versions = new Map<string, number>()
  for (const messages of relay.feeds())
    for (const { version, data } of messages.map(({ body }) => readFeedMessage(body))) {
      const order = JSON.stringify([data.source, data.external_id])
      const before = versions.get(order) ?? 0
      assert.ok(version === before || version === before + 1, `version ${version} after ${before}`)
      versions.set(order, version)
    }
  return quarantined.length
}
