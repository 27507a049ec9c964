import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener, RequestError } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { foreignHeader, KEEP_ALIVE_MS } from '@order-relay/web/foreign.ts'
import { type Context, Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Fault } from '../faults.ts'
import { operations } from '../openapi/document.ts'
import { PANEL_PAGES } from '../panel-pages.ts'
import { quoted, Refusal } from '../refusal.ts'
import { jsonBody } from './body.ts'
import type { Environment, Route, Services } from './endpoint.ts'
import { pages } from './pages.ts'
import { refuse, respond } from './respond.ts'

/** The scope that every change requires (spec: Authentication). */
const WRITE = 'orders.write'

/** The API keys and their scopes. They are public: the sandbox accepts connections from this machine only. */
const KEYS = new Map([
  ['sandbox-key', [WRITE]],
  ['sandbox-read-key', []],
])

/** @throws Refusal when the caller lacks access (spec: Authentication) */
const requireKey = ({ authorization }: IncomingHttpHeaders, access: 'read' | 'write') => {
  const key = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  if (key === undefined) {
    throw new Refusal('unauthorized', 'The key is missing: send "Authorization: Bearer <API_KEY>"')
  }
  const scopes = KEYS.get(key)
  if (scopes === undefined) throw new Refusal('unauthorized', 'The key is not known')
  if (access === 'write' && !scopes.includes(WRITE)) {
    throw new Refusal('forbidden', `The key lacks the scope ${WRITE}`)
  }
}

/** Path parameters by name. Hono's own parser accepts malformed percent-encoding. */
const parametersOf = (template: string, path: string): Record<string, string> => {
  const segments = path.split('/')
  const parameters: Record<string, string> = {}
  for (const [index, part] of template.split('/').entries()) {
    if (!part.startsWith('{')) continue
    const [name, value] = [part.slice(1, -1), segments[index] ?? '']
    try {
      parameters[name] = decodeURIComponent(value)
    } catch {
      throw new Refusal(
        'invalid',
        `The path has ${quoted(value)} as ${name}: not percent-encoded UTF-8`,
        name,
      )
    }
  }
  return parameters
}

/** The path as it was sent. Hono's default decodes it, but an id may contain an encoded slash. */
const pathOf = (request?: IncomingMessage) => (request?.url ?? '/').replace(/\?.*/s, '')

/** A final slash is optional. */
const withoutSlash = (path: string) => path.replace(/(.)\/$/, '$1')

/** `/orders/{id}/` in Hono's syntax. An empty parameter matches: it is an invalid id, not an unknown path. */
const patternOf = (path: string) => withoutSlash(path).replace(/\{(\w+)\}/g, ':$1{[^/]*}')

const FAULT = { error: { code: 'fault', message: 'The service fails on purpose' } }

/**
 * Answers a request with a fault.
 *
 * @param answer does the work
 * @param stopping ends the delay of a slow response
 */
const answerWith = async (
  { kind, delay, status, retryAfter }: Fault,
  context: Context<Environment>,
  answer: () => Promise<Response>,
  stopping: AbortSignal,
): Promise<Response> => {
  const reset = () => {
    context.env.incoming.socket.resetAndDestroy()
    return RESPONSE_ALREADY_SENT
  }
  switch (kind) {
    case 'reset':
      return reset()
    case 'lose':
      await answer().catch(error => refuse(context, error))
      return reset()
    case 'slow':
      await sleep(delay, undefined, { signal: stopping }).catch(() => undefined)
      return answer()
    case 'error': {
      const headers = retryAfter === null ? {} : { 'retry-after': String(retryAfter) }
      return respond(context, status as ContentfulStatusCode, FAULT, headers)
    }
  }
}

const serve = async (
  { path, access, method, handle }: Route,
  services: Services,
  context: Context<Environment>,
) => {
  const { incoming } = context.env
  const parameters = parametersOf(path, context.req.path)
  if (access !== 'local') requireKey(incoming.headers, access)
  const query = new URLSearchParams(incoming.url?.split(/\?(.*)/s)[1])
  const body = method === 'get' ? undefined : await jsonBody(incoming)
  const result = await handle({ ...services, context, parameters, query, body })
  return result instanceof Response ? result : respond(context, 200, result)
}

/** The address of a page of the panel that was typed into a browser without its `#`. */
const pageTypedIn = ({ method, url = '', headers }: IncomingMessage): string | undefined => {
  const [, path = '', query = ''] = /^\/([^?]*?)\/?(\?.*)?$/s.exec(url) ?? []
  const isPage = PANEL_PAGES.some(page => `${path}/`.startsWith(`${page}/`))
  return method === 'GET' && isPage && headers.accept?.includes('text/html')
    ? `/#/${path}${query}`
    : undefined
}

/** The HTTP application: every endpoint of the API, the panel and its documentation. */
const createApp = (services: Services): Hono<Environment> => {
  const getPath = (_: Request, options?: { env?: Environment['Bindings'] }) =>
    withoutSlash(pathOf(options?.env?.incoming))
  const app = new Hono<Environment>({ getPath })
  app.use(async (context, next) => {
    context.header('x-content-type-options', 'nosniff')
    const found = foreignHeader(context.env.incoming.headers)
    if (found === undefined) return next()
    throw new Refusal(
      'forbidden',
      `${found}: the sandbox accepts no requests from other web pages or through a tunnel`,
    )
  })
  const onMethodNotAllowed = (context: Context, methods: string[]) => {
    const allow = methods.join(', ')
    const message = `The method is ${context.req.method}: this path has ${allow}`
    return refuse(context, new Refusal('method_not_allowed', message), { allow })
  }
  app.use(methodNotAllowed({ app, onMethodNotAllowed }))
  for (const route of [...operations, ...pages]) {
    app.on(route.method, patternOf(route.path), context => {
      const answer = () => serve(route, services, context)
      // The panel ends faults, so it is exempt.
      const fault = route.access === 'local' ? undefined : services.faults.hit(route.id ?? '')
      return fault === undefined ? answer() : answerWith(fault, context, answer, services.stopping)
    })
  }
  app.notFound(context => {
    const page = pageTypedIn(context.env.incoming)
    if (page !== undefined) return context.redirect(page)
    const path = quoted(pathOf(context.env.incoming))
    return refuse(context, new Refusal('not_found', `The path ${path} does not exist`))
  })
  app.onError((error, context) => refuse(context, error))
  return app
}

/** Responds to requests that never reach the application, because their target or Host header is not a URL. */
const errorHandler = (error: unknown) => {
  if (error instanceof RequestError) {
    const message = `Cannot read the request: ${error.message}`
    return Response.json({ error: { code: 'malformed', message } }, { status: 400 })
  }
  console.error(error)
  return new Response(null, { status: 500 })
}

/** The HTTP server, not yet listening. */
export const httpServer = (services: Services): Server =>
  createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS },
    getRequestListener(createApp(services).fetch, { errorHandler, hostname: 'localhost' }),
  )
