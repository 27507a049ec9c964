import '../quiet.ts'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { isPolluted, PROPERTIES } from './properties.ts'

const USAGE = `Throws hostile input at every trust boundary.

  --cases N   how many in all (default: 100000)
  --seed N    the same cases again (default: another one each time; it is printed)
  --path P    with --only and --seed: straight to a failure, as it was printed
  --only T    only the boundary whose name begins with T
  --help      this text
`

const say = (line: string) => process.stdout.write(`${line}\n`)

const main = async (): Promise<boolean> => {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      path: { type: 'string' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    say(USAGE)
    return true
  }
  const seed = Number(values.seed)
  const chosen = PROPERTIES.filter(({ name }) => name.startsWith(values.only))
  const shares = chosen.reduce((sum, { share }) => sum + share, 0)
  say(`seed ${seed}`)
  let good = true
  for (const { name, share, property } of chosen) {
    const numRuns = Math.ceil((Number(values.cases) * share) / shares)
    const began = performance.now()
    const result = await fc.check(property(), {
      numRuns,
      seed,
      ...(values.path !== undefined && { path: values.path }),
    })
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    say(`${result.failed ? '✗' : '✓'} ${name}: ${result.numRuns} cases in ${seconds} s`)
    if (result.failed) {
      good = false
      say(`  again with: --only '${name}' --seed ${seed} --path '${result.counterexamplePath}'`)
      say(await fc.asyncDefaultReportMessage(result))
      say(String(result.errorInstance))
    }
  }
  if (isPolluted()) say('✗ something was written into Object.prototype')
  return good && !isPolluted()
}

process.exitCode = (await main()) ? 0 : 1
