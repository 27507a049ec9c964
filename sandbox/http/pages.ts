import { join } from 'node:path'
import { POLICY, pageFiles } from '../../web/serve.ts'
import { openApi } from '../openapi/document.ts'
import { documentPage } from '../openapi/page.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Call, Route } from './endpoint.ts'
import { respondBytes } from './respond.ts'

const panelFile = pageFiles(join(import.meta.dirname, '..', 'panel'), {
  ...{ name: 'panel', title: 'Accounting sandbox', base: '/panel/static/' },
  noscript: 'The panel needs JavaScript. The same actions are plain HTTP below /panel/; see /docs.',
})

const file = async (name: string, { context }: Call, headers = {}) => {
  const found = await panelFile(name)
  if (found === undefined) throw new Refusal('not_found', `The file ${quoted(name)} does not exist`)
  return respondBytes(context, 200, ...found, { 'cache-control': 'no-cache', ...headers })
}

const page = (path: string, handle: Route['handle']): Route => ({
  ...{ method: 'get', access: 'local', path, handle },
})

const document = openApi()

/** The panel, its files, and the API documentation as JSON and as a web page. */
export const pages: readonly Route[] = [
  page('/', call => file('index.html', call, { 'content-security-policy': POLICY })),
  page('/panel/static/:path{.+}', call => file(call.context.req.param('path') ?? '', call)),
  page('/openapi.json', () => document),
  page('/docs', async ({ context }) => {
    const examples = { origin: `http://${context.env.incoming.headers.host}`, key: 'sandbox-key' }
    const html = await documentPage(document, examples, { '/': "Accountant's panel" })
    return respondBytes(context, 200, 'text/html; charset=utf-8', html)
  }),
]
