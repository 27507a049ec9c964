import { mkdir, writeFile } from 'node:fs/promises'
import { BUGS } from '../crash/bugs.ts'
import { load } from '../crash/plant.ts'
import { commaSeparated, partOf, proof, say, upTo } from '../options.ts'
import type { Verdict } from './run.ts'

const EXIT_CODES: Record<Verdict, number> = { agreed: 0, violated: 1, 'too slow to tell': 2 }

export const chaos = proof(
  'chaos',
  `Plays random orders through the real parts, and compares what the accounting service, the orders table and the \
stores hold in the end. Between the parts there are faults on every connection, except with --kills or --flood. \
Writes reports/chaos-<seed>.json.

Exit code: 0 everything agrees, 1 something is violated, 2 this machine is too slow to tell, or usage error.`,
)
  .option('--kills <n>', 'run them through "npm start", which is killed this many times', upTo(100), 0)
  .option('--flood', 'send webhooks alone, without faults, and check what each costs', false)
  .option('--orders <n>', 'number of orders (default: 1000; with --kills 400)', upTo(99_999))
  .option(
    '--seed <n>',
    'determines orders, faults and kills (default: random; it is printed)',
    upTo(2 ** 32 - 1),
  )
  .option('--only <list>', 'only these orders, such as 17,230, with the same faults', text =>
    commaSeparated(text).map(upTo(99_999)),
  )
  .option('--strength <n>', 'how many times as many faults as usual', upTo(10), 1)
  .option('--quick', 'shorter waits, for a few orders', false)
  .option(
    '--bug <text>',
    'plant the bug of proofs/crash/bugs.ts with this name; it should be found',
    partOf(BUGS),
  )
  .action(async ({ bug: [bug] = [], only, ...given }) => {
    const settings = {
      seed: Math.ceil(Math.random() * 2 ** 31),
      orders: given.kills > 0 ? 400 : 1000,
      ...given,
      only,
    }
    const stop = new AbortController()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
    const url = import.meta.resolve('./run.ts')
    const { run: playAll } = await load<typeof import('./run.ts')>(url, bug)
    const { seed, orders } = settings
    say(`seed ${seed}, ${orders} orders${bug === undefined ? '' : `, bug: ${bug.name}`}`)
    try {
      const outcome = await playAll({ ...settings, signal: stop.signal })
      for (const [about, all] of Object.entries(outcome.violations)) say(`✗ ${about}: ${all.join('; ')}`)
      const file = `reports/chaos-${seed}.json`
      await mkdir('reports', { recursive: true })
      await writeFile(file, `${JSON.stringify({ ...settings, bug: bug?.name, ...outcome }, null, 2)}\n`)
      const { verdict, requests, faults, seconds } = outcome
      say(`${verdict}: ${requests} requests, ${faults} faults, ${seconds} s; see ${file}`)
      process.exitCode = EXIT_CODES[verdict]
    } catch (error) {
      if (!stop.signal.aborted) throw error
      process.exitCode = 130
    }
  })
