#!/usr/bin/env node
import { unsupported } from './node-version.js'

if (unsupported === undefined) {
  const { run } = await import('./main.ts')
  await run()
} else {
  process.stderr.write(`${unsupported}\n`)
  process.exitCode = 1
}
