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
  --again FILE   the small case that an earlier storm has written, up to five times
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

/** A race need not be lost every time. */
const AGAIN = 5
/** How often a small storm is made before it is thought to be well; most of it is waiting, so side by side. */
const triesOf = ({ lives }: Small) => (lives.length <= 3 ? 6 : 3)
const SHRINKING_MS = 5 * 60 * 1000

const main = async (signal: AbortSignal): Promise<number> => {
  const { orders, seed, strength, planted, again, quick, help } = await argumentsFrom(process.argv.slice(2))
  if (help) {
    say(USAGE)
    return AGREED
  }
  const bug = planted && { bug: planted.bug }
  const blow = (lives: readonly Life[], weather: Weather, what = '') =>
    storm({
      ...{ lives, weather, pace: quick ? QUICK : FULL, signal, ...bug },
      progress: over => progress(`${what}${over} of ${lives.length} orders `),
    })

  if (again !== undefined) {
    for (let count = 1; count <= AGAIN; count++) {
      const result = await blow(again.lives, only(again.faults), `${count} of ${AGAIN} times: `)
      if (result.complaints.size === 0) continue
      say(...told(result))
      return judge(result)
    }
    say(`✓ ${AGAIN} times everything agreed`)
    return AGREED
  }

  say(`seed ${seed}, ${orders} orders, strength ${strength}${planted ? `, with a bug: ${planted.name}` : ''}`)
  const lives = Array.from({ length: orders }, (_, index) => lifeOf(seed, index + 1))
  const began = performance.now()
  const result = await blow(lives, weatherOf(seed, strength))
  progress('')
  say(...told(result), `in ${Math.round((performance.now() - began) / 1000)} s`)
  const end = judge(result)
  if (end === AGREED) return end
  await mkdir('reports', { recursive: true })
  await writeFile(`reports/storm-${seed}.log`, stories(result))
  say(`What happened to these orders is in reports/storm-${seed}.log`)
  return end === WRONG ? makeSmall() : end

  async function makeSmall() {
    const until = performance.now() + SHRINKING_MS
    const goesWrong = async (small: Small) => {
      const size = `making it small: ${small.lives.length} orders, ${small.faults.length} faults: `
      if (performance.now() > until) return false
      const storms = Array.from({ length: triesOf(small) }, () => blow(small.lives, only(small.faults), size))
      return (await Promise.all(storms)).some(each => verdictOf(each) === 'wrong')
    }
    const found = { lives, faults: result.journal.faults }
    const smallest = await shrink(found, new Set(result.complaints.keys()), goesWrong)
    progress('')
    if (smallest === undefined) {
      say('It goes wrong in no smaller storm: it hangs on more than what struck')
      return WRONG
    }
    const file = `reports/storm-${seed}.json`
    await writeFile(file, toFile(seed, smallest))
    say('The smallest storm that goes wrong:', ...toldSmall(smallest))
    say(`again with: npm run proof:storm -- --again ${file}${planted ? ` --bug "${planted.name}"` : ''}`)
    return WRONG
  }
}

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())

const ended = await main(stop.signal).catch((error: unknown) => {
  if (stop.signal.aborted) {
    process.stderr.write('\nstopped\n')
    return INTERRUPTED
  }
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  return UNTOLD
})
// A life that was broken off may still be waiting for something.
process.exit(ended)
