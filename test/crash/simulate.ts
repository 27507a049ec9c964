import { type Options, say, secondsSince } from '../options.ts'
import { DAY } from '../scenarios.ts'
import { BUGS } from './bugs.ts'
import { plant } from './plant.ts'
import type { Simulation } from './simulation.ts'

export const USAGE = `Simulates the relay and everything around it for a year, in virtual time, and checks what became of every order.

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

type Module = typeof import('./simulation.ts')

const simulationOf = (options: Options, orders: number, days: number): Simulation => ({
  seed: options.number('seed', 1, 2 ** 32),
  orders: options.number('orders', orders),
  days: options.number('days', days),
  only: options.list('only'),
  until: options.text('until') === undefined ? undefined : options.number('until', days),
  without: options.list('without'),
  ...(options.has('verbose') && {
    onStep: (elapsed: number, step: string) =>
      say(`day ${Math.floor(elapsed / DAY)} ${new Date(elapsed).toISOString().slice(11, 23)}  ${step}`),
  }),
})

/** The command that repeats a simulation. */
const commandOf = ({ seed, orders, days, only, until, without }: Simulation) =>
  [
    `npm run proof -- simulate --seed ${seed} --orders ${orders} --days ${days}`,
    ...(only === undefined ? [] : [`--only ${only.join(',')}`]),
    ...(until === undefined ? [] : [`--until ${until}`]),
    ...(without === undefined ? [] : [`--without "${without.join(',')}"`]),
  ].join(' ')

/** Runs it, and makes its failure small where that is asked for. */
const simulateWith = async ({ simulate, shrink }: Module, simulation: Simulation, options: Options) => {
  const began = performance.now()
  const result = await simulate(simulation)
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const figures = {
    seconds: secondsSince(began),
    cpu: Math.round((userCPUTime + systemCPUTime) / 1e6),
    memory: Math.round(maxRSS / 1024),
  }
  if (result.violations.length > 0 && options.has('shrink')) {
    const smallest = await shrink(simulation, result, (tried, fails) =>
      say(`${fails ? '✗' : '✓'} ${commandOf(tried)}`),
    )
    say(`${commandOf(smallest)} --verbose`)
  }
  return { ...figures, ...result }
}

const plantBugs = async (options: Options): Promise<number> => {
  const simulation = simulationOf(options, 2000, 30)
  let missed = 0
  for (const bug of options.named('bug', BUGS)) {
    const module = (await plant(bug)(import.meta.resolve('./simulation.ts'))) as Module
    const { violations, seconds } = await simulateWith(module, simulation, options)
    if (violations.length === 0) missed++
    say(`${bug.name}: ${violations[0] ?? 'NOT FOUND'} (${violations.length} violations, ${seconds} s)`)
  }
  say(`${missed} bugs were not found with seed ${simulation.seed}`)
  return 0
}

export const run = async (options: Options): Promise<number> => {
  if (options.has('bugs') || options.text('bug') !== undefined) return plantBugs(options)
  const simulation = simulationOf(options, 100_000, 365)
  const result = await simulateWith(await import('./simulation.ts'), simulation, options)
  const { violations, ...figures } = { ...simulation, ...result }
  if (options.has('json')) say(JSON.stringify({ ...figures, violations }))
  else {
    say(JSON.stringify(figures, undefined, 2))
    for (const violation of violations.slice(0, 20)) say(`✗ ${violation}`)
    say(`${violations.length} violations in ${figures.seconds} s`)
  }
  return violations.length === 0 ? 0 : 1
}
