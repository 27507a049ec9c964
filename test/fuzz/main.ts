import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { isPolluted, PROPERTIES } from './properties.ts'

const USAGE = `Sends hostile input to every trust boundary.

  --runs N      how many inputs in all (default: 100000)
  --seed N      the same inputs again (default: random, printed)
  --only TEXT   only the boundaries whose names begin with the text
  --path PATH   with --only and --seed: directly to a failure, as it was printed
`

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    path: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const fuzz = async () => {
  const seed = Number(values.seed)
  const chosen = PROPERTIES.filter(({ name }) => name.startsWith(values.only))
  const shares = chosen.reduce((sum, { share }) => sum + share, 0)
  console.log(`seed ${seed}`)
  for (const { name, share, property } of chosen) {
    const began = performance.now()
    const result = await fc.check(property(), {
      numRuns: Math.ceil((Number(values.runs) * share) / shares),
      seed,
      ...(values.path !== undefined && { path: values.path }),
    })
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    console.log(`${result.failed ? '✗' : '✓'} ${name}: ${result.numRuns} inputs in ${seconds} s`)
    if (!result.failed) continue
    process.exitCode = 1
    console.log(`  repeat with --only '${name}' --seed ${seed} --path '${result.counterexamplePath}'`)
    console.log(await fc.asyncDefaultReportMessage(result), String(result.errorInstance))
  }
  if (!isPolluted()) return
  console.log('✗ Object.prototype was changed')
  process.exitCode = 1
}

if (values.help) console.log(USAGE)
else await fuzz()
