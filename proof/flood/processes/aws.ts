// The embedded DynamoDB, SQS and Parameter Store in a process of their own, which counts on the wire who calls
// what; and in place of the accounting service something that counts too, and knows no order.

import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import { join } from 'node:path'
import * as v from 'valibot'
import { startDynamodb } from '../../../local/dynamodb.ts'
import { startParameterStore } from '../../../local/parameter-store.ts'
import { HOST } from '../../../local/settings.ts'
import { startSqs } from '../../../local/sqs.ts'
import { askedToEnd, tell, tellMemory } from '../news.ts'
import { fromEnvironment } from '../settings.ts'

const { ports, directory, region } = fromEnvironment()

const exchange = v.object({ request: v.instance(IncomingMessage) })
const names = new WeakMap<IncomingMessage, string>()
const calls: Record<string, number> = {}
let begun = 0
let finished = 0

/** Who calls is known by the access key, and for which kind of delivery by the trace that it hands on. */
const nameOf = ({ headers }: IncomingMessage) => {
  const [, caller = 'worker'] = /Credential=([^/]+)/.exec(headers.authorization ?? '') ?? []
  const [, action = 'accounting'] = /\.(\w+)$/.exec(String(headers['x-amz-target'] ?? '')) ?? []
  const [, kind = '-'] = /Kind=([\w-]+)/.exec(String(headers['x-amzn-trace-id'] ?? '')) ?? []
  return `${caller} ${action} ${kind}`
}

subscribe('http.server.request.start', message => {
  const { request } = v.parse(exchange, message)
  // Now, for the embedded SQS takes the signature away.
  const name = nameOf(request)
  names.set(request, name)
  if (!name.includes('ReceiveMessage')) begun++
})
subscribe('http.server.response.finish', message => {
  const { request } = v.parse(exchange, message)
  const name = names.get(request) ?? '?'
  calls[name] = (calls[name] ?? 0) + 1
  if (!name.includes('ReceiveMessage')) finished++
})

const accounting = createServer((_request, response) => {
  response.writeHead(404, { 'content-type': 'application/json' })
  response.end('{"error":{"code":"not_found","message":"There is no such order"}}')
}).listen({ host: HOST, port: ports.sandbox })

const parts = await Promise.all([
  startDynamodb({ port: ports.dynamodb, path: join(directory, 'dynamodb') }),
  startSqs({ port: ports.sqs, region }),
  startParameterStore({ port: ports.ssm, path: join(directory, 'parameters.json'), region }),
  once(accounting, 'listening'),
])
tellMemory()
tell({ ready: 0 })

await askedToEnd()
tell({ calls, brokenOff: begun - finished })
for (const part of parts) if ('close' in part) await part.close()
accounting.close()
