import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { openApi } from '../openapi/document.ts'
import { documentPage } from '../openapi/page.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Call, Route } from './endpoint.ts'
import { respondBytes } from './respond.ts'

const PANEL = join(import.meta.dirname, '..', 'panel')

const HTML = 'text/html; charset=utf-8'

const TYPES: Record<string, string> = {
  '.html': HTML,
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const file = async (path: string, { context }: Call, headers = {}) => {
  const missing = new Refusal('not_found', `The file ${quoted(path)} does not exist`)
  const type = TYPES[extname(path)]
  // Only plain names below the folder: no parent folder, hidden file, drive or NUL.
  const isPlain = path.split('/').every(part => /^[\w-][\w.-]*$/.test(part))
  if (!isPlain || type === undefined) throw missing
  const bytes = await readFile(join(PANEL, path)).catch(() => {
    throw missing
  })
  return respondBytes(context, 200, type, bytes, { 'cache-control': 'no-cache', ...headers })
}

/** The panel loads only its own files, and no other page may frame it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const page = (path: string, handle: Route['handle']): Route => ({
  method: 'get',
  access: 'local',
  path,
  handle,
})

const document = openApi()

/** The panel, its files, and the API documentation as JSON and as a web page. */
export const pages: readonly Route[] = [
  page('/', call => file('index.html', call, { 'content-security-policy': POLICY })),
  page('/panel/static/:path{.+}', call => file(call.context.req.param('path') ?? '', call)),
  page('/openapi.json', () => document),
  page('/docs', async ({ context }) => {
    const origin = `http://${context.env.incoming.headers.host}`
    const examples = { origin, key: 'sandbox-key' }
    return respondBytes(
      context,
      200,
      HTML,
      await documentPage(document, examples, { '/': "Accountant's panel" }),
    )
  }),
]
