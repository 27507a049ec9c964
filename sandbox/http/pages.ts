import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle } from '../../web/bundle.ts'
import { openApi } from '../openapi/document.ts'
import { documentPage } from '../openapi/page.ts'
import { quoted, Refusal } from '../refusal.ts'
import type { Call, Route } from './endpoint.ts'
import { respondBytes } from './respond.ts'

const PANEL = join(import.meta.dirname, '..', 'panel')

const HTML = 'text/html; charset=utf-8'

/** The files of the panel by name, with their types. */
const panelFiles = async (): Promise<
  Record<string, [type: string, content: string | Uint8Array<ArrayBuffer>]>
> => {
  const { script, style } = await bundle(join(PANEL, 'main.tsx'))
  return {
    'index.html': [HTML, await readFile(join(PANEL, 'index.html'))],
    'icon.svg': ['image/svg+xml', await readFile(join(PANEL, 'icon.svg'))],
    'panel.js': ['text/javascript; charset=utf-8', script],
    'panel.css': ['text/css; charset=utf-8', style],
  }
}

/** Built for the first request, since most processes with a sandbox never show its panel. */
let building: ReturnType<typeof panelFiles> | undefined

const file = async (name: string, { context }: Call, headers = {}) => {
  building ??= panelFiles()
  const found = Object.entries(await building).find(([each]) => each === name)?.[1]
  if (found === undefined) throw new Refusal('not_found', `The file ${quoted(name)} does not exist`)
  return respondBytes(context, 200, ...found, { 'cache-control': 'no-cache', ...headers })
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
