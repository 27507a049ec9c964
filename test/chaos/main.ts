import { mkdir, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { BUGS, type Bug } from '../crash/bugs.ts'
import { plant } from '../crash/plant.ts'
import type { Options, Outcome } from './run.ts'

const USAGE = `Plays random orders through the real parts, and compares what the accounting service, the orders table and the
stores hold in the end. Between the parts there are faults on every connection, unless one of these is given:

  --kills N      play them through "npm start" instead, which is killed so many times and started again
  --flood        send webhooks alone, without faults, and check what each costs

  --orders N     number of orders (default: 1000; with --kills 400)
  --seed N       determines orders, faults and kills (default: random; it is printed)
  --only LIST    only these orders, such as 17,230, with the faults that they meet in the whole run
  --strength N   how many times as many faults as usual, from 0 to 10 (default: 1)
  --quick        shorter waits, for a few orders
  --bug TEXT     plant the bug whose name begins with TEXT, see test/crash/bugs.ts; it should be found
  --help         show this help

Writes reports/chaos-<seed>.json.

Exit code: 0 everything agrees, 1 something is violated, 2 this machine is too slow to tell, or usage error.
`

const EXIT_CODES: Record<Outcome['verdict'], number> = { agreed: 0, violated: 1, 'too slow to tell': 2 }

class UsageError extends Error {
  override readonly name = 'UsageError'
}

const print = (text: string) => void process.stdout.write(`${text}\n`)

const WHOLE = /^[1-9]\d{0,9}$/
const number = (option: string, text: string, max: number, pattern = WHOLE): number => {
  if (pattern.test(text) && Number(text) <= max) return Number(text)
  throw new UsageError(`Cannot run: --${option} is "${text}"; use a number up to ${max}`)
}

const bugNamed = (text: string): Bug => {
  const found = BUGS.filter(({ name }) => name.startsWith(text))
  const [bug] = found
  if (bug !== undefined && (found.length === 1 || bug.name === text)) return bug
  const names = BUGS.map(({ name }) => `\n  ${name}`).join('')
  throw new UsageError(`Cannot run: --bug is "${text}"; use the beginning of one of these:${names}`)
}

const parse = () => {
  try {
    return parseArgs({
      options: {
        orders: { type: 'string' },
        seed: { type: 'string', default: String(Math.ceil(Math.random() * 2 ** 31)) },
        only: { type: 'string' },
        strength: { type: 'string', default: '1' },
        kills: { type: 'string' },
        flood: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        bug: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(`Cannot run: ${error instanceof Error ? error.message : error}; see --help`)
  }
}

const main = async (signal: AbortSignal): Promise<number> => {
  const values = parse()
  if (values.help) {
    print(USAGE)
    return 0
  }
  const { quick, flood } = values
  const kills = values.kills === undefined ? 0 : number('kills', values.kills, 100)
  const bug = values.bug === undefined ? undefined : bugNamed(values.bug)
  const options: Options = {
    ...{ kills, flood, quick, signal },
    seed: number('seed', values.seed, 2 ** 32 - 1),
    orders: number('orders', values.orders ?? (kills > 0 ? '400' : '1000'), 99_999),
    only: values.only?.split(',').map(each => number('only', each, 99_999)),
    strength: number('strength', values.strength, 10, /^\d{1,2}(\.\d+)?$/),
    progress: (done, all) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${done} of ${all} orders `)
    },
  }
  const url = import.meta.resolve('./run.ts')
  const { run } = (bug === undefined ? await import(url) : await plant(bug)(url)) as typeof import('./run.ts')
  const { seed, orders, strength } = options
  print(`seed ${seed}, ${orders} orders${bug === undefined ? '' : `, bug: ${bug.name}`}`)
  const { verdict, violations, summary } = await run(options)
  for (const [about, all] of violations) print(`✗ ${about}: ${all.join('; ')}`)
  const file = `reports/chaos-${seed}.json`
  const report = {
    seed,
    orders,
    only: options.only,
    strength,
    kills,
    flood,
    bug: bug?.name,
    verdict,
    ...summary,
  }
  await mkdir('reports', { recursive: true })
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`)
  const { requests, faults, seconds } = summary
  print(`${verdict}: ${requests} requests, ${faults} faults, ${seconds} s; see ${file}`)
  return EXIT_CODES[verdict]
}

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())

process.exitCode = await main(stop.signal).catch((error: unknown) => {
  if (stop.signal.aborted) return 130
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  return 2
})
