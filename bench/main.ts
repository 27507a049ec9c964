import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { promisify } from 'node:util'
import { createContext, type Part } from './context.ts'
import { machine } from './machine.ts'
import { calls, cost } from './parts/calls.ts'
import { coldstart } from './parts/coldstart.ts'
import { cpu } from './parts/cpu.ts'
import { fairness } from './parts/fairness.ts'
import { growth } from './parts/growth.ts'
import { sandbox } from './parts/sandbox.ts'
import { size } from './parts/size.ts'
import { warm } from './parts/warm.ts'
import { worker } from './parts/worker.ts'
import { installRuntimeClient } from './runtime/ric.ts'
import { type Target, table } from './targets.ts'

const PARTS: Readonly<Record<string, Part>> = {
  coldstart,
  cpu,
  warm,
  calls,
  worker,
  size,
  sandbox,
  cost,
  growth,
  fairness,
}

const USAGE = `Measures the relay beside what one would build instead.

  npm run bench                    every part
  npm run bench -- coldstart cpu   these parts, of ${Object.keys(PARTS).join(', ')}
  npm run bench -- install         AWS's runtime client for all measurements (needs cmake and g++; minutes)

Prints the results as JSON, then each target and whether it is met. The exit code is 1 when one is missed.
`

/** Installs what the peers bundle, when there is none of it or the lock file has changed. */
const installPeers = async (): Promise<void> => {
  const installed = statSync('bench/peers/node_modules/.package-lock.json', { throwIfNoEntry: false })
  if (installed !== undefined && installed.mtimeMs >= statSync('bench/peers/package-lock.json').mtimeMs)
    return
  console.error('installing the peers')
  await promisify(execFile)('npm', ['ci', '--prefix', 'bench/peers'])
}

const run = async (names: readonly string[]): Promise<boolean> => {
  await installPeers()
  const found: Record<string, unknown> = { machine: machine() }
  const targets: Target[] = []
  const context = await createContext()
  try {
    for (const name of names) {
      console.error(`measuring ${name}`)
      const part = await PARTS[name]?.(context)
      found[name] = part?.results
      targets.push(...(part?.targets ?? []))
    }
  } finally {
    await context.close()
  }
  console.log(JSON.stringify({ ...found, targets }, undefined, 2))
  console.log(table(targets))
  return targets.every(({ met }) => met)
}

const wanted = process.argv.slice(2)
const unknown = wanted.find(name => name !== 'install' && !(name in PARTS))
if (wanted.includes('--help')) console.log(USAGE)
else if (unknown !== undefined) {
  console.error(`Cannot run "${unknown}": the parts are ${Object.keys(PARTS).join(', ')}`)
  process.exitCode = 2
} else if (wanted.includes('install')) await installRuntimeClient()
else process.exitCode = (await run(wanted.length > 0 ? wanted : Object.keys(PARTS))) ? 0 : 1
