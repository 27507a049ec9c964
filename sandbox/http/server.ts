import { createServer, type IncomingMessage, type Server } from 'node:http'
import { requireAccess } from './access.ts'
import { type Answer, send } from './answer.ts'
import { jsonBody } from './body.ts'
import { refused } from './refusals.ts'
import { type Route, router } from './router.ts'

/** Longer than clients keep a connection: one closed by us while they write to it is an error to them. */
const KEEP_ALIVE_MS = 65_000

const answering = (routes: readonly Route[]) => {
  const find = router(routes)
  return async (request: IncomingMessage): Promise<Answer> => {
    const { method = 'GET', url = '/', headers } = request
    const [path = '', query = ''] = url.split(/\?(.*)/s)
    const { route, parameters } = find(method, path)
    requireAccess(headers, route.access)
    const body = route.method === 'GET' ? undefined : await jsonBody(request)
    return route.handle({ host: headers.host ?? '', parameters, query: new URLSearchParams(query), body })
  }
}

/** An HTTP server of these routes, not yet listening. */
export const httpServer = (routes: readonly Route[]): Server => {
  const answer = answering(routes)
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answer(request)
      .catch(refused)
      .then(found => send(found, request, response))
      .catch(error => {
        // The caller hung up, or an answer could not be written.
        console.error(error)
        response.destroy()
      })
  })
}
