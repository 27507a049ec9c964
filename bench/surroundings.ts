// What the worker talks to, in a thread of its own, so that it does not take the worker's time: DynamoDB and
// SQS as emulators, and an accounting service that takes so many milliseconds to answer.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import * as v from 'valibot'
import { startDynamodb } from '../local/dynamodb.ts'
import { startSqs } from '../local/sqs.ts'

const { path, dynamodb, sqs, service, milliseconds } = v.parse(
  v.object({
    path: v.string(),
    dynamodb: v.number(),
    sqs: v.number(),
    service: v.number(),
    milliseconds: v.number(),
  }),
  workerData,
)
const order = v.object({ source: v.string(), external_id: v.string() })

const accounting = createServer(async (request, response) => {
  const key = v.parse(order, await json(request))
  await sleep(milliseconds)
  response.writeHead(201, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ...key, status: 'paid', duplicate: false }))
}).listen({ host: '127.0.0.1', port: service })

await Promise.all([
  startDynamodb({ port: dynamodb, path }),
  startSqs({ port: sqs, region: 'eu-central-1' }),
  once(accounting, 'listening'),
])
parentPort?.postMessage('ready')
