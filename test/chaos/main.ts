import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { BUGS, type Bug } from '../crash/bugs.ts'
import { plant } from '../crash/plant.ts'
import { type Faults, KINDS, LINKS, onlyFaults, randomFaults } from './faults.ts'
import { randomOrder } from './orders.ts'
import { FULL, QUICK } from './pace.ts'
import type { Outcome, Verdict } from './run.ts'
import { type Case, shrink } from './shrink.ts'

const USAGE = `Plays random orders through the real parts, with faults on every connection between them, and compares what
the accounting service, the orders table and the stores hold in the end.

  --orders N     number of orders (default: 1000)
  --seed N       determines orders and faults (default: random; it is printed)
  --strength N   how many times as many faults as usual, from 0 to 10 (default: 1)
  --bug TEXT     plant the bug whose name begins with TEXT, see test/crash/bugs.ts; it should be found
  --again FILE   repeat the smallest case of a report, up to twelve times
  --quick        shorter waits, for a few orders on an idle machine
  --help         show this help

Writes reports/chaos-<seed>.json. When something is violated, the run is repeated with fewer orders and faults for
up to five minutes, and the report contains the smallest case that still fails.

Exit code: 0 everything agrees, 1 something is violated, 2 this machine is too slow to tell, or usage error.
`

const EXIT_CODES = { agreed: 0, violated: 1, 'too slow to tell': 2 } as const satisfies Record<
  Verdict,
  number
>

class UsageError extends Error {
  override readonly name = 'UsageError'
}

