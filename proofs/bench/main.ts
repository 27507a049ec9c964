import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { install } from '../../test/tool.ts'
import { createContext, type Part, type Target } from './context.ts'
import { calls, cost } from './parts/calls.ts'
import { operatorConsole } from './parts/console.ts'
import { sandbox } from './parts/sandbox.ts'
import { coldstart, cpu, warm, worker } from './parts/speed.ts'
import { runtimeClient } from './runtime/function.ts'

const PARTS: Readonly<Record<string, Part>> = {
  coldstart,
  cpu,
  warm,
  calls,
  worker,
  sandbox,
  console: operatorConsole,
  cost,
}

const USAGE = `Measures the relay against the usual alternatives.

  npm run bench                    every part
  npm run bench -- coldstart cpu   these parts, of ${Object.keys(PARTS).join(', ')}
  npm run bench -- install         AWS's runtime client for all measurements (needs cmake, g++ and make; minutes)

Prints the results as JSON, then each target and whether it is met. The exit code is 1 when one is missed.
`

const version = (folder: string) => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version

/** The environment of the benchmark, without the name of the machine. */
const machine = () => ({
  date: new Date().toISOString().slice(0, 10),
  processor: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`,
  system: `${process.platform} ${process.arch}`,
  /** The load average; more than the number of processors means that the machine was busy. */
  load: loadavg().map(value => Number(value.toFixed(1))),
  node: process.versions.node,
  runtimeClient: runtimeClient() && version('proofs/bench/runtime/node_modules/aws-lambda-ric'),
  sdk: version('node_modules/@aws-sdk/client-sqs'),
  powertools: version('proofs/bench/peers/node_modules/@aws-lambda-powertools/idempotency'),
})

const run = async (names: readonly string[]): Promise<number> => {
  const code = install('proofs/bench/peers')
  if (code !== 0) return code
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
  console.table(targets)
  return targets.every(({ met }) => met) ? 0 : 1
}

const wanted = process.argv.slice(2)
const unknown = wanted.find(name => name !== 'install' && !(name in PARTS))
if (wanted.includes('--help')) console.log(USAGE)
else if (unknown !== undefined) {
  console.error(`Cannot run "${unknown}": the parts are ${Object.keys(PARTS).join(', ')}`)
  process.exitCode = 2
} else
  process.exitCode = wanted.includes('install')
    ? install('proofs/bench/runtime')
    : await run(wanted.length > 0 ? wanted : Object.keys(PARTS))
