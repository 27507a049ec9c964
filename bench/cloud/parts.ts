// The emulators in a thread of their own, so that they do not take the time of what is measured: DynamoDB, SQS and
// Parameter Store, each directly, behind a tap that counts, and over TLS; and an accounting service.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { PurgeQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { queuesOf } from '../../deploy/queues.ts'
import { tablesOf } from '../../deploy/tables.ts'
import { PARAMETERS, QUEUES } from '../../lib/platform/names.ts'
import { startDynamodb } from '../../local/dynamodb.ts'
import { startParameterStore } from '../../local/parameter-store.ts'
import { freePorts } from '../../local/ports.ts'
import { queueUrl, urlOf } from '../../local/settings.ts'
import { startSqs } from '../../local/sqs.ts'
import { addressOf } from '../../test/support/address.ts'
import { drain } from '../../test/support/parts.ts'
import { OURS, SECRET } from '../deliveries.ts'
import { type Call, startTap } from './tap.ts'
import { makeCertificate, startTls } from './tls.ts'

const REGION = 'eu-central-1'

/** What a call to the accounting service takes. */
const ACCOUNTING_MS = 100

const orderKey = v.object({ source: v.string(), external_id: v.string() })
/** The table of the peer with Powertools. */
const idempotency: ReturnType<typeof tablesOf>[number]['schema'] = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}
const { path } = v.parse(v.object({ path: v.string() }), workerData)

const ports = await freePorts()
const stores = [{ source: OURS, feed: 'sqs' as const }]
await Promise.all([
  startDynamodb({
    port: ports.dynamodb,
    path: join(path, 'dynamodb'),
    tables: [...tablesOf({ prefix: '' }), { name: 'idempotency', schema: idempotency }],
  }),
  startSqs({ port: ports.sqs, region: REGION, queues: queuesOf({ prefix: '', stores }) }),
  startParameterStore({
    ...{ port: ports.ssm, path: join(path, 'parameters.json'), region: REGION },
    seed: async ({ put }) => {
      await put(`/order-relay/bench/${PARAMETERS.webhookSecrets}/one`, SECRET)
      await put(`/order-relay/bench/${PARAMETERS.accountingKey}`, 'bench')
    },
  }),
])
const accounting = createServer(async (request, response) => {
  const order = v.parse(orderKey, await json(request))
  await sleep(ACCOUNTING_MS)
  response.writeHead(201, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ...order, status: 'paid', duplicate: false }))
}).listen({ host: '127.0.0.1', port: 0 })
await once(accounting, 'listening')

const sqs = new SQSClient({
  region: REGION,
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  endpoint: urlOf(ports.sqs),
})
const [orders, quarantine] = [queueUrl(ports.sqs, QUEUES.orders), queueUrl(ports.sqs, QUEUES.quarantine)]

let calls: Call[] = []
const onCall = (call: Call) => calls.push(call)
const certificate = await makeCertificate(path)
const each = async (start: (url: string) => Promise<string>) => ({
  dynamodb: await start(urlOf(ports.dynamodb)),
  sqs: await start(urlOf(ports.sqs)),
  ssm: await start(urlOf(ports.ssm)),
})

const requests: Readonly<Record<string, () => unknown>> = {
  calls: () => {
    const found = calls
    calls = []
    return found
  },
  drain: async () => (await drain(sqs, orders)).map(({ Body = '' }) => Body),
  empty: () => sqs.send(new PurgeQueueCommand({ QueueUrl: orders })).then(() => undefined),
}

parentPort?.on('message', async (request: string) => {
  parentPort?.postMessage(await requests[request]?.())
})
parentPort?.postMessage({
  orders,
  quarantine,
  accounting: addressOf(accounting),
  certificate: certificate.file,
  direct: await each(async url => url),
  tapped: await each(url => startTap(url, onCall)),
  tls: await each(url => startTls(url, certificate)),
})
