import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { html } from 'hono/html'
import { policyWith } from './serve.ts'

/** A published package contains a copy, since the original depends on a package with a tracking install script. */
const COPY = join(import.meta.dirname, 'swagger-ui')

/** The folder of Swagger UI. */
export const viewerFolder = (): string =>
  existsSync(COPY) ? COPY : join(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css')), '..')

/** The files of Swagger UI that are served. */
export const VIEWER_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const

/** Swagger UI sets styles of elements, and its icons are data. */
export const DOCS_POLICY = policyWith({ 'style-src': "'self' 'unsafe-inline'", 'img-src': "'self' data:" })

type Docs = {
  title: string
  /** The local keys, so that each endpoint can be tried. */
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

/**
 * The document at `/openapi.json` as a web page, by Swagger UI. It loads nothing from other origins.
 *
 * @returns the type and content of a file below `/docs/`; the page itself for an empty name
 */
export const apiDocs = (docs: Docs) => {
  const ofSwagger = (name: string) => readFile(join(viewerFolder(), name), 'utf8')
  const files: Readonly<Record<string, readonly [type: string, content: (name: string) => unknown]>> = {
    '': ['html', () => page(docs)],
    'start.js': ['javascript', () => start(docs.key)],
    'swagger-ui-bundle.js': ['javascript', ofSwagger],
    'swagger-ui.css': ['css', ofSwagger],
  }
  return async (name: string): Promise<[type: string, content: string] | undefined> => {
    const [type, content] = (Object.hasOwn(files, name) && files[name]) || []
    return content && [`text/${type}; charset=utf-8`, String(await content(name))]
  }
}
