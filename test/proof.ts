// One command for what takes longer than a test: npm run proof -- <name> [--help]

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { tool } from './tool.ts'

/** Tests that make more runs when a variable says so: `--runs 1000` is FUZZ_RUNS=1000. */
const TESTS = {
  fuzz: `Sends hostile input to every trust boundary.

  --runs N      number of inputs in all (default: 100000)
  --seed N      the same inputs again; a failure prints its seed and path
  --path PATH   with --seed and --only: directly to the failure
  --only TEXT   only the boundaries whose names begin with the text
`,
  timing: `Measures whether the time of verifying a wrong signature tells where it differs from the right one.

  --pairs N     pairs of headers for each comparison (default: 3000)

A comparison that ends at the first difference is measured in the same way, and must be found.
`,
}

const NODE = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']

const runTests = (name: keyof typeof TESTS, defaults: Record<string, string>) => {
  const options = Object.fromEntries(
    [...TESTS[name].matchAll(/--(\w+) [A-Z]/g)].map(([, option = '']) => [
      option,
      { type: 'string' as const },
    ]),
  )
  const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
  if (values.help) return console.log(TESTS[name])
  const variables = Object.entries({ ...defaults, ...values }).map(([option, value]) => [
    `${name}_${option}`.toUpperCase(),
    String(value),
  ])
  const env = { ...process.env, ...Object.fromEntries(variables) }
  const args = [...NODE, 'node_modules/jest/bin/jest.js', '--verbose', `test/${name}/${name}.test.ts`]
  process.exitCode = spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1
}

const PROOFS: Readonly<Record<string, () => unknown>> = {
  crash: () => import('./crash/main.ts'),
  simulate: () => import('./crash/simulate.ts'),
  chaos: () => import('./chaos/main.ts'),
  flood() {
    process.argv.push('--flood')
    return import('./chaos/main.ts')
  },
  fuzz: () => runTests('fuzz', { runs: '100000' }),
  timing: () => runTests('timing', { pairs: '3000' }),
  mutate: () => {
    const config = 'test/mutants/stryker.config.mjs'
    process.exitCode = tool('test/mutants', 'stryker', ['run', config, ...process.argv.slice(2)])
  },
}

const [name = ''] = process.argv.splice(2, 1)
const proof = PROOFS[name]
if (proof === undefined) {
  console.error(`Cannot run the proof "${name}"; there are ${Object.keys(PROOFS).join(', ')}`)
  process.exit(2)
}
await proof()
