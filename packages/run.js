// Runs a script of this project: node packages/run.js <script> [arguments]
//
// The scripts are TypeScript, which Node runs directly since version 24. Uses the Node that runs this file, or the one
// that `npm ci` installed if that is older. npm 11 links it, so that scripts find it as `node`; npm 10 does not.
import { spawn, spawnSync } from 'node:child_process'
import { createRequire, runMain } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const fail = reason => {
  process.stderr.write(`Cannot start: ${reason}\n`)
  process.exit(1)
}

/** The package of Node for this platform. */
const installed = () => {
  const { arch, platform, versions } = process
  const system = `${platform === 'win32' ? 'win' : platform}-${arch}`
  const name = system === 'darwin-arm64' ? `node-bin-${system}` : `node-${system}`
  const require = createRequire(import.meta.url)
  try {
    const manifest = require.resolve(`${name}/package.json`)
    return { name, node: join(dirname(manifest), require(manifest).bin.node) }
  } catch {
    return fail(
      `Node ${versions.node} is older than 24, and the package ${name} is not installed; run: npm ci`,
    )
  }
}

const runOnInstalled = args => {
  const { name, node } = installed()
  const { npm_execpath: npm, PATH } = process.env
  if (npm !== undefined) spawnSync(process.execPath, [npm, 'rebuild', name], { stdio: 'ignore' })
  const child = spawn(node, [...process.execArgv, ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${dirname(node)}${process.platform === 'win32' ? ';' : ':'}${PATH}` },
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

const [script = '', ...args] = process.argv.slice(2)
if (Number.parseInt(process.versions.node, 10) >= 24) {
  process.argv.splice(1, 2, resolve(script))
  runMain()
} else runOnInstalled([script, ...args])
