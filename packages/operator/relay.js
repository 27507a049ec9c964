#!/usr/bin/env node
// Runs on Node 20 or later and hands over to Node 24 or later, which runs the relay's TypeScript directly.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// npx links this file's path once for each checkout, so the file stays here: moved, `npx relay` would not be found.
const main = fileURLToPath(new URL('./main.ts', import.meta.url))

const fail = reason => {
  process.stderr.write(`Cannot start relay: ${reason}\n`)
  process.exit(1)
}

/** The Node that runs this file, if it is recent enough, otherwise the one that package.json pins for this platform. */
const findNode = () => {
  const { arch, platform, versions } = process
  if (Number.parseInt(versions.node, 10) >= 24) return process.execPath
  const system = `${platform === 'win32' ? 'win' : platform}-${arch}`
  const name = system === 'darwin-arm64' ? `node-bin-${system}` : `node-${system}`
  try {
    const require = createRequire(import.meta.url)
    const manifest = require.resolve(`${name}/package.json`)
    return join(dirname(manifest), require(manifest).bin.node)
  } catch {
    return fail(
      `Node ${versions.node} is older than 24, and the package ${name} is not installed; run: npm ci`,
    )
  }
}

// With its compiled code kept, it starts in a third of the time.
const cache = fileURLToPath(new URL('../../node_modules/.cache/relay', import.meta.url))
const child = spawn(findNode(), [main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { NODE_COMPILE_CACHE: cache, ...process.env },
})

// The terminal sends Ctrl-C to the child as well, which alone decides when to exit.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('error', error => fail(`${error.message}; run: npm ci`))
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
