#!/usr/bin/env node
// Plain JavaScript, so that an older Node prints the requirements instead of a syntax error.
const version = process.versions.node
const [major = 0, minor = 0] = version.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 20)) {
  process.stderr.write(`Cannot start the sandbox: this is Node ${version}; install Node 22.20 or later\n`)
  process.exitCode = 1
} else {
  const { run } = await import('./main.ts')
  await run()
}
