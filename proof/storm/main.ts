import '../quiet.ts'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { BUGS } from '../crash/bugs.ts'
import type { StormBug } from './assemble.ts'
import { type Fault, KINDS, LINKS, MEANING, only, type Weather, weatherOf } from './faults.ts'
import { type Life, lifeOf } from './lives.ts'
import { FULL } from './pace.ts'
import { type Storm, storm } from './run.ts'
import { type Small, shrink } from './shrink.ts'

const USAGE = `Random lives of orders through the real parts, with a proxy between every two that breaks things.

  --orders N     how many orders live (default: 1000)
  --seed N       what happens follows from it (default: another one each time; it is printed)
  --strength N   how many times as many faults as usual (default: 1)
  --bug TEXT     with a planted bug, see docs/proof.md: it should be found
  --again FILE   the small case that an earlier storm has written
  --help         this text

When an order ends wrong, the storm is made again with fewer orders and fewer faults, and the smallest that
still goes wrong is written to storm-<seed>.json.
`

const say = (line: string) => process.stdout.write(`${line}\n`)

const progress = (over: number) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${over} orders `)
}

const small = v.object({
  seed: v.number(),
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
})

const bugNamed = (text: string): StormBug => {
  const found = Object.entries(BUGS).find(([name]) => name.startsWith(text))
  if (found === undefined)
    throw new Error(`Cannot plant "${text}": the bugs are ${Object.keys(BUGS).join(', ')}`)
  return found[1]
}

const tell = ({ complaints, journal }: Storm) => {
  for (const [about, wrong] of complaints) say(`✗ ${about}: ${wrong.join('; ')}`)
  const requests = [...journal.requests.values()].reduce((sum, count) => sum + count, 0)
  say(`${requests} requests, ${journal.faults.length} of them struck:`)
  for (const [kind, faults] of Map.groupBy(journal.faults, fault => fault.kind))
    say(`  ${String(faults.length).padStart(5)} ${kind}: ${MEANING[kind]}`)
}

const tellSmall = ({ lives, faults }: Small) => {
  for (const life of lives) say(JSON.stringify(life))
  for (const { link, name, count, kind, ms } of faults)
    say(
      `  ${link}: ${kind} at request ${count} of "${name}"${kind === 'delay' || kind === 'late' ? `, ${ms} ms` : ''}`,
    )
}

const TRIES = 2

const main = async (): Promise<boolean> => {
  const { values } = parseArgs({
    options: {
      orders: { type: 'string', default: '1000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      strength: { type: 'string', default: '1' },
      bug: { type: 'string' },
      again: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    say(USAGE)
    return true
  }
  const bug = values.bug === undefined ? undefined : bugNamed(values.bug)
  const blow = (lives: readonly Life[], weather: Weather) =>
    storm({ lives, weather, pace: FULL, progress, ...(bug !== undefined && { bug }) })

  if (values.again !== undefined) {
    const { seed, orders, faults } = v.parse(small, JSON.parse(await readFile(values.again, 'utf8')))
    const again = await blow(
      orders.map(number => lifeOf(seed, number)),
      only(faults),
    )
    tell(again)
    return again.complaints.size === 0
  }

  const seed = Number(values.seed)
  say(`seed ${seed}, ${values.orders} orders`)
  const lives = Array.from({ length: Number(values.orders) }, (_, index) => lifeOf(seed, index + 1))
  const began = performance.now()
  const result = await blow(lives, weatherOf(seed, Number(values.strength)))
  tell(result)
  say(`in ${Math.round((performance.now() - began) / 1000)} s`)
  if (result.complaints.size === 0) {
    say('✓ service, table and store agree on every order; nothing was registered twice')
    return true
  }
  const goesWrong = async ({ lives, faults }: { lives: readonly Life[]; faults: readonly Fault[] }) => {
    for (let tries = 0; tries < TRIES; tries++)
      if ((await blow(lives, only(faults))).complaints.size > 0) return true
    return false
  }
  const found = { lives, faults: result.journal.faults }
  const smallest = await shrink(found, new Set(result.complaints.keys()), goesWrong)
  say('The smallest storm that goes wrong:')
  tellSmall(smallest)
  const file = `storm-${seed}.json`
  const orders = smallest.lives.map(({ id }) => Number(id.slice(1)))
  await writeFile(file, JSON.stringify({ seed, orders, faults: smallest.faults }, null, 2))
  say(`again with: npm run proof:storm -- --again ${file}`)
  return false
}

process.exitCode = (await main()) ? 0 : 1
