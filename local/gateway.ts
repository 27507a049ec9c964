import * as v from 'valibot'
import type { Turnstile } from './turnstile.ts'

/** What of hapi, on which serverless-offline builds its API Gateway, is used here. */
type Toolkit = { continue: symbol; response: (body: object) => { code: (status: number) => unknown } }
type Request = { response: unknown }
export type Gateway = {
  ext: (event: 'onPreHandler' | 'onPreResponse', method: (request: Request, h: Toolkit) => unknown) => void
  events: { on: (event: 'response', listener: (request: Request) => void) => void }
  stop: (options: { timeout: number }) => Promise<void>
}

const gateway = v.custom<Gateway>(
  value =>
    v.is(
      v.looseObject({ ext: v.function(), stop: v.function(), events: v.looseObject({ on: v.function() }) }),
      value,
    ),
  'has no HTTP server',
)
const offlinePlugin = v.looseObject({ internals: v.function() })
const internals = v.looseObject({ getApiGatewayServer: v.function() })

/** The HTTP server of serverless-offline, which it hands out by its `internals()`. */
export const gatewayOf = (plugins: readonly unknown[]): Gateway => {
  const plugin = plugins.find(candidate => v.is(offlinePlugin, candidate))
  if (!v.is(offlinePlugin, plugin)) {
    throw new Error('Cannot find serverless-offline among the plugins of serverless.yml')
  }
  return v.parse(gateway, v.parse(internals, plugin.internals()).getApiGatewayServer())
}

/**
 * Lets only so many requests reach the functions at once: a burst waits in line, as it would for Lambda's
 * concurrency, where serverless-offline starts a thread for each.
 */
export const passThrough = (gateway: Gateway, { enter, leave }: Turnstile): void => {
  const state = new WeakMap<Request, 'inside' | 'gone'>()
  gateway.ext('onPreHandler', async (request, h) => {
    await enter()
    if (state.get(request) === 'gone') leave()
    else state.set(request, 'inside')
    return h.continue
  })
  gateway.events.on('response', request => {
    if (state.get(request) === 'inside') leave()
    // The caller may have gone while its request was still in line.
    state.set(request, 'gone')
  })
}

const failure = v.looseObject({
  source: v.pipe(
    v.string(),
    v.parseJson(),
    v.strictObject({ errorMessage: v.string(), errorType: v.string(), stackTrace: v.array(v.string()) }),
  ),
})

/**
 * Answers for a function that failed or ran out of time as an HTTP API does, with 500; serverless-offline
 * says 200, which a sender of webhooks would take for success.
 */
export const answerFailures = (gateway: Gateway): void =>
  gateway.ext('onPreResponse', (request, h) =>
    v.is(failure, request.response) ? h.response({ message: 'Internal Server Error' }).code(500) : h.continue,
  )
