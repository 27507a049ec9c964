// One command for what takes longer than a test: npm run proof -- <name> [--help]

import { spawnSync } from 'node:child_process'
import { type Options, readOptions, say, UsageError } from './options.ts'
import { tool } from './tool.ts'

/** A proof: its help, which lists its options, and what it does; returns the exit code. */
type Proof = { USAGE: string; run: (options: Options) => number | Promise<number> }

const NODE = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']

const jest = (args: readonly string[], env = process.env): number =>
  spawnSync(process.execPath, [...NODE, 'node_modules/jest/bin/jest.js', '--verbose', ...args], {
    env,
    stdio: 'inherit',
  }).status ?? 1

/** A test that does more when a variable says so: `--runs 1000` is FUZZ_RUNS=1000. */
const test = (name: string, defaults: object, USAGE: string): Proof => ({
  USAGE,
  run({ given }) {
    const variables = Object.entries({ ...defaults, ...given }).map(([option, value]) => [
      `${name}_${option}`.toUpperCase(),
      String(value),
    ])
    const env = { ...process.env, ...Object.fromEntries(variables) }
    return jest([`test/${name}/${name}.test.ts`], env)
  },
})

const PROOFS: Readonly<Record<string, () => Proof | Promise<Proof>>> = {
  crash: () => import('./crash/main.ts'),
  simulate: () => import('./crash/simulate.ts'),
  chaos: () => import('./chaos/main.ts'),
  flood() {
    process.argv.push('--flood')
    return import('./chaos/main.ts')
  },
  conformance: () =>
    test(
      'conformance',
      { all: 1 },
      'Shows that relay conformance finds each kind of broken store; npm test breaks one for each check.\n',
    ),
  fairness: () => ({
    USAGE:
      'Shows between real parts that a store hardly waits for the import of another (docs/fairness.md).\n',
    run: () => jest(['--testMatch', '**/test/chaos/fairness.ts']),
  }),
  fuzz: () =>
    test(
      'fuzz',
      { runs: 100_000 },
      `Sends hostile input to every trust boundary.

  --runs N      number of inputs in all (default: 100000)
  --seed N      the same inputs again; a failure prints its seed and path
  --path PATH   with --seed and --only: directly to the failure
  --only TEXT   only the boundaries whose names begin with the text
`,
    ),
  timing: () =>
    test(
      'timing',
      { pairs: 3000 },
      `Measures whether the time of verifying a wrong signature tells where it differs from the right one.

  --pairs N     pairs of headers for each comparison (default: 3000)

A comparison that ends at the first difference is measured in the same way, and must be found.
`,
    ),
}

const [name = ''] = process.argv.splice(2, 1)
const run = async (): Promise<number> => {
  // Stryker has its own options.
  if (name === 'mutate')
    return tool('test/mutants', 'stryker', [
      'run',
      'test/mutants/stryker.config.mjs',
      ...process.argv.slice(2),
    ])
  const proof = await PROOFS[name]?.()
  if (proof === undefined)
    throw new UsageError(
      `Cannot run the proof "${name}"; there are ${[...Object.keys(PROOFS), 'mutate'].join(', ')}`,
    )
  const options = readOptions(proof.USAGE)
  if (!options.has('help')) return proof.run(options)
  say(proof.USAGE)
  return 0
}

process.exitCode = await run().catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  return 2
})
