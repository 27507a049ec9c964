#!/usr/bin/env node
// `relay`, on any Node from 20 on.
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

// With its compiled code kept, it starts in a third of the time.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/relay', import.meta.url))
module.enableCompileCache?.()
process.argv.splice(2, 0, fileURLToPath(new URL('./main.ts', import.meta.url)))
await import('../run.js')
