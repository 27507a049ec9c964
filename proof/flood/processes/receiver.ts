// The webhook function, bundled as it is deployed, behind a front that hands it requests in API Gateway's shape,
// one at a time, as each of Lambda's environments gets them.

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as v from 'valibot'
import { HOST } from '../../../local/settings.ts'
import { turnstile } from '../../../local/turnstile.ts'
import { askedToEnd, tell, tellMemory } from '../news.ts'
import { fromEnvironment, loadFunction } from '../settings.ts'

const SECONDS = 9

const { functions } = fromEnvironment()
const invoke = await loadFunction(functions.webhook, SECONDS)
const { enter, leave } = turnstile(1)
const answer = v.object({
  statusCode: v.number(),
  headers: v.record(v.string(), v.string()),
  body: v.string(),
})

const eventOf = ({ method, headers }: IncomingMessage, body: Buffer) => ({
  version: '2.0',
  routeKey: 'POST /webhook',
  rawPath: '/webhook',
  rawQueryString: '',
  headers,
  requestContext: { http: { method, path: '/webhook' }, stage: '$default' },
  body: body.toString(),
  isBase64Encoded: false,
})

const handle = async (request: IncomingMessage) => {
  const event = eventOf(request, await buffer(request))
  await enter()
  try {
    // As Lambda's runtime does; the function hands it on to whatever it calls.
    process.env._X_AMZN_TRACE_ID = String(request.headers['x-amzn-trace-id'])
    return v.parse(answer, await invoke(event))
  } finally {
    leave()
  }
}

const server = createServer((request, response) => {
  handle(request).then(
    ({ statusCode, headers, body }) => response.writeHead(statusCode, headers).end(body),
    (error: unknown) => {
      process.stderr.write(`${error}\n`)
      response.writeHead(500).end()
    },
  )
}).listen({ host: HOST, port: 0 })
await once(server, 'listening')
tellMemory()
const address = server.address()
tell({ ready: typeof address === 'object' && address !== null ? address.port : 0 })

await askedToEnd()
server.close()
server.closeAllConnections()
