import { availableParallelism } from 'node:os'
import * as v from 'valibot'

/** How many requests run functions at once. serverless-offline gives each its own thread, without end. */
const CONCURRENCY = 4 * availableParallelism()

/** Lets `limit` pass at once; the others wait their turn. */
export const turnstile = (limit: number) => {
  let inside = 0
  const waiting: (() => void)[] = []
  return {
    enter: async (): Promise<void> => {
      if (inside < limit) inside += 1
      else await new Promise<void>(resolve => waiting.push(resolve))
    },
    /** Hands the place on to the next in line, or frees it. */
    leave: (): void => {
      const next = waiting.shift()
      if (next === undefined) inside -= 1
      else next()
    },
  }
}

/** The part of hapi's server that is used here. */
type HttpServer<Request extends object> = {
  ext: (event: 'onPreHandler', method: (request: Request, h: { continue: symbol }) => Promise<symbol>) => void
  events: { on: (event: 'response', listener: (request: Request) => void) => void }
}

/**
 * Lets only so many requests reach the functions at once, so that a burst waits in line, as it would for
 * Lambda's concurrency, instead of starting a thread for each request.
 */
export const limitConcurrency = <Request extends object>(server: HttpServer<Request>): void => {
  const { enter, leave } = turnstile(CONCURRENCY)
  const state = new WeakMap<Request, 'inside' | 'gone'>()

  server.ext('onPreHandler', async (request, h) => {
    await enter()
    if (state.get(request) === 'gone') leave()
    else state.set(request, 'inside')
    return h.continue
  })
  server.events.on('response', request => {
    if (state.get(request) === 'inside') leave()
    // The caller may have gone while its request was still in line.
    state.set(request, 'gone')
  })
}

const offlinePlugin = v.looseObject({ internals: v.function() })
const internals = v.looseObject({ getApiGatewayServer: v.function() })
const server = v.custom<HttpServer<object>>(
  value => v.is(v.looseObject({ ext: v.function(), events: v.looseObject({ on: v.function() }) }), value),
  'has no API Gateway server',
)

/** The HTTP server of serverless-offline, which it hands out by its `internals()`. */
export const gatewayOf = (plugins: readonly unknown[]): HttpServer<object> => {
  for (const plugin of plugins) {
    if (v.is(offlinePlugin, plugin)) {
      return v.parse(server, v.parse(internals, plugin.internals()).getApiGatewayServer())
    }
  }
  throw new Error('Cannot find serverless-offline among the plugins of serverless.yml')
}
