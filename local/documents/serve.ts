import { documentPage } from '../../sandbox/openapi/page.ts'
import type { Gateway } from '../gateway.ts'
import { asyncApi } from './asyncapi.ts'
import { openApi } from './openapi.ts'

const JSON_TYPE = 'application/json'
const LINKS = { '/asyncapi.json': 'AsyncAPI 3.1 document of the feeds' }

/**
 * Serves the documents of the stores' interfaces, without a key: `/docs`, `/openapi.json`, `/asyncapi.json`.
 *
 * @param origin where the gateway listens, for the examples
 */
export const serveDocuments = (gateway: Gateway, origin: string): void => {
  const examples = { origin, key: 'local-demo-shop' }
  const pages: Readonly<Record<string, () => Promise<[type: string, body: string]>>> = {
    '/docs': async () => ['text/html', await documentPage(openApi(), examples, LINKS, asyncApi())],
    '/openapi.json': async () => [JSON_TYPE, JSON.stringify(openApi())],
    '/asyncapi.json': async () => [JSON_TYPE, JSON.stringify(asyncApi())],
  }
  gateway.ext('onRequest', async (request, h) => {
    const page = request.method === 'get' ? pages[request.url.pathname] : undefined
    if (page === undefined) return h.continue
    const [type, body] = await page()
    return h.response(body).type(type).takeover()
  })
}
