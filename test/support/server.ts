import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { addressOf, portOf } from './address.ts'

export type PlainResponse = { status: number; headers?: Record<string, string>; body?: string }

/** An HTTP server on a free port of the loopback address. */
export const listening = async (listener: RequestListener) => {
  const server = createServer(listener).listen({ host: '127.0.0.1', port: 0 })
  // By default, a server closes idle connections after five seconds, possibly while a request is in flight.
  server.keepAliveTimeout = 0
  await once(server, 'listening')
  return {
    server,
    port: portOf(server),
    url: addressOf(server),
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * An HTTP server on a free port of the loopback address. It returns 500 if `respond` rejects, and breaks the
 * connection if `respond` has no response.
 */
export const startServer = (
  respond: (request: IncomingMessage, body: Buffer) => Promise<PlainResponse | undefined>,
) =>
  listening((request, response) => {
    buffer(request)
      .then(body => respond(request, body))
      .then(
        answer => {
          if (answer === undefined) return response.destroy()
          const { status, headers = {}, body = '{}' } = answer
          return response.writeHead(status, headers).end(body)
        },
        () => response.writeHead(500).end(),
      )
  })
