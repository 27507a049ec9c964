import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { queuesOf } from '../deploy/queues.ts'
import { tablesOf } from '../deploy/tables.ts'
import { PARAMETERS, QUEUES } from '../lib/platform/names.ts'
import { REGION, urlOf } from '../local/settings.ts'
import { drain, startParts } from '../test/support/parts.ts'
import { startServer } from '../test/support/server.ts'
import { OURS, SECRET } from './deliveries.ts'
import { type Call, startTap } from './tap.ts'
import { makeCertificate, startTls } from './tls.ts'

/** What a call to the accounting service takes. */
const ACCOUNTING_MS = 100

const SECRETS_PATH = '/order-relay/bench'
const orderKey = v.object({ source: v.string(), external_id: v.string() })
/** The table of the peer with Powertools. */
const idempotency: ReturnType<typeof tablesOf>[number]['schema'] = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

/** How a function reaches the emulators: directly, through the taps that count, or over TLS as on AWS. */
export type Way = 'direct' | 'tapped' | 'tls'

/**
 * Starts what every implementation is measured against: the emulators, each directly, behind a tap that counts, and
 * over TLS; and an accounting service.
 *
 * @param folder for the certificate
 */
export const startCloud = async (folder: string) => {
  await using closing = new AsyncDisposableStack()
  const stores = [{ source: OURS, feed: 'sqs' as const }]
  const parts = await startParts({
    tables: [...tablesOf({ prefix: '' }), { name: 'idempotency', schema: idempotency }],
    queues: queuesOf({ prefix: '', stores }),
  })
  closing.defer(parts.close)
  const { sqs, ssm, endpoints } = parts
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

  const calls: Call[] = []
  const certificate = await makeCertificate(folder)
  const each = async (start: (url: string) => Promise<{ url: string; close: () => Promise<void> }>) => {
    const before = async (url: string) => {
      const server = await start(url)
      closing.defer(server.close)
      return server.url
    }
    const { dynamodb, sqs, ssm } = endpoints
    return { dynamodb: await before(dynamodb), sqs: await before(sqs), ssm: await before(ssm) }
  }
  const ways = {
    direct: endpoints,
    tapped: await each(url => startTap(url, call => calls.push(call))),
    tls: await each(url => startTls(url, certificate)),
  }
  const orders = parts.queueUrl(QUEUES.orders)
  const open = closing.move()

  return {
    /** The environment of a function, as serverless.yml and Lambda set it, and what the peers need. */
    environment(way: Way): Record<string, string> {
      const to = ways[way]
      // The SDK sends to the queue's URL, whatever its endpoint is.
      const queueUrl = (name: string) => parts.queueUrl(name).replace(endpoints.sqs, to.sqs)
      return {
        AWS_REGION: REGION,
        AWS_ACCESS_KEY_ID: 'bench',
        AWS_SECRET_ACCESS_KEY: 'bench',
        AWS_SESSION_TOKEN: 'bench',
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
        AWS_ENDPOINT_URL_DYNAMODB: to.dynamodb,
        AWS_ENDPOINT_URL_SQS: to.sqs,
        AWS_ENDPOINT_URL_SSM: to.ssm,
        ...(way === 'tls' && { NODE_EXTRA_CA_CERTS: certificate.file }),
        DELIVERIES_TABLE: 'deliveries',
        ORDERS_TABLE: 'orders',
        HISTORY_TABLE: 'history',
        IDEMPOTENCY_TABLE: 'idempotency',
        ORDERS_QUEUE_URL: queueUrl(QUEUES.orders),
        QUARANTINE_QUEUE_URL: queueUrl(QUEUES.quarantine),
        ACCOUNTING_URL: urlOf(accounting.port),
        REFUSED_RETRY_DAYS: '7',
        FEED_VERSIONS_FROM: '0',
        SECRETS_PATH,
        POWERTOOLS_SERVICE_NAME: 'bench',
        SOURCES: OURS,
        WEBHOOK_SECRET: SECRET,
      }
    },
    /** The calls since the last time. */
    calls: () => calls.splice(0),
    /** Takes the bodies of all messages from the order queue. */
    drain: async () => (await drain(sqs, orders)).map(({ Body = '' }) => Body),
    /** Empties the order queue. */
    empty: () => sqs.purgeQueue({ QueueUrl: orders }),
    close: () => open.disposeAsync(),
  }
}

export type Cloud = Awaited<ReturnType<typeof startCloud>>
