import { isUtf8 } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import type PQueue from 'p-queue'
import Lambda, { type LambdaFunction } from 'serverless-offline/lambda'
import * as v from 'valibot'

/** The parts used of hapi, on which serverless-offline builds its API Gateway. */
type Response = {
  code: (status: number) => unknown
  type: (mime: string) => Response
  header: (name: string, value: string) => Response
  takeover: () => unknown
}
type Toolkit = { continue: symbol; response: (body: object | string) => Response }
type Request = {
  method: string
  /** Null if it cannot be parsed. */
  url: URL | null
  setUrl: (url: string) => void
  headers: Record<string, unknown>
  payload: unknown
  response: unknown
  raw: { req: { url?: string; rawHeaders?: unknown[] } }
}
export type Gateway = {
  ext: (
    event: 'onRequest' | 'onPreHandler' | 'onPreResponse',
    method: (request: Request, h: Toolkit) => unknown,
  ) => void
  inject: (request: {
    method: string
    url: string
    payload: string
    headers: Record<string, string>
  }) => Promise<{ statusCode: number }>
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

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const pathOf = ({ raw }: Request) => (raw.req.url ?? '').replace(/\?.*/s, '')

/**
 * Corrects the differences between serverless-offline and an HTTP API: responses have no CORS headers, the raw path is decoded,
 * every path, cookie and media type reaches the function, a body is passed as the text that was sent, or as base64 if
 * it is not text, and a function that failed or timed out results in a 500.
 */
export const actAsHttpApi = (gateway: Gateway): void => {
  gateway.ext('onRequest', (request, h) => {
    const { headers, raw } = request
    // It sends CORS headers to every caller with an origin.
    delete headers.origin
    // It passes on the raw headers, which an injected request lacks.
    raw.req.rawHeaders ??= Object.entries(headers).flat()
    // hapi parses these, and refuses what it cannot parse.
    delete headers.cookie
    headers['content-type'] = 'application/octet-stream'
    const path = pathOf(request)
    if (path.startsWith('/') && decoded(path) === undefined) {
      request.setUrl(path.replaceAll('%', '%25') + (raw.req.url ?? '').slice(path.length))
    }
    return h.continue
  })
  gateway.ext('onPreHandler', (request, h) => {
    const path = pathOf(request)
    Object.defineProperty(request.url, 'pathname', { value: decoded(path) ?? path })
    // Bodies of binary types are passed as base64, others are decoded.
    if (request.payload instanceof Uint8Array && isUtf8(request.payload))
      delete request.headers['content-type']
    return h.continue
  })
  gateway.ext('onPreResponse', ({ response }, h) => {
    if (v.is(v.union([failure, boom]), response))
      return h.response({ message: 'Internal Server Error' }).code(500)
    if (!v.is(refusal, response)) return h.continue
    const { statusCode, payload } = response.output
    const error = { code: statusCode === 413 ? 'too_large' : 'malformed', message: payload.message }
    return h.response({ error }).code(statusCode)
  })
}

/** A request that hapi itself refuses. */
const refusal = v.looseObject({
  isBoom: v.literal(true),
  output: v.looseObject({ statusCode: v.number(), payload: v.looseObject({ message: v.string() }) }),
})

/** hapi's own response, for a result that serverless-offline cannot use. */
const boom = v.looseObject({
  isBoom: v.literal(true),
  output: v.looseObject({ statusCode: v.pipe(v.number(), v.minValue(500)) }),
})

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

const noBody = v.looseObject({ body: v.null() })

/** Lambda's time limit for a function's initialization, in milliseconds. */
const INIT_MS = 10_000

/** The limits of each function, by its key in serverless.yml. */
export type Limits = {
  /** The queue of its invocations. */
  queue: PQueue
  /** Time limit of an invocation, in milliseconds. */
  timeout: number
}

/**
 * Limits the concurrency of each function, since serverless-offline starts a thread for each event of a burst, and omits
 * the body of a request without one, as an HTTP API does. The timeout excludes initialization, as in Lambda;
 * serverless-offline includes it.
 */
export const limitFunctions = (limitsOf: (key: string) => Limits): void => {
  const { get } = Lambda.prototype
  const loaded = new WeakSet<LambdaFunction>()

  const run = async (lambda: LambdaFunction, timeout: number) => {
    const late = new AbortController()
    const budget = loaded.has(lambda) ? timeout : timeout + INIT_MS
    loaded.add(lambda)
    const ended = sleep(budget, undefined, { signal: late.signal }).then(async () => {
      // Terminates its thread. The pool still counts it as busy, so the next invocation gets another instance.
      await lambda.cleanup?.()
      throw new Error(`Task timed out after ${timeout / 1000} seconds`)
    })
    try {
      return await Promise.race([lambda.runHandler(), ended])
    } finally {
      late.abort()
    }
  }

  Lambda.prototype.get = function (key) {
    const { queue, timeout } = limitsOf(key)
    let event: unknown
    return {
      setEvent: given => {
        event = v.is(noBody, given) ? { ...given, body: undefined } : given
      },
      // No function reads it.
      setClientContext: () => undefined,
      runHandler: () =>
        queue.add(() => {
          const lambda = get.call(this, key)
          lambda.setEvent(event)
          return run(lambda, timeout)
        }),
    }
  }
}
