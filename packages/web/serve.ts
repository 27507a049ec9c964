import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isNativeError } from 'node:util/types'
import type { Context, Env } from 'hono'
import { stream } from 'hono/streaming'
import { HOST } from './foreign.ts'

const DIRECTIVES = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

/** A page loads only its own files, and no other page may frame it. */
export const policyWith = (changes: Partial<typeof DIRECTIVES> = {}): string =>
  Object.entries({ ...DIRECTIVES, ...changes })
    .map(directive => directive.join(' '))
    .join('; ')

export const POLICY = policyWith()

/** Proxies and browsers close a silent stream. */
const HEARTBEAT_MS = 15_000

/**
 * Streams every change until the client disconnects or the server stops.
 *
 * @param listen calls back with each change, and returns a function that ends this
 */
export const changeStream = <E extends Env>(
  context: Context<E>,
  stopping: AbortSignal,
  listen: (onChange: (change: object) => void) => () => void,
): Response => {
  context.header('content-type', 'text/event-stream; charset=utf-8')
  context.header('cache-control', 'no-store')
  if (context.req.method === 'HEAD') return context.body(null)
  return stream(context, async output => {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    output.onAbort(end)
    stopping.addEventListener('abort', end)
    const unsubscribe = listen(change => {
      output.write(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
    })
    const heartbeat = setInterval(() => output.write(': heartbeat\n\n'), HEARTBEAT_MS)
    output.write(': listening\n\n')
    await ended
    stopping.removeEventListener('abort', end)
    unsubscribe()
    clearInterval(heartbeat)
  })
}

/**
 * Listens on this machine only, and returns the port.
 *
 * @param variable the environment variable that changes it
 * @throws Error when the port is taken
 */
export const listen = async (server: Server, port: number, variable: string): Promise<number> => {
  server.listen(port, HOST)
  try {
    await once(server, 'listening')
  } catch (cause) {
    const taken = isNativeError(cause) && 'code' in cause && cause.code === 'EADDRINUSE'
    const state = taken ? `the port is taken; choose another with ${variable} or --port` : String(cause)
    throw new Error(`Cannot listen on ${HOST}:${port}: ${state}`, { cause })
  }
  return (server.address() as AddressInfo).port
}

/** How long running requests can delay the stop. */
const GRACE_MS = 2000

export const stop = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  const timeout = setTimeout(() => server.closeAllConnections(), GRACE_MS)
  await closed
  clearTimeout(timeout)
}
