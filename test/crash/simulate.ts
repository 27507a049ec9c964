import { parseArgs } from 'node:util'
import { DAY } from '../scenarios.ts'
import { BUGS } from './bugs.ts'
import { plant } from './plant.ts'
import type { Simulated, Simulation } from './simulation.ts'

const USAGE = `Simulates the relay and everything around it for a year, in virtual time, and checks what became of every order.

  --seed N          every choice depends on it (default: 1)
  --orders N        how many orders the three stores have (default: 100000)
  --days N          over how many days they begin (default: 365)
  --only ORDERS     only these orders, comma-separated: 100001,100002
  --until DAY       only what begins before this day
  --without KINDS   without these kinds of faults, comma-separated
  --shrink          make a failure small
  --verbose         write every call, log line and incident
  --bugs            plant the known bugs instead, one after the other
  --bug TEXT        only the bugs whose names contain the text
  --json            write the result as JSON
`

// Stack traces of expected errors would take a tenth of the time.
Error.stackTraceLimit = 0

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    orders: { type: 'string' },
    days: { type: 'string' },
    only: { type: 'string' },
    until: { type: 'string' },
    without: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    bugs: { type: 'boolean', default: false },
    bug: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const say = (line: string) => void process.stdout.write(`${line}\n`)
const isBugs = values.bugs || values.bug !== undefined
const simulation: Simulation = {
  seed: Number(values.seed),
  orders: Number(values.orders ?? (isBugs ? 2000 : 100_000)),
  days: Number(values.days ?? (isBugs ? 30 : 365)),
  only: values.only?.split(','),
  until: values.until === undefined ? undefined : Number(values.until),
  without: values.without?.split(','),
  ...(values.verbose && {
    onStep: (elapsed: number, step: string) =>
      say(`day ${Math.floor(elapsed / DAY)} ${new Date(elapsed).toISOString().slice(11, 23)}  ${step}`),
  }),
}

/** The command that repeats a simulation. */
const commandOf = ({ seed, orders, days, only, until, without }: Simulation) =>
  [
    `npm run proof -- simulate --seed ${seed} --orders ${orders} --days ${days}`,
    ...(only === undefined ? [] : [`--only ${only.join(',')}`]),
    ...(until === undefined ? [] : [`--until ${until}`]),
    ...(without === undefined ? [] : [`--without "${without.join(',')}"`]),
  ].join(' ')

const secondsSince = (began: number) => Math.round((performance.now() - began) / 100) / 10

const makeSmall = async (module: typeof import('./simulation.ts'), result: Simulated) => {
  const smallest = await module.shrink(simulation, result, (tried, fails) =>
    say(`${fails ? '✗' : '✓'} ${commandOf(tried)}`),
  )
  say(`${commandOf(smallest)} --verbose`)
}

const runOne = async () => {
  const module = await import('./simulation.ts')
  const began = performance.now()
  const result = await module.simulate(simulation)
  const seconds = secondsSince(began)
  const { violations, counts, ...figures } = result
  const memory = Math.round(process.resourceUsage().maxRSS / 1024)
  const all = { ...simulation, seconds, memory, ...figures }
  if (values.json) say(JSON.stringify({ ...all, counts, violations }))
  else {
    say(JSON.stringify({ ...all, counts }, undefined, 2))
    for (const violation of violations.slice(0, 20)) say(`✗ ${violation}`)
    say(`${violations.length} violations in ${seconds} s`)
  }
  process.exitCode = violations.length === 0 ? 0 : 1
  if (violations.length > 0 && values.shrink) await makeSmall(module, result)
}

const plantBugs = async () => {
  let missed = 0
  for (const bug of BUGS.filter(({ name }) => name.includes(values.bug ?? ''))) {
    const began = performance.now()
    const url = import.meta.resolve('./simulation.ts')
    const module = (await plant(bug)(url)) as typeof import('./simulation.ts')
    const result = await module.simulate(simulation)
    const { violations } = result
    if (violations.length === 0) missed++
    say(
      `${bug.name}: ${violations[0] ?? 'NOT FOUND'} (${violations.length} violations, ${secondsSince(began)} s)`,
    )
    if (violations.length > 0 && values.shrink) await makeSmall(module, result)
  }
  say(`${missed} bugs were not found with seed ${simulation.seed}`)
}

if (values.help) say(USAGE)
else if (isBugs) await plantBugs()
else await runOne()
