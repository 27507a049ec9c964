import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as v from 'valibot'
import { OURS, SECRET } from '../deliveries.ts'

const endpoints = v.object({ dynamodb: v.string(), sqs: v.string(), ssm: v.string() })
const started = v.object({
  line: v.string(),
  quarantine: v.string(),
  direct: endpoints,
  tapped: endpoints,
  tls: v.optional(endpoints),
  certificate: v.optional(v.string()),
})

/** How a function reaches the parts: as they are, counted, or over TLS as on AWS. */
export type Way = 'direct' | 'tapped' | 'tls'

const calls = v.array(
  v.object({
    action: v.string(),
    readUnits: v.number(),
    writeUnits: v.number(),
    sqsRequests: v.number(),
  }),
)

/** Starts the embedded parts that every implementation is measured against. */
export const startCloud = async () => {
  const path = await mkdtemp(join(tmpdir(), 'order-relay-bench-'))
  const worker = new Worker(new URL('parts.ts', import.meta.url), { workerData: { path } })
  const answered = async () => (await once(worker, 'message'))[0]
  const ask = async (request: 'calls' | 'drain' | 'empty'): Promise<unknown> => {
    worker.postMessage(request)
    return answered()
  }
  const { line, quarantine, certificate, ...ways } = v.parse(started, await answered())

  /** The environment of a function, as serverless.yml and Lambda give it, and what the peers need. */
  const environment = (by: Way): Record<string, string> => {
    const to = ways[by] ?? ways.direct
    return {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_SESSION_TOKEN: 'bench',
      ...(by === 'tls' && certificate !== undefined && { NODE_EXTRA_CA_CERTS: certificate }),
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_ENDPOINT_URL_DYNAMODB: to.dynamodb,
      AWS_ENDPOINT_URL_SQS: to.sqs,
      AWS_ENDPOINT_URL_SSM: to.ssm,
      DELIVERIES_TABLE: 'deliveries',
      ORDERS_TABLE: 'orders',
      IDEMPOTENCY_TABLE: 'idempotency',
      // AWS's SDK sends to the queue's URL, wherever its endpoint is.
      LINE_URL: line.replace(ways.direct.sqs, to.sqs),
      QUARANTINE_URL: quarantine.replace(ways.direct.sqs, to.sqs),
      // Nothing listens there: what is measured here needs no call to the service.
      ACCOUNTING_URL: 'http://127.0.0.1:9',
      SECRETS_PATH: '/order-relay/bench',
      POWERTOOLS_SERVICE_NAME: 'bench',
      SOURCES: OURS,
      WEBHOOK_SECRET: SECRET,
    }
  }

  return {
    environment,
    /** Whether the parts can be reached over TLS: for that there has to be openssl. */
    hasTls: ways.tls !== undefined,
    /** The calls since it was last asked. */
    calls: async () => v.parse(calls, await ask('calls')),
    /** The bodies of what is on the line; it is empty afterwards. */
    drain: async () => v.parse(v.array(v.string()), await ask('drain')),
    /** Throws away what is on the line. */
    empty: () => ask('empty'),
    close: async () => {
      await worker.terminate()
      await rm(path, { recursive: true, force: true })
    },
  }
}

export type Cloud = Awaited<ReturnType<typeof startCloud>>
