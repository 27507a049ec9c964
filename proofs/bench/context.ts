import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { REGION, urlOf } from '@order-relay/local/settings.ts'
import * as v from 'valibot'
import { queuesOf } from '../../deploy/queues.ts'
import { tablesOf } from '../../deploy/tables.ts'
import { VARIABLES } from '../../lib/platform/environment.ts'
import { PARAMETERS, QUEUES } from '../../lib/platform/names.ts'
import { drain, startParts } from '../../test/support/parts.ts'
import { startServer } from '../../test/support/server.ts'
import { settingsWith } from '../../test/support/settings.ts'
import { OURS, SECRET } from './deliveries.ts'
import { type Bundle, type Implementation, makeBundle } from './implementations.ts'
import { startFunction } from './runtime/function.ts'
import { type AwsCall, startTap, startTls } from './ways.ts'

/** Duration of a call to the accounting service. */
const ACCOUNTING_MS = 100

const SECRETS_PATH = '/order-relay/bench'
const orderKey = v.object({ source: v.string(), external_id: v.string() })
/** The table of the peer with Powertools. */
const idempotency: ReturnType<typeof tablesOf>[number]['schema'] = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

/** How a function reaches the emulators: directly, through counting proxies, or over TLS as on AWS. */
export type Way = 'direct' | 'tapped' | 'tls'

/**
 * Starts the environment of the measurements: an accounting service, and the emulators directly, behind a counting
 * proxy and over TLS.
 */
export const createContext = async () => {
  await using closing = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'order-relay-bench-'))
  closing.defer(() => rm(folder, { recursive: true, force: true }))
  const stores = [{ source: OURS, feed: 'sqs' as const }]
  const { sqs, ssm, endpoints, ...parts } = await startParts({
    tables: [...tablesOf({ prefix: '' }), { name: 'idempotency', schema: idempotency }],
    queues: queuesOf({ prefix: '', stores }),
  })
  closing.defer(parts.close)
  for (const [name, Value] of [
    [`${PARAMETERS.webhookSecrets}/one`, SECRET],
    [PARAMETERS.accountingKey, 'bench'],
  ])
    await ssm.putParameter({ Name: `${SECRETS_PATH}/${name}`, Value, Type: 'SecureString' })
  const accounting = await startServer(async (_request, body) => {
    const order = v.parse(orderKey, JSON.parse(body.toString()))
    await sleep(ACCOUNTING_MS)
    const headers = { 'content-type': 'application/json' }
    return { status: 201, headers, body: JSON.stringify({ ...order, status: 'paid', duplicate: false }) }
  })
  closing.defer(accounting.close)

  const calls: AwsCall[] = []
  const tls = await startTls(folder)
  const before = async (start: (url: string) => Promise<{ url: string; close: () => Promise<void> }>) => {
    const started = async (url: string) => {
      const server = await start(url)
      closing.defer(server.close)
      return server.url
    }
    const { dynamodb, sqs, ssm } = endpoints
    return { dynamodb: await started(dynamodb), sqs: await started(sqs), ssm: await started(ssm) }
  }
  const ways = {
    direct: endpoints,
    tapped: await before(url => startTap(url, call => calls.push(call))),
    tls: await before(tls.before),
  }
  /** The environment of a function, as set by serverless.yml and Lambda, plus the variables of the peers. */
  const environment = (way: Way): Record<string, string> => {
    const to = ways[way]
    // The SDK sends to the queue's URL, regardless of its endpoint.
    const queueUrl = (name: string) => parts.queueUrl(name).replace(endpoints.sqs, to.sqs)
    const own = { secretsPath: SECRETS_PATH, accountingUrl: urlOf(accounting.port) }
    const values: Record<string, string> = settingsWith(queueUrl, own)
    return {
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_SESSION_TOKEN: 'bench',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_ENDPOINT_URL_DYNAMODB: to.dynamodb,
      AWS_ENDPOINT_URL_SQS: to.sqs,
      AWS_ENDPOINT_URL_SSM: to.ssm,
      ...(way === 'tls' && { NODE_EXTRA_CA_CERTS: tls.certificate }),
      ...Object.fromEntries(Object.entries(VARIABLES).map(([name, variable]) => [variable, values[name]])),
      IDEMPOTENCY_TABLE: 'idempotency',
      POWERTOOLS_SERVICE_NAME: 'bench',
      SOURCES: OURS,
      WEBHOOK_SECRET: SECRET,
    }
  }
  const bundles = new Map<Implementation, Promise<Bundle>>()
  const bundle = (implementation: Implementation): Promise<Bundle> => {
    const made = bundles.get(implementation) ?? makeBundle(implementation, join(folder, `${bundles.size}`))
    bundles.set(implementation, made)
    return made
  }
  const orders = parts.queueUrl(QUEUES.orders)
  const open = closing.move()
  return {
    environment,
    bundle,
    start: async (implementation: Implementation, way: Way) =>
      startFunction(await bundle(implementation), environment(way)),
    /** The calls through the proxies since the previous reading. */
    calls: () => calls.splice(0),
    /** Takes the bodies of all messages from the order queue. */
    drain: async () => (await drain(sqs, orders)).map(({ Body = '' }) => Body),
    /** Empties the order queue. */
    empty: () => sqs.purgeQueue({ QueueUrl: orders }),
    close: () => open.disposeAsync(),
  }
}

export type Context = Awaited<ReturnType<typeof createContext>>

/** A target of the project, and the measured value. */
export type Target = { what: string; target: string; found: string; met: boolean }

/** A ratio that must not exceed a limit. */
export const atMost = (what: string, limit: number, found: number): Target => ({
  what,
  target: `≤ ${limit} ×`,
  found: `${found} ×`,
  met: found <= limit,
})

/** A part of the benchmark: its results as JSON, and the targets that depend on them. */
export type Part = (context: Context) => Promise<{ results: unknown; targets?: readonly Target[] }>
