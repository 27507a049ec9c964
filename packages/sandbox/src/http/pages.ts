import { apiDocs, DOCS_POLICY } from '@order-relay/web/api-docs.ts'
import { POLICY } from '@order-relay/web/serve.ts'
import { openApi } from '../openapi/document.ts'
import { panelFile } from '../panel-files.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { EndpointRequest, Route } from './endpoint.ts'
import { respondBytes } from './respond.ts'

const docs = apiDocs({
  title: "The accounting service's API",
  key: 'sandbox-key',
  links: { '/': "Accountant's panel" },
})

const respondWith = (
  found: Awaited<ReturnType<typeof panelFile>>,
  name: string,
  { context }: EndpointRequest,
  headers = {},
) => {
  if (found === undefined) throw new Refusal('not_found', `The file ${quoted(name)} does not exist`)
  return respondBytes(context, 200, ...found, { 'cache-control': 'no-cache', ...headers })
}

/** The panel's HTML. It names the accounting time zone, whose days the panel uses. */
const panel = async (request: EndpointRequest) => {
  const name = 'index.html'
  const [type = '', html = ''] = (await panelFile(name)) ?? []
  const zoned = String(html).replace('<html', `<html data-time-zone="${request.store.clock.timeZone}"`)
  return respondWith([type, zoned], name, request, { 'content-security-policy': POLICY })
}

const file = async (name: string, request: EndpointRequest) =>
  respondWith(await panelFile(name), name, request)

const docsFile = async (name: string, request: EndpointRequest) =>
  respondWith(await docs(name), name, request, { 'content-security-policy': DOCS_POLICY })

const page = (path: string, handle: Route['handle']): Route => ({
  method: 'get',
  access: 'local',
  path,
  handle,
})

const document = openApi()

/** The panel, its files, and the API documentation as JSON and as a web page. */
export const pages: readonly Route[] = [
  page('/', panel),
  page('/panel/static/:path{.+}', request => file(request.context.req.param('path') ?? '', request)),
  page('/openapi.json', () => document),
  page('/docs', request => docsFile('', request)),
  page('/docs/:path{.+}', request => docsFile(request.context.req.param('path') ?? '', request)),
]
