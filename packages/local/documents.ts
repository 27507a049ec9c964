import { asyncApi } from '@order-relay/contract/asyncapi.ts'
import { feedsPage } from '@order-relay/contract/feeds-page.ts'
import { openApi } from '@order-relay/contract/openapi.ts'
import { apiDocs, DOCS_POLICY } from '@order-relay/web/api-docs.ts'
import type { Gateway } from './gateway.ts'

const docs = apiDocs({
  title: "The stores' API",
  key: 'local-demo-shop',
  links: { '/docs/feeds': 'Feeds: the messages that stores receive' },
})

/**
 * Serves the documents of the stores' interfaces, without a key: `/docs`, `/docs/feeds`, `/openapi.json`,
 * `/asyncapi.json`.
 */
export const serveDocuments = (gateway: Pick<Gateway, 'ext'>): void => {
  const documents: Readonly<Record<string, () => Promise<[type: string, body: string]>>> = {
    '/docs/feeds': async () => ['text/html', await feedsPage(asyncApi())],
    '/openapi.json': async () => ['application/json', JSON.stringify(openApi())],
    '/asyncapi.json': async () => ['application/json', JSON.stringify(asyncApi())],
  }
  gateway.ext('onRequest', async ({ method, url }, h) => {
    if (method !== 'get' || url === null) return h.continue
    const { pathname } = url
    const file = /^\/docs(?:\/(.*))?$/.exec(pathname)
    const found = (await documents[pathname]?.()) ?? (file === null ? undefined : await docs(file[1] ?? ''))
    if (found === undefined) return h.continue
    const [type, body] = found
    const response = h.response(body).type(type).header('content-security-policy', DOCS_POLICY)
    return response.header('x-content-type-options', 'nosniff').takeover()
  })
}
