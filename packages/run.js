// Runs a script of this project: node packages/run.js <script> [arguments]
//
// The scripts are TypeScript, which Node runs directly since version 24. Uses the Node that runs this file, or the one
// that `npm ci` installed if that is older. npm 11 links it, so that scripts find it as `node`; npm 10 does not.
import { spawn, spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createRequire, runMain } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const fail = reason => {
  process.stderr.write(`Cannot start: ${reason}\n`)
  process.exit(1)
}

const { arch, platform, versions } = process
const system = `${platform === 'win32' ? 'win' : platform}-${arch}`
/** The package of Node for this platform. */
const NODE = system === 'darwin-arm64' ? `node-bin-${system}` : `node-${system}`

const installed = () => {
  const require = createRequire(import.meta.url)
  try {
    const manifest = require.resolve(`${NODE}/package.json`)
    return join(dirname(manifest), require(manifest).bin.node)
  } catch {
    return fail(
      `Node ${versions.node} is older than 24, and the package ${NODE} is not installed; run: npm ci`,
    )
  }
}

const runOnInstalled = args => {
  const node = installed()
  const { npm_execpath: npm, PATH } = process.env
  if (npm !== undefined) spawnSync(process.execPath, [npm, 'rebuild', NODE], { stdio: 'ignore' })
  const child = spawn(node, [...process.execArgv, ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${dirname(node)}${platform === 'win32' ? ';' : ':'}${PATH}` },
  })
  // The terminal also sends Ctrl-C to the child, which decides when to exit.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('error', error => fail(`${error.message}; run: npm ci`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

// A third of the package are headers, which only serve to compile addons, and nothing is compiled.
const headers = new URL(`../node_modules/${NODE}/include`, import.meta.url)
rm(headers, { recursive: true, force: true }).catch(() => undefined)

const [script = '', ...args] = process.argv.slice(2)
if (Number.parseInt(versions.node, 10) >= 24) {
  process.argv.splice(1, 2, resolve(script))
  runMain()
} else runOnInstalled([script, ...args])
