import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { foreignHeader } from '@order-relay/web/foreign.ts'
import { Refusal, withDecimals, withFields } from './http.ts'

/** A route of wc/v3, by method and path. */
export type Route = readonly [
  method: string,
  path: RegExp,
  answer: (query: URLSearchParams, body: Record<string, unknown>, ids: string[]) => unknown,
]

type Shop = {
  /** The first matching route answers. */
  routes: readonly Route[]
  /** @throws Refusal */
  authenticate: (method: string, url: URL) => void
  /** Whether the shop is in maintenance mode. */
  isClosed: () => boolean
  page: () => string
  /** Places an order, for the page's button. */
  order: () => void
}

/** Serves a shop's API and page on 127.0.0.1. */
export const startServer = async (port: number, { routes, authenticate, isClosed, page, order }: Shop) => {
  let requests = 0

  const handle = async (request: IncomingMessage) => {
    requests++
    const { method = 'GET', headers } = request
    const url = new URL(request.url ?? '/', `http://${headers.host}`)
    const body = await text(request)
    if (isClosed()) throw new Refusal(503, 'maintenance', { 'retry-after': '600' })
    authenticate(method, url)
    const path = url.pathname.replace('/wp-json/wc/v3/', '')
    for (const [verb, pattern, answer] of routes) {
      const match = verb === method ? pattern.exec(path) : null
      if (match === null) continue
      const result = await answer(url.searchParams, body === '' ? {} : JSON.parse(body), match.slice(1))
      if (result === undefined) throw new Refusal(404, 'woocommerce_rest_invalid_id')
      return {
        status: method === 'POST' ? 201 : 200,
        json: withDecimals(withFields(result, url.searchParams.get('_fields')), url.searchParams.get('dp')),
      }
    }
    throw new Refusal(404, 'rest_no_route')
  }

  const server = createServer(async (request, response) => {
    if (foreignHeader(request.headers) !== undefined) return response.writeHead(403).end()
    if (request.method === 'GET' && request.url === '/')
      return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page())
    if (request.method === 'POST' && request.url === '/order') {
      order()
      return response.writeHead(303, { location: '/' }).end()
    }
    const answer = await handle(request).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
      const { status, code, headers } = error
      return { status, json: { code, message: code, data: { status } }, headers }
    })
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      ...('headers' in answer ? answer.headers : {}),
    })
    return response.end(JSON.stringify(answer.json))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests: () => requests,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
