// The embedded parts in a thread of their own, so that they do not take the time of what is measured:
// DynamoDB, SQS and Parameter Store, each as it is and behind a tap that counts.

import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { SQS } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { feedQueueName } from '../../lib/feeds/sqs.ts'
import { startDynamodb } from '../../local/dynamodb.ts'
import { startParameterStore } from '../../local/parameter-store.ts'
import { freePorts } from '../../local/ports.ts'
import { urlOf } from '../../local/settings.ts'
import { startSqs } from '../../local/sqs.ts'
import { createQueue, createTable } from '../../test/support/parts.ts'
import { OURS, SECRET } from '../deliveries.ts'
import { type Call, startTap } from './tap.ts'
import { makeCertificate, startTls } from './tls.ts'

const REGION = 'eu-central-1'
const { path } = v.parse(v.object({ path: v.string() }), workerData)

const ports = await freePorts()
await Promise.all([
  startDynamodb({ port: ports.dynamodb, path: join(path, 'dynamodb') }),
  startSqs({ port: ports.sqs, region: REGION }),
  startParameterStore({ port: ports.ssm, path: join(path, 'parameters.json'), region: REGION }),
])

const client = { region: REGION, credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' } }
const dynamodb = new DynamoDB({ ...client, endpoint: urlOf(ports.dynamodb) })
const sqs = new SQS({ ...client, endpoint: urlOf(ports.sqs) })
await createTable(dynamodb, 'deliveries', ['delivery'])
await createTable(dynamodb, 'idempotency', ['id'])
await createTable(dynamodb, 'orders', ['source', 'external_id'])
const line = await createQueue(sqs, 'order-line.fifo')
await createQueue(sqs, feedQueueName(OURS))
const quarantine = await createQueue(sqs, 'quarantine')
await fetch(urlOf(ports.ssm), {
  method: 'POST',
  headers: { 'x-amz-target': 'AmazonSSM.PutParameter' },
  body: JSON.stringify({
    Name: '/order-relay/bench/webhook-secrets/one',
    Value: SECRET,
    Type: 'SecureString',
  }),
})

let calls: Call[] = []
const hear = (call: Call) => calls.push(call)
const taps = {
  dynamodb: await startTap(urlOf(ports.dynamodb), hear),
  sqs: await startTap(urlOf(ports.sqs), hear),
  ssm: await startTap(urlOf(ports.ssm), hear),
}

const direct = { dynamodb: urlOf(ports.dynamodb), sqs: urlOf(ports.sqs), ssm: urlOf(ports.ssm) }
const certificate = await makeCertificate(path)
const tls =
  certificate === undefined
    ? undefined
    : {
        dynamodb: await startTls(direct.dynamodb, certificate),
        sqs: await startTls(direct.sqs, certificate),
        ssm: await startTls(direct.ssm, certificate),
      }

/** What the line holds now; it is empty afterwards. */
const drain = async () => {
  const bodies: string[] = []
  for (;;) {
    const { Messages = [] } = await sqs.receiveMessage({ QueueUrl: line, MaxNumberOfMessages: 10 })
    if (Messages.length === 0) return bodies
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body)
      await sqs.deleteMessage({ QueueUrl: line, ReceiptHandle })
    }
  }
}

const requests: Record<string, () => unknown> = {
  calls: () => {
    const heard = calls
    calls = []
    return heard
  },
  drain,
  empty: () => sqs.purgeQueue({ QueueUrl: line }).then(() => undefined),
}

parentPort?.on('message', async (request: string) => {
  parentPort?.postMessage(await requests[request]?.())
})
parentPort?.postMessage({
  line,
  quarantine,
  direct,
  tls,
  certificate: certificate?.file,
  tapped: { dynamodb: taps.dynamodb.url, sqs: taps.sqs.url, ssm: taps.ssm.url },
})
