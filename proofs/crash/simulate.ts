import { DAY } from '../../test/support/scenarios.ts'
import { commaSeparated, partOf, proof, say, secondsSince, upTo } from '../options.ts'
import { BUGS, type Bug } from './bugs.ts'
import type { Simulation } from './plan.ts'
import { load } from './plant.ts'

// Stack traces of expected errors would take a tenth of the time.
Error.stackTraceLimit = 0

const onStep = (elapsed: number, step: string) =>
  say(`day ${Math.floor(elapsed / DAY)} ${new Date(elapsed).toISOString().slice(11, 23)}  ${step}`)

/** The command that repeats a simulation. */
const commandOf = ({ seed, orders, days, only, until, without }: Simulation) =>
  [
    `npm run proof -- simulate --seed ${seed} --orders ${orders} --days ${days}`,
    ...(only === undefined ? [] : [`--only ${only.join(',')}`]),
    ...(until === undefined ? [] : [`--until ${until}`]),
    ...(without === undefined ? [] : [`--without "${without.join(',')}"`]),
  ].join(' ')

/** Runs it, with a bug or without, and makes its failure small where that is asked for. */
const run = async (simulation: Simulation, shrinks: boolean, bug?: Bug) => {
  const { simulate, shrink } = await load<typeof import('./simulation.ts')>(
    import.meta.resolve('./simulation.ts'),
    bug,
  )
  const began = performance.now()
  const result = await simulate(simulation)
  const seconds = secondsSince(began)
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  if (result.violations.length > 0 && shrinks) {
    const onTry = (tried: Simulation, fails: boolean) => say(`${fails ? '✗' : '✓'} ${commandOf(tried)}`)
    say(`${commandOf(await shrink(simulation, result, onTry))} --verbose`)
  }
  const cpu = Math.round((userCPUTime + systemCPUTime) / 1e6)
  return { seconds, cpu, memory: Math.round(maxRSS / 1024), ...result }
}

export const simulation = proof(
  'simulate',
  'Simulates the relay and everything around it for a year, in virtual time, and checks what became of every order.',
)
  .option('--seed <n>', 'every choice depends on it', upTo(2 ** 32), 1)
  .option(
    '--orders <n>',
    'how many orders the three stores have (default: 100000; 2000 with bugs)',
    upTo(1e9),
  )
  .option('--days <n>', 'over how many days they begin (default: 365; 30 with bugs)', upTo(1e9))
  .option('--only <orders>', 'only these orders, comma-separated: 100001,100002', commaSeparated)
  .option('--until <day>', 'only what begins before this day', upTo(1e9))
  .option('--without <kinds>', 'without these kinds of faults, comma-separated', commaSeparated)
  .option('--shrink', 'make a failure small')
  .option('--verbose', 'write every call, log line and incident')
  .option('--bugs', 'plant the known bugs instead, one after the other')
  .option('--bug <text>', 'only the bugs whose names contain the text', partOf(BUGS))
  .action(async ({ bugs, bug = bugs ? BUGS : [], shrink = false, verbose, orders, days, ...choices }) => {
    const planting = bug.length > 0
    const asked: Simulation = {
      ...{ ...choices, orders: orders ?? (planting ? 2000 : 100_000), days: days ?? (planting ? 30 : 365) },
      ...(verbose && { onStep }),
    }
    for (const each of bug) {
      const { violations, seconds } = await run(asked, shrink, each)
      say(`${each.name}: ${violations[0] ?? 'NOT FOUND'} (${violations.length} violations, ${seconds} s)`)
    }
    if (planting) return
    const { violations, ...figures } = await run(asked, shrink)
    say(JSON.stringify({ ...asked, ...figures }, undefined, 2))
    for (const violation of violations.slice(0, 20)) say(`✗ ${violation}`)
    say(`${violations.length} violations in ${figures.seconds} s`)
    process.exitCode = violations.length === 0 ? 0 : 1
  })
