// The command for checks that take longer than tests: npm run proof -- <name> [--help]

import { spawnSync } from 'node:child_process'
import { install, tool } from '../test/tool.ts'
import { proof } from './options.ts'

const jest = (args: readonly string[], variables: Record<string, string> = {}): void => {
  const program = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js', '--verbose']
  const env = { ...process.env, ...variables }
  const { status } = spawnSync(process.execPath, [...program, ...args], { env, stdio: 'inherit' })
  process.exitCode = status ?? 1
}

/** Runs a test with a variable that extends it: `--runs 1000` sets FUZZ_RUNS=1000. */
const test =
  (name: string, ...args: string[]) =>
  (options: object) => {
    const variables = Object.entries(options).map(([option, value]) => [
      `${name}_${option}`.toUpperCase(),
      String(value),
    ])
    jest(
      args.length > 0 ? args : ['--testMatch', `**/proofs/${name}/${name}.test.ts`],
      Object.fromEntries(variables),
    )
  }

const [name = '', ...given] = process.argv.slice(2)

type Proof = { parseAsync: (given: string[], options: { from: 'user' }) => Promise<unknown> }

const PROOFS: Readonly<Record<string, () => Proof | Promise<Proof>>> = {
  crash: async () => (await import('./crash/main.ts')).crash,
  simulate: async () => (await import('./crash/simulate.ts')).simulation,
  chaos: async () => (await import('./chaos/main.ts')).chaos,
  async flood() {
    given.unshift('--flood')
    return (await import('./chaos/main.ts')).chaos
  },
  conformance: () =>
    proof(name, 'Shows that relay conformance finds each kind of broken store.').action(test(name)),
  poison: () =>
    proof(
      name,
      'Shows between real parts that the failing calls of one store do not delay another (docs/fairness.md).',
    ).action(() => jest(['--testMatch', '**/proofs/chaos/poison.ts'])),
  console: () =>
    proof(
      name,
      'Compares every second what the console says with the queues, the table and the service, while faults begin and end.',
    )
      .option('--minutes <n>', 'duration of the outage', '0')
      .action(options => {
        process.exitCode = install('test/chromium')
        if (process.exitCode === 0)
          test(name, '--testMatch', '**/operator/test/console/truth.proof.ts')(options)
      }),
  interleavings: () =>
    proof(
      name,
      'Explores every interleaving of an order with two faults; npm test explores those with one.',
    ).action(() => test(name, 'test/orders/interleavings.test.ts')({ faults: 2 })),
  exact: () =>
    proof(
      name,
      'Runs a store written in Python from the interface document alone, at the sandbox and behind the relay.',
    ).action(() => jest(['--testMatch', '**/proofs/exact/exact.ts'])),
  fuzz: () =>
    proof(name, 'Sends hostile input to every trust boundary.')
      .option('--runs <n>', 'number of inputs in all', '100000')
      .option('--seed <n>', 'the same inputs again; a failure prints its seed and path')
      .option('--path <path>', 'with --seed and --only: directly to the failure')
      .option('--only <text>', 'only the boundaries whose names begin with the text')
      .action(test(name)),
  openapi: () =>
    proof(name, 'Sends requests made from the OpenAPI documents to a relay and to a sandbox.')
      .option('--runs <n>', 'number of requests to each', '3000')
      .option('--seed <n>', 'the same requests again; a failure prints its seed')
      .action(test(name, '--testMatch', '**/proofs/openapi/openapi.ts')),
  timing: () =>
    proof(
      name,
      `Measures whether the time taken to verify a wrong signature reveals where it differs from the right one. A comparison \
that ends at the first difference is measured in the same way, and must be found.`,
    )
      .option('--pairs <n>', 'pairs of headers for each comparison', '3000')
      .action(test(name)),
}

const THERE_ARE = `The proofs are ${[...Object.keys(PROOFS), 'mutate'].join(', ')}.`
const find = PROOFS[name]
// Stryker parses its own options.
if (name === 'mutate')
  process.exitCode = tool('proofs/mutants', 'stryker', ['run', 'proofs/mutants/stryker.config.mjs', ...given])
else if (name === '' || name === '--help')
  console.log(`Usage: npm run proof -- <name> [--help]\n\n${THERE_ARE}`)
else if (find === undefined) {
  console.error(`Cannot run the proof "${name}". ${THERE_ARE}`)
  process.exitCode = 2
} else await (await find()).parseAsync(given, { from: 'user' })
