import { mkdir, writeFile } from 'node:fs/promises'
import { BUGS } from '../crash/bugs.ts'
import { plant } from '../crash/plant.ts'
import { type Options, say } from '../options.ts'
import type { Outcome, Settings } from './run.ts'

export const USAGE = `Plays random orders through the real parts, and compares what the accounting service, the orders table and the
stores hold in the end. Between the parts there are faults on every connection, unless one of these is given:

  --kills N      play them through "npm start" instead, which is killed so many times and started again
  --flood        send webhooks alone, without faults, and check what each costs

  --orders N     number of orders (default: 1000; with --kills 400)
  --seed N       determines orders, faults and kills (default: random; it is printed)
  --only LIST    only these orders, such as 17,230, with the faults that they meet in the whole run
  --strength N   how many times as many faults as usual, from 0 to 10 (default: 1)
  --quick        shorter waits, for a few orders
  --bug TEXT     plant the bug whose name contains TEXT, see test/crash/bugs.ts; it should be found

Writes reports/chaos-<seed>.json.

Exit code: 0 everything agrees, 1 something is violated, 2 this machine is too slow to tell, or usage error.
`

const EXIT_CODES: Record<Outcome['verdict'], number> = { agreed: 0, violated: 1, 'too slow to tell': 2 }

const play = async (options: Options, signal: AbortSignal): Promise<number> => {
  const kills = options.number('kills', 0, 100)
  const [bug] = options.text('bug') === undefined ? [] : options.named('bug', BUGS)
  const settings = {
    kills,
    flood: options.has('flood'),
    quick: options.has('quick'),
    seed: options.number('seed', Math.ceil(Math.random() * 2 ** 31), 2 ** 32 - 1),
    orders: options.number('orders', kills > 0 ? 400 : 1000, 99_999),
    only: options.numbers('only', 99_999),
    strength: options.number('strength', 1, 10),
  } satisfies Partial<Settings>
  const progress = (done: number, all: number) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${done} of ${all} orders `)
  }
  const url = import.meta.resolve('./run.ts')
  const { run: playAll } = (await (bug === undefined
    ? import(url)
    : plant(bug)(url))) as typeof import('./run.ts')
  const { seed, orders } = settings
  say(`seed ${seed}, ${orders} orders${bug === undefined ? '' : `, bug: ${bug.name}`}`)
  const { verdict, violations, summary } = await playAll({ ...settings, progress, signal })
  for (const [about, all] of violations) say(`✗ ${about}: ${all.join('; ')}`)
  const file = `reports/chaos-${seed}.json`
  await mkdir('reports', { recursive: true })
  await writeFile(file, `${JSON.stringify({ ...settings, bug: bug?.name, verdict, ...summary }, null, 2)}\n`)
  const { requests, faults, seconds } = summary
  say(`${verdict}: ${requests} requests, ${faults} faults, ${seconds} s; see ${file}`)
  return EXIT_CODES[verdict]
}

export const run = async (options: Options): Promise<number> => {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return play(options, stop.signal).catch((error: unknown) => {
    if (stop.signal.aborted) return 130
    throw error
  })
}
