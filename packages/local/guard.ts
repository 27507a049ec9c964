import { subscribe } from 'node:diagnostics_channel'
import { type IncomingMessage, Server, type ServerResponse } from 'node:http'
import { foreignHeader, KEEP_ALIVE_MS } from '@order-relay/web/foreign.ts'
import * as v from 'valibot'
import { type Credentials, ENVIRONMENT_FILE, isSignedAs } from './credentials.ts'
import { isSameUser } from './same-user.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

const listening = v.looseObject({ server: v.instance(Server) })

/**
 * The body of a refusal, for a request from a web page of another origin or through a tunnel; undefined for any other request.
 *
 * @param accepted what the port accepts from these
 */
export const foreignRefusal = ({ headers }: IncomingMessage, accepted = 'no requests') => {
  const found = foreignHeader(headers)
  return found === undefined
    ? undefined
    : {
        message: `Cannot accept the request: ${found}; from other web pages and through a tunnel, this port accepts ${accepted}`,
      }
}

/** The AWS error for a request from another user without the stack's credentials; undefined for any other request. */
export const credentialsRefusal = ({ headers, socket }: IncomingMessage, credentials: Credentials) =>
  isSignedAs(credentials, headers) || isSameUser(socket)
    ? undefined
    : {
        __type: 'UnrecognizedClientException',
        message: `The credentials are not those of this local stack: use those in ${ENVIRONMENT_FILE} of its data directory (.order-relay or ORDER_RELAY_DATA)`,
      }

/**
 * Makes every HTTP server that this process starts from now on refuse requests with 403. This includes the Lambda port
 * of serverless-offline, which offers no other hook. The servers also keep idle connections, which Node would close
 * after five seconds.
 *
 * @param refusalOf the body of the refusal, undefined for a request that is allowed
 */
export const guardServers = (refusalOf: (request: IncomingMessage) => object | undefined): void =>
  subscribe('tracing:net.server.listen:asyncStart', started => {
    if (!v.is(listening, started)) return
    const { server } = started
    server.keepAliveTimeout = Math.max(server.keepAliveTimeout, KEEP_ALIVE_MS)
    for (const event of ['request', 'checkContinue']) {
      const listeners = server.listeners(event) as Listener[]
      if (listeners.length === 0) continue
      server.removeAllListeners(event)
      server.on(event, (request: IncomingMessage, response: ServerResponse) => {
        const refusal = refusalOf(request)
        if (refusal === undefined) {
          for (const listener of listeners) listener.call(server, request, response)
          return
        }
        response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(refusal))
      })
    }
  })
