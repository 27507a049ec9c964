import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { foreignHeader, HOST } from '@order-relay/web/foreign.ts'
import { pageFiles } from '@order-relay/web/page.ts'
import { changeStream, listen, POLICY, stop } from '@order-relay/web/serve.ts'
import { Hono, type Context as HonoContext } from 'hono'
import { stream } from 'hono/streaming'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { cannot, explain, Failure } from '../core/errors.ts'
import { createLive } from './live.ts'
import type { Route } from './route.ts'
import { routesOf } from './routes.ts'
import { createSessions } from './sessions.ts'

type Environment = {
  Bindings: HttpBindings
  /** `ending` aborts when the session or the console ends. */
  Variables: { ending: AbortSignal }
}

const refuse = (c: HonoContext, status: 400 | 401 | 403 | 404 | 409 | 415 | 500, message: string) =>
  c.json({ error: { message } }, status)

const isIterable = (result: unknown): result is AsyncIterable<unknown> =>
  typeof result === 'object' && result !== null && Symbol.asyncIterator in result

const NO_SESSION =
  'There is no session, or it has ended: open the last address that npm start or relay console printed; each works once'

/** The body with which a page opens a session. */
const opening = v.object({ token: v.exactOptional(v.string()) })

/** The address of the page that a path names, such as `/#/orders` for `/orders`. Keeps the token where the page reads it. */
const pageAddress = ({ pathname, searchParams: query }: URL): string => {
  const token = query.get('token')
  query.delete('token')
  const session = token === null ? '' : `?${new URLSearchParams({ token })}`
  return `/${session}#${pathname}${query.size > 0 ? `?${query}` : ''}`
}

type ConsoleOptions = {
  port: number
  onNextUrl?: (url: string) => void
  needsNoToken?: (socket: Socket) => boolean
}

/** Maximum body size: the file of a plan for about ten thousand messages. */
const BODY_MAX = 16 * 1024 * 1024

/**
 * Starts the operators' console: a page for one relay, served to this machine only.
 *
 * @param onNextUrl called with the next address when one was used
 * @param needsNoToken whether the browser behind a connection gets a session without a token. @default none does
 * @throws Error when the port is taken
 */
export const startConsole = async (
  context: Context,
  { port, onNextUrl = () => undefined, needsNoToken = () => false }: ConsoleOptions,
) => {
  const sessions = createSessions()
  const stopping = new AbortController()
  const live = createLive(context, stopping.signal)
  const failureOf = (error: unknown) => explain(error, context).message

  const serve = async (c: HonoContext<Environment>, { method, input, handle }: Route) => {
    const given = method === 'get' ? c.req.query() : await c.req.json().catch(() => undefined)
    const valid = v.safeParse(input, given)
    if (!valid.success) {
      const [{ message }] = valid.issues
      return refuse(c, 400, `Cannot read the request: ${message}`)
    }
    // The schema matches the handler, since `get` and `post` take both together.
    const gone = new AbortController()
    const result = handle(valid.output as never, AbortSignal.any([gone.signal, c.get('ending')]))
    if (!isIterable(result)) return c.json((await result) ?? {})
    c.header('content-type', 'application/x-ndjson')
    return stream(c, async output => {
      output.onAbort(() => gone.abort())
      const write = (line: object) => output.write(`${JSON.stringify(line)}\n`)
      try {
        for await (const item of result) {
          if (output.aborted) return
          await write({ item })
        }
      } catch (error) {
        await write({ error: { message: failureOf(error) } })
      }
    })
  }

  const app = new Hono<Environment>()
  app.use(async (c, next) => {
    c.header('x-content-type-options', 'nosniff')
    c.header('referrer-policy', 'no-referrer')
    c.header('content-security-policy', POLICY)
    c.header('cache-control', 'no-store')
    const { headers, method } = c.env.incoming
    const found = foreignHeader(headers)
    if (found !== undefined)
      return refuse(
        c,
        403,
        `${found}: the console accepts no requests from other web pages or through a tunnel`,
      )
    if (method === 'GET') return next()
    if (headers.origin === undefined) {
      return refuse(c, 403, 'Origin is missing: only the console itself makes changes')
    }
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
      return refuse(c, 415, 'Content-Type must be application/json')
    }
    if (!(Number(headers['content-length']) <= BODY_MAX)) return refuse(c, 400, 'The body is too large')
    return next()
  })
  app.post('/api/session', async c => {
    const given = v.safeParse(opening, await c.req.json().catch(() => undefined))
    if (!given.success) return refuse(c, 401, NO_SESSION)
    const { token } = given.output
    if (token === undefined && needsNoToken(c.env.incoming.socket))
      return c.json({ session: sessions.begin() })
    const session = token === undefined ? undefined : sessions.open(token)
    if (session === undefined) return refuse(c, 401, NO_SESSION)
    onNextUrl(nextUrl())
    return c.json({ session })
  })
  app.use('/api/*', async (c, next) => {
    const session = sessions.of(c.req.header('authorization'))
    if (session === undefined) return refuse(c, 401, NO_SESSION)
    session.keep()
    c.set('ending', AbortSignal.any([session.ending, stopping.signal]))
    return next()
  })
  // These files are public: the browser requests them without a session.
  const pageFile = pageFiles(join(import.meta.dirname, 'pages'), {
    name: 'console',
    title: 'order-relay',
    base: '/',
    noscript: 'The console needs JavaScript. The command relay does the same: npx relay --help.',
  })
  const file = (name: string) => async (c: HonoContext<Environment>) => {
    const [type = '', content = ''] = (await pageFile(name)) ?? []
    return c.body(content, 200, { 'content-type': type })
  }
  app.get('/', file('index.html'))
  for (const name of ['icon.svg', 'console.js', 'console.css']) app.get(`/${name}`, file(name))
  app.get('/api/events', c => changeStream(c, c.get('ending'), live.listen))
  for (const route of routesOf(context, live)) {
    app.on(route.method, `/api/${route.path}`, c => serve(c, route))
  }
  app.notFound(c => {
    const isPage = c.req.method === 'GET' && c.req.header('accept')?.includes('text/html')
    if (!isPage || c.req.path.startsWith('/api/')) return refuse(c, 404, 'The path does not exist')
    return c.redirect(pageAddress(new URL(c.req.url)))
  })
  app.onError((error, c) => {
    // A Failure has a message with a remedy; any other error is shown as it is.
    return refuse(c, error instanceof Failure ? 409 : 500, failureOf(error))
  })

  const server = createServer(getRequestListener(app.fetch, { hostname: HOST }))
  const bound = await listen(server, port, 'CONSOLE_PORT')
  const nextUrl = () => `http://${HOST}:${bound}/?token=${sessions.token()}`
  return {
    /** The address that opens the next session. */
    nextUrl,
    close: async () => {
      stopping.abort(cannot('finish', 'the console was stopped'))
      await stop(server)
    },
  }
}
