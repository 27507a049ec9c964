import { openApi } from '../openapi/document.ts'
import { documentPage } from '../openapi/page.ts'
import { ok } from './answer.ts'
import type { Route } from './router.ts'

/** The OpenAPI document, for programs and for people. */
export const documentRoutes = (): Route[] => {
  const document = openApi()
  return [
    { method: 'GET', path: '/openapi.json', access: 'local', handle: () => ok(document) },
    {
      method: 'GET',
      path: '/docs',
      access: 'local',
      handle: ({ host }) => ({
        status: 200,
        content: { type: 'text/html; charset=utf-8', bytes: documentPage(document, `http://${host}`) },
      }),
    },
  ]
}
