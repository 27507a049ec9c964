// Validates docs/feeds.asyncapi.json with AsyncAPI's own parser.
import { readFileSync } from 'node:fs'
import { Parser } from '@asyncapi/parser'

const file = new URL('../../docs/feeds.asyncapi.json', import.meta.url)
const diagnostics = await new Parser().validate(readFileSync(file, 'utf8'))
for (const { message, path } of diagnostics) console.log(`${path.join('.')}: ${message}`)
process.exitCode = diagnostics.some(({ severity }) => severity <= 1) ? 1 : 0
