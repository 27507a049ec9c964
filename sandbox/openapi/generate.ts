import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApi } from './document.ts'

const DOCS = join(import.meta.dirname, '..', '..', 'docs')

mkdirSync(DOCS, { recursive: true })
writeFileSync(join(DOCS, 'openapi.json'), `${JSON.stringify(openApi(), null, 2)}\n`)
