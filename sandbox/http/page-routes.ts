import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { quoted, Refusal } from '../refusal.ts'
import type { Answer } from './answer.ts'
import type { Route } from './router.ts'

const PANEL = join(import.meta.dirname, '..', 'panel')

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

const missing = (path: string) => new Refusal('not_found', `The file ${quoted(path)} does not exist`)

const file = async (path: string): Promise<Answer> => {
  // Only plain names below the folder: no parent, no hidden file, no drive, no NUL.
  if (!path.split('/').every(part => /^[\w-][\w.-]*$/.test(part))) throw missing(path)
  const type = TYPES[extname(path)]
  if (type === undefined) throw missing(path)
  const bytes = await readFile(join(PANEL, path)).catch(() => {
    throw missing(path)
  })
  return { status: 200, headers: { 'cache-control': 'no-cache' }, content: { type, bytes } }
}

/** All that the panel needs is its own, and no other page may lay itself over it. */
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

const page = async (): Promise<Answer> => {
  const answer = await file('index.html')
  return { ...answer, headers: { ...answer.headers, 'content-security-policy': POLICY } }
}

/** The panel page and its files. */
export const pageRoutes: Route[] = [
  { method: 'GET', path: '/', access: 'local', handle: page },
  {
    method: 'GET',
    path: '/panel/static/*',
    access: 'local',
    handle: ({ parameters }) => file(parameters['*'] ?? ''),
  },
]