const print = (text: string) => void process.stdout.write(`${text}\n`)
/** One line that changes, on a terminal only. */
const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`)
}

const number = (option: string, text: string, pattern: RegExp, max: number): number => {
  if (pattern.test(text) && Number(text) <= max) return Number(text)
  throw new UsageError(`Cannot run: --${option} is "${text}"; use a number up to ${max}`)
}
const WHOLE = /^[1-9]\d{0,9}$/

const bugNamed = (text: string): Bug => {
  const found = BUGS.filter(({ name }) => name.startsWith(text))
  const [bug] = found
  if (bug !== undefined && (found.length === 1 || bug.name === text)) return bug
  const names = BUGS.map(({ name }) => `\n  ${name}`).join('')
  throw new UsageError(`Cannot run: --bug is "${text}"; use the beginning of one of these:${names}`)
}

const report = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({
    seed: v.number(),
    smallest: v.object({
      orders: v.array(v.number()),
      faults: v.array(
        v.object({
          link: v.picklist(LINKS),
          name: v.string(),
          count: v.number(),
          kind: v.picklist(KINDS),
          ms: v.number(),
        }),
      ),
    }),
  }),
)

const smallestOf = async (file: string): Promise<Case> => {
  const text = await readFile(file, 'utf8').catch(() => '')
  const read = v.safeParse(report, text)
  if (!read.success)
    throw new UsageError(`Cannot run: "${file}" has no smallest case; use a report of a violated run`)
  const { seed, smallest } = read.output
  return { orders: smallest.orders.map(each => randomOrder(seed, each)), faults: smallest.faults }
}

const countBy = <Entry>(entries: readonly Entry[], keyOf: (entry: Entry) => string) =>
  Object.fromEntries([...Map.groupBy(entries, keyOf)].map(([key, all]) => [key, all.length]))

const MAX_STORIES = 10

const summaryOf = ({ verdict, violations, found, journal }: Outcome) => ({
  verdict,
  requests: Object.fromEntries(journal.requests),
  faults: {
    byLink: countBy(journal.faults, ({ link }) => link),
    byKind: countBy(journal.faults, ({ kind }) => kind),
  },
  overtaken: journal.overtaken,
  webhooks: {
    sent: journal.webhooks.size,
    outdated: journal.outdated.size,
    swallowed: journal.swallowed.size,
    foundByReconciliation: found,
    forged: journal.forged.size,
  },
  violations: Object.fromEntries(violations),
  tooSlow: Object.fromEntries(journal.tooSlow),
  stories: Object.fromEntries(
    [...violations.keys()].slice(0, MAX_STORIES).map(id => [id, journal.story(id)]),
  ),
})

const printOutcome = ({ verdict, violations, journal }: Outcome) => {
  for (const [about, all] of violations) {
    const slow = journal.tooSlow.get(about)
    print(`✗ ${about}: ${all.join('; ')}${slow === undefined ? '' : ` (${slow})`}`)
  }
  const requests = [...journal.requests.values()].reduce((sum, count) => sum + count, 0)
  print(
    `${verdict}: ${requests} requests, ${journal.faults.length} faults, ${journal.webhooks.size} webhooks`,
  )
}

type Play = (small: {
  orders: Case['orders']
  faults: Faults
  what?: string
  until?: AbortSignal
}) => Promise<Outcome>

/** A race is not lost every time. Most of a small run is waiting, so several run side by side. */
const AT_ONCE = 4
const ROUNDS = 3

const playAgain = async ({ orders, faults }: Case, play: Play): Promise<number> => {
  for (let round = 1; round <= ROUNDS; round++) {
    const once = () => play({ orders, faults: onlyFaults(faults), what: `round ${round} of ${ROUNDS}: ` })
    const outcomes = await Promise.all(Array.from({ length: AT_ONCE }, once))
    const failed = outcomes.toSorted((a, b) => b.verdict.localeCompare(a.verdict))
    const [worst] = failed.filter(({ verdict }) => verdict !== 'agreed')
    if (worst === undefined) continue
    printOutcome(worst)
    return EXIT_CODES[worst.verdict]
  }
  print(`agreed ${ROUNDS * AT_ONCE} times`)
  return EXIT_CODES.agreed
}

const SHRINKING_MS = 5 * 60 * 1000
const triesOf = (orders: number) => (orders <= 3 ? AT_ONCE : orders <= 100 ? 2 : 1)

const smallestCase = async (found: Case, violated: ReadonlySet<string>, play: Play) => {
  const until = AbortSignal.timeout(SHRINKING_MS)
  /** @param share of the tries that must fail: a case that seldom fails is hard to repeat */
  const failsIn =
    (share: number) =>
    async ({ orders, faults }: Case): Promise<boolean> => {
      if (until.aborted) return false
      const what = `shrinking, ${orders.length} orders and ${faults.length} faults: `
      const tries = triesOf(orders.length)
      const once = () => play({ orders, faults: onlyFaults(faults), what, until })
      try {
        const outcomes = await Promise.all(Array.from({ length: tries }, once))
        const failed = outcomes.filter(({ verdict }) => verdict === 'violated').length
        return failed > 0 && failed >= tries * share
      } catch (error) {
        if (until.aborted) return false
        throw error
      }
    }
  return (await shrink(found, violated, failsIn(1 / 2))) ?? (await shrink(found, violated, failsIn(0)))
}

const parse = () => {
  try {
    return parseArgs({
      options: {
        orders: { type: 'string', default: '1000' },
        seed: { type: 'string', default: String(Math.ceil(Math.random() * 2 ** 31)) },
        strength: { type: 'string', default: '1' },
        bug: { type: 'string' },
        again: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(`Cannot run: ${error instanceof Error ? error.message : error}; see --help`)
  }
}

const main = async (signal: AbortSignal): Promise<number> => {
  const options = parse()
  if (options.help) {
    print(USAGE)
    return 0
  }
  const count = number('orders', options.orders, WHOLE, 99_999)
  const seed = number('seed', options.seed, WHOLE, 2 ** 32 - 1)
  const strength = number('strength', options.strength, /^\d{1,2}(\.\d+)?$/, 10)
  const bug = options.bug === undefined ? undefined : bugNamed(options.bug)
  const again = options.again === undefined ? undefined : await smallestOf(options.again)
  const url = import.meta.resolve('./run.ts')
  const { run } = (bug === undefined ? await import(url) : await plant(bug)(url)) as typeof import('./run.ts')
  const play: Play = ({ orders, faults, what = '', until }) =>
    run({
      ...{ orders, faults, speed: options.quick ? QUICK : FULL },
      signal: until === undefined ? signal : AbortSignal.any([signal, until]),
      progress: done => progress(`${what}${done} of ${orders.length} orders `),
    })
  if (again !== undefined) return playAgain(again, play)

  print(`seed ${seed}, ${count} orders, strength ${strength}${bug === undefined ? '' : `, bug: ${bug.name}`}`)
  const orders = Array.from({ length: count }, (_, index) => randomOrder(seed, index + 1))
  const began = performance.now()
  const outcome = await play({ orders, faults: randomFaults(seed, strength) })
  const seconds = Math.round((performance.now() - began) / 1000)
  progress('')
  printOutcome(outcome)
  const smallest =
    outcome.verdict === 'violated'
      ? await smallestCase(
          { orders, faults: outcome.journal.faults },
          new Set(outcome.violations.keys()),
          play,
        )
      : undefined
  progress('')
  const file = `reports/chaos-${seed}.json`
  const content = {
    ...{ seed, orders: count, strength, bug: bug?.name, seconds, ...summaryOf(outcome) },
    smallest: smallest && { ...smallest, orders: smallest.orders.map(({ id }) => Number(id.slice(1))) },
  }
  await mkdir('reports', { recursive: true })
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`)
  if (smallest !== undefined) {
    for (const order of smallest.orders) print(JSON.stringify(order))
    for (const { link, kind, count: nth, name } of smallest.faults)
      print(`  ${link}: ${kind} at request ${nth} of "${name}"`)
  }
  print(`${seconds} s; see ${file}`)
  return EXIT_CODES[outcome.verdict]
}

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())

process.exitCode = await main(stop.signal).catch((error: unknown) => {
  if (stop.signal.aborted) return 130
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  return 2
})
