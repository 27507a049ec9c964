import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as v from 'valibot'
import { OURS, SECRET } from '../deliveries.ts'

const endpoints = v.object({ dynamodb: v.string(), sqs: v.string(), ssm: v.string() })
const started = v.object({
  orders: v.string(),
  quarantine: v.string(),
  accounting: v.string(),
  certificate: v.string(),
  direct: endpoints,
  tapped: endpoints,
  tls: endpoints,
})

/** How a function reaches the emulators: directly, through the taps that count, or over TLS as on AWS. */
export type Way = 'direct' | 'tapped' | 'tls'

const calls = v.array(
  v.object({ action: v.string(), readUnits: v.number(), writeUnits: v.number(), sqsRequests: v.number() }),
)

/** Starts the emulators that every implementation is measured against. */
export const startCloud = async () => {
  const path = await mkdtemp(join(tmpdir(), 'order-relay-cloud-'))
  const worker = new Worker(new URL('parts.ts', import.meta.url), { workerData: { path } })
  const answered = async () => (await once(worker, 'message'))[0]
  const ask = async (request: 'calls' | 'drain' | 'empty'): Promise<unknown> => {
    worker.postMessage(request)
    return answered()
  }
  const { orders, quarantine, accounting, certificate, ...ways } = v.parse(started, await answered())

  /** The environment of a function, as serverless.yml and Lambda set it, and what the peers need. */
  const environment = (way: Way): Record<string, string> => {
    const to = ways[way]
    return {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_SESSION_TOKEN: 'bench',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_ENDPOINT_URL_DYNAMODB: to.dynamodb,
      AWS_ENDPOINT_URL_SQS: to.sqs,
      AWS_ENDPOINT_URL_SSM: to.ssm,
      ...(way === 'tls' && { NODE_EXTRA_CA_CERTS: certificate }),
      DELIVERIES_TABLE: 'deliveries',
      ORDERS_TABLE: 'orders',
      HISTORY_TABLE: 'history',
      IDEMPOTENCY_TABLE: 'idempotency',
      // The SDK sends to the queue's URL, whatever its endpoint is.
      ORDERS_QUEUE_URL: orders.replace(ways.direct.sqs, to.sqs),
      QUARANTINE_QUEUE_URL: quarantine.replace(ways.direct.sqs, to.sqs),
      ACCOUNTING_URL: accounting,
      REFUSED_RETRY_DAYS: '7',
      FEED_VERSIONS_FROM: '0',
      SECRETS_PATH: '/order-relay/bench',
      POWERTOOLS_SERVICE_NAME: 'bench',
      SOURCES: OURS,
      WEBHOOK_SECRET: SECRET,
    }
  }

  return {
    environment,
    /** The calls since the last time. */
    calls: async () => v.parse(calls, await ask('calls')),
    /** Takes the bodies of all messages from the order queue. */
    drain: async () => v.parse(v.array(v.string()), await ask('drain')),
    /** Empties the order queue. */
    empty: () => ask('empty'),
    close: async () => {
      await worker.terminate()
      await rm(path, { recursive: true, force: true })
    },
  }
}

export type Cloud = Awaited<ReturnType<typeof startCloud>>
