import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApi as sandboxApi } from 'order-relay-sandbox/src/openapi/document.ts'
import { asyncApi } from './asyncapi.ts'
import { openApi } from './openapi.ts'

const DOCUMENTS = {
  'openapi.json': sandboxApi(),
  'relay.openapi.json': openApi(),
  'feeds.asyncapi.json': asyncApi(),
}

/** The documents by their file in docs/. */
export const documents = () =>
  Object.entries(DOCUMENTS).map(([name, document]) => ({
    path: join(import.meta.dirname, '../../docs', name),
    text: `${JSON.stringify(document, null, 2)}\n`,
  }))

if (import.meta.main) for (const { path, text } of documents()) writeFileSync(path, text)
