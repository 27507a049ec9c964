import * as v from 'valibot'
import type { Turnstile } from './turnstile.ts'

/** What is used of hapi, which serverless-offline builds its API Gateway on. */
type Toolkit = {
  continue: symbol
  abandon: symbol
  response: (body: object) => { code: (status: number) => unknown }
}
type Request = {
  url: URL
  params: Record<string, string>
  mime: string
  response: unknown
  raw: { req: { url?: string } }
}
export type Gateway = {
  ext: (event: 'onPreHandler' | 'onPreResponse', method: (request: Request, h: Toolkit) => unknown) => void
  events: { on: (event: 'response', listener: (request: Request) => void) => void }
  inject: (request: { method: string; url: string; payload: string }) => Promise<{ statusCode: number }>
  start: () => Promise<void>
  stop: (options: { timeout: number }) => Promise<void>
}

const gateway = v.custom<Gateway>(
  value => v.is(v.looseObject({ ext: v.function(), inject: v.function(), start: v.function() }), value),
  'is not a hapi server',
)
const events = v.object({ httpApiEvents: v.array(v.unknown()), lambdas: v.array(v.unknown()) })
const internals = v.object({
  mergeOptions: v.function(),
  getEvents: v.function(),
  createLambda: v.function(),
  createHttp: v.function(),
  getApiGatewayServer: v.function(),
})
const plugin = v.custom<{ internals: () => unknown; end: (skipExit: boolean) => Promise<void> }>(value =>
  v.is(v.looseObject({ internals: v.function(), end: v.function() }), value),
)

/**
 * serverless-offline, driven through its `internals()` because its own start opens the HTTP port before the
 * functions can serve.
 */
export const offlineOf = (plugins: readonly unknown[]) => {
  const offline = plugins.find(candidate => v.is(plugin, candidate))
  if (!v.is(plugin, offline)) {
    throw new Error('Cannot find serverless-offline among the plugins of serverless.yml')
  }
  const { mergeOptions, getEvents, createLambda, createHttp, getApiGatewayServer } = v.parse(
    internals,
    offline.internals(),
  )
  const open = async (): Promise<Gateway> => {
    mergeOptions()
    const { httpApiEvents, lambdas } = v.parse(events, getEvents())
    await createLambda(lambdas)
    await createHttp(httpApiEvents, true)
    return v.parse(gateway, getApiGatewayServer())
  }
  return {
    /** Opens the Lambda port and returns the HTTP API, which is not started yet. */
    open,
    end: () => offline.end(true),
  }
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Makes up for what serverless-offline does otherwise than an HTTP API: the raw path is decoded, a body that is
 * JSON, `null` included, is the text that was sent, and a function that failed or timed out is answered with 500.
 */
export const actAsHttpApi = (gateway: Gateway): void => {
  gateway.ext('onPreHandler', (request, h) => {
    const [path = ''] = (request.raw.req.url ?? '').split('?')
    Object.defineProperty(request.url, 'pathname', { value: decoded(path) })
    // It parses the bodies of JSON types, and passes values such as null on instead of the text.
    request.mime = 'application/octet-stream'
    return h.continue
  })
  gateway.ext('onPreResponse', (request, h) =>
    v.is(failure, request.response) ? h.response({ message: 'Internal Server Error' }).code(500) : h.continue,
  )
}

const failure = v.looseObject({
  source: v.pipe(
    v.string(),
    v.parseJson(),
    v.strictObject({
      errorMessage: v.string(),
      errorType: v.string(),
      stackTrace: v.nullable(v.array(v.string())),
    }),
  ),
})

/**
 * Limits the requests that reach the functions at the same time: serverless-offline starts a thread for each of a
 * burst, where Lambda limits concurrency.
 */
export const passThrough = (gateway: Gateway, { enter, leave }: Turnstile): void => {
  const state = new WeakMap<Request, 'inside' | 'gone'>()
  gateway.ext('onPreHandler', async (request, h) => {
    await enter()
    if (state.get(request) === 'gone') {
      leave()
      return h.abandon
    }
    state.set(request, 'inside')
    return h.continue
  })
  gateway.events.on('response', request => {
    if (state.get(request) === 'inside') leave()
    // The caller may have disconnected while its request was waiting.
    state.set(request, 'gone')
  })
}
