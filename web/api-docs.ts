import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { html } from 'hono/html'
import { policyWith } from './serve.ts'

/** Swagger UI sets styles of elements, and its icons are data. */
export const DOCS_POLICY = policyWith({ 'style-src': "'self' 'unsafe-inline'", 'img-src': "'self' data:" })

type Docs = {
  title: string
  /** What the endpoints accept on this machine, so that each can be tried. */
  key: string
  /** Other pages: their titles by address. */
  links: Readonly<Record<string, string>>
}

const page = ({ title, links }: Docs) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/start.js" defer></script>
</head>
<body>
<nav class="swagger-ui"><p class="wrapper">${Object.entries(links).map(
  ([address, label]) => html`<a class="link" href="${address}">${label}</a> · `,
)}<a class="link" href="/openapi.json">OpenAPI document</a></p></nav>
<div id="docs"></div>
</body>
</html>
`

const start = (key: string) => `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  onComplete: () => ui.preauthorizeApiKey('key', ${JSON.stringify(key)}),
})
`

const contentOf = (url: string) => readFile(fileURLToPath(url), 'utf8')

/**
 * The document at `/openapi.json` as a web page, by Swagger UI. It loads nothing from elsewhere.
 *
 * @returns the type and content of a file below `/docs/`; the page itself for an empty name
 */
export const apiDocs = (docs: Docs) => {
  const files: Readonly<Record<string, () => Promise<[type: string, content: string]>>> = {
    '': async () => ['text/html; charset=utf-8', String(await page(docs))],
    'start.js': async () => ['text/javascript; charset=utf-8', start(docs.key)],
    'swagger-ui-bundle.js': async () => [
      'text/javascript; charset=utf-8',
      await contentOf(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    ],
    'swagger-ui.css': async () => [
      'text/css; charset=utf-8',
      await contentOf(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
    ],
  }
  return async (name: string) => (Object.hasOwn(files, name) ? files[name]?.() : undefined)
}
