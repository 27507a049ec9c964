import { subscribe } from 'node:diagnostics_channel'
import { type IncomingMessage, Server, type ServerResponse } from 'node:http'
import { foreignHeader, KEEP_ALIVE_MS } from '@order-relay/web/foreign.ts'
import * as v from 'valibot'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

const listening = v.looseObject({ server: v.instance(Server) })

const refuse = (response: ServerResponse, found: string) => {
  response.writeHead(403, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ message: `${found}: this port takes no requests from other pages` }))
}

/**
 * Refuses requests from web pages of another origin on every HTTP server that this process starts from now on, including
 * the Lambda port of serverless-offline, which offers no other hook. The servers also keep idle connections, which Node
 * would close after five seconds.
 *
 * @param isPublic whether a request may come from anywhere
 */
export const refuseForeignRequests = (isPublic: (request: IncomingMessage) => boolean): void =>
  subscribe('tracing:net.server.listen:asyncStart', started => {
    if (!v.is(listening, started)) return
    const { server } = started
    server.keepAliveTimeout = Math.max(server.keepAliveTimeout, KEEP_ALIVE_MS)
    for (const event of ['request', 'checkContinue']) {
      const listeners = server.listeners(event) as Listener[]
      if (listeners.length === 0) continue
      server.removeAllListeners(event)
      server.on(event, (request: IncomingMessage, response: ServerResponse) => {
        const found = isPublic(request) ? undefined : foreignHeader(request.headers)
        if (found !== undefined) return refuse(response, found)
        for (const listener of listeners) listener.call(server, request, response)
      })
    }
  })
