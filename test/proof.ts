// One command for what takes longer than a test: npm run proof -- <name> [--help]

import { tool } from './tool.ts'

const PROOFS: Readonly<Record<string, () => unknown>> = {
  crash: () => import('./crash/main.ts'),
  simulate: () => import('./crash/simulate.ts'),
  chaos: () => import('./chaos/main.ts'),
  flood: () => import('./chaos/flood.ts'),
  fuzz: () => import('./fuzz/main.ts'),
  timing: () => import('./timing/main.ts'),
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
