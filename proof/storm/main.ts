import '../quiet.ts'
import { mkdir, writeFile } from 'node:fs/promises'
import { argumentsFrom, toFile, UsageError } from './arguments.ts'
import { only, type Weather, weatherOf } from './faults.ts'
import { type Life, lifeOf } from './lives.ts'
import { FULL, QUICK } from './pace.ts'
import { stories, told, toldSmall } from './report.ts'
import { type Storm, storm, type Verdict, verdictOf } from './run.ts'
import { type Small, shrink } from './shrink.ts'

const USAGE = `Random lives of orders through the real parts, with a proxy between every two that breaks things.

  --orders N     how many orders live (default: 1000)
  --seed N       what happens follows from it (default: another one each time; it is printed)
  --strength N   how many times as many faults as usual (default: 1)
  --bug TEXT     with a planted bug, see docs/storm.md: it should be found
  --again FILE   the small case that an earlier storm has written, up to twelve times
  --quick        everything waits half as long, as in npm test
  --help         this text

When an order ends wrong, what happened to it is written to reports/storm-<seed>.log. Then the storm is made again
with fewer orders and fewer faults, for five minutes at most, and the smallest that still goes wrong is written to
reports/storm-<seed>.json.

Ends with 0 when everything agrees, with 1 when not, and with 2 when this machine is too slow to tell.
`

const AGREED = 0
const WRONG = 1
const UNTOLD = 2
const INTERRUPTED = 130

const say = (...lines: string[]) => process.stdout.write(lines.map(line => `${line}\n`).join(''))

/** One line that changes, on a terminal only. */
const progress = (line: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line}`)
}

const EXITS = { agreed: AGREED, wrong: WRONG, 'too slow to tell': UNTOLD } as const satisfies Record<
  Verdict,
  number
>

const judge = (result: Storm): number => {
  const verdict = verdictOf(result)
  if (verdict === 'agreed')
    say('✓ service, table and store agree on every order; nothing is lost, nothing was registered twice')
  if (verdict === 'too slow to tell')
    say('? this machine was too slow to tell whether that is a defect: storm again when less is going on')
  return EXITS[verdict]
}

type Asked = Awaited<ReturnType<typeof argumentsFrom>>
type Blow = (small: {
  lives: readonly Life[]
  weather: Weather
  what?: string
  until?: AbortSignal
}) => Promise<Storm>

/** A race is not lost every time. Most of a small storm is waiting, so several are made side by side. */
const SIDE_BY_SIDE = 6
const ROUNDS = 2

const makeAgain = async ({ lives, faults }: Small, blow: Blow): Promise<number> => {
  for (let round = 1; round <= ROUNDS; round++) {
    const what = `${round} of ${ROUNDS} times ${SIDE_BY_SIDE}: `
    const make = () => blow({ lives, weather: only(faults), what })
    const results = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, make))
    const [worst] = (['wrong', 'too slow to tell'] as const).flatMap(verdict =>
      results.filter(result => verdictOf(result) === verdict),
    )
    if (worst === undefined) continue
    say(...told(worst))
    return judge(worst)
  }
  say(`✓ ${ROUNDS * SIDE_BY_SIDE} times everything agreed`)
  return AGREED
}

const SHRINKING_MS = 5 * 60 * 1000
/** How large a part of the tries has to go wrong; what does so seldom is better than nothing, but hard to make again. */
const OFTEN = 1 / 2
const EVER = Number.MIN_VALUE
const triesOf = (orders: number) => (orders <= 3 ? SIDE_BY_SIDE : orders <= 100 ? SIDE_BY_SIDE / 2 : 1)

const makeSmall = async (
  found: Small,
  complained: ReadonlySet<string>,
  blow: Blow,
): Promise<Small | undefined> => {
  const until = AbortSignal.timeout(SHRINKING_MS)
  const goesWrong =
    (part: number) =>
    async ({ lives, faults }: Small): Promise<boolean> => {
      if (until.aborted) return false
      const what = `making it small: ${lives.length} orders, ${faults.length} faults: `
      const tries = triesOf(lives.length)
      const make = () => blow({ lives, weather: only(faults), what, until })
      try {
        const all = await Promise.all(Array.from({ length: tries }, make))
        return all.filter(each => verdictOf(each) === 'wrong').length >= tries * part
      } catch (error) {
        if (until.aborted) return false
        throw error
      }
    }
  return (
    (await shrink(found, complained, goesWrong(OFTEN))) ?? (await shrink(found, complained, goesWrong(EVER)))
  )
}

const makeWhole = async ({ orders, seed, strength, planted, quick }: Asked, blow: Blow): Promise<number> => {
  say(`seed ${seed}, ${orders} orders, strength ${strength}${planted ? `, with a bug: ${planted.name}` : ''}`)
  const lives = Array.from({ length: orders }, (_, index) => lifeOf(seed, index + 1))
  const began = performance.now()
  const result = await blow({ lives, weather: weatherOf(seed, strength) })
  progress('')
  say(...told(result), `in ${Math.round((performance.now() - began) / 1000)} s`)
  const end = judge(result)
  if (end === AGREED) return end

  const file = `reports/storm-${seed}`
  await mkdir('reports', { recursive: true })
  await writeFile(`${file}.log`, stories(result))
  say(`What happened to these orders is in ${file}.log`)
  if (end === UNTOLD) return end

  const found = { lives, faults: result.journal.faults }
  const smallest = await makeSmall(found, new Set(result.complaints.keys()), blow)
  progress('')
  if (smallest === undefined) {
    say('No smaller storm went wrong: it hangs on more than what struck')
    return end
  }
  await writeFile(`${file}.json`, toFile(seed, smallest))
  const options = [...(quick ? ['--quick'] : []), ...(planted ? [`--bug "${planted.name}"`] : [])]
  say('The smallest storm that goes wrong:', ...toldSmall(smallest))
  say(`again with: ${['npm run proof:storm -- --again', `${file}.json`, ...options].join(' ')}`)
  return end
}

const main = async (signal: AbortSignal): Promise<number> => {
  const asked = await argumentsFrom(process.argv.slice(2))
  const { planted, again, quick, help } = asked
  if (help) {
    say(USAGE)
    return AGREED
  }
  const blow: Blow = ({ lives, weather, what = '', until }) =>
    storm({
      ...{ lives, weather, pace: quick ? QUICK : FULL },
      ...(planted && { bug: planted.bug }),
      signal: until === undefined ? signal : AbortSignal.any([signal, until]),
      progress: over => progress(`${what}${over} of ${lives.length} orders `),
    })
  return again === undefined ? makeWhole(asked, blow) : makeAgain(again, blow)
}

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())

process.exitCode = await main(stop.signal).catch((error: unknown) => {
  if (stop.signal.aborted) {
    process.stderr.write('\nstopped\n')
    return INTERRUPTED
  }
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  return UNTOLD
})
