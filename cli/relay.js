#!/usr/bin/env node
// Runs with whatever Node the shell has, and hands over to the project's own: the relay is TypeScript, which
// Node runs as it is from version 24 on.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

const ownNode = () => {
  const require = createRequire(import.meta.url)
  try {
    const manifest = require.resolve('node/package.json')
    return join(dirname(manifest), require(manifest).bin.node)
  } catch {
    process.stderr.write("Cannot start relay: the project's packages are not installed; run: npm ci\n")
    process.exit(1)
  }
}

// Read and compiled once, it starts in a third of the time.
const cache = fileURLToPath(new URL('../node_modules/.cache/relay', import.meta.url))
const child = spawn(ownNode(), [main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { NODE_COMPILE_CACHE: cache, ...process.env },
})

// Ctrl-C reaches the child by itself, and it alone decides when to end.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('error', error => {
  process.stderr.write(`Cannot start relay: ${error.message}; run: npm ci\n`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
