import { join } from 'node:path'
import { apiDocs, DOCS_POLICY } from '../../web/api-docs.ts'
import { POLICY, pageFiles } from '../../web/serve.ts'
import { openApi } from '../openapi/document.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Call, Route } from './endpoint.ts'
import { respondBytes } from './respond.ts'

const panelFile = pageFiles(join(import.meta.dirname, '..', 'panel'), {
  ...{ name: 'panel', title: 'Accounting sandbox', base: '/panel/static/' },
  noscript: 'The panel needs JavaScript. The same actions are plain HTTP below /panel/; see /docs.',
})

const docs = apiDocs({
  title: "The accounting service's API",
  key: 'sandbox-key',
  links: { '/': "Accountant's panel" },
})

const respondWith = (
  found: Awaited<ReturnType<typeof panelFile>>,
  name: string,
  { context }: Call,
  headers = {},
) => {
  if (found === undefined) throw new Refusal('not_found', `The file ${quoted(name)} does not exist`)
  return respondBytes(context, 200, ...found, { 'cache-control': 'no-cache', ...headers })
}

const file = async (name: string, call: Call, headers = {}) =>
  respondWith(await panelFile(name), name, call, headers)

const docsFile = async (name: string, call: Call) =>
  respondWith(await docs(name), name, call, { 'content-security-policy': DOCS_POLICY })

const page = (path: string, handle: Route['handle']): Route => ({
  ...{ method: 'get', access: 'local', path, handle },
})

const document = openApi()

/** The panel, its files, and the API documentation as JSON and as a web page. */
export const pages: readonly Route[] = [
  page('/', call => file('index.html', call, { 'content-security-policy': POLICY })),
  page('/panel/static/:path{.+}', call => file(call.context.req.param('path') ?? '', call)),
  page('/openapi.json', () => document),
  page('/docs', call => docsFile('', call)),
  page('/docs/:path{.+}', call => docsFile(call.context.req.param('path') ?? '', call)),
]
