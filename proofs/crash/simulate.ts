import { DAY } from '../../test/support/scenarios.ts'
import { commaSeparated, proof, say, secondsSince, upTo } from '../options.ts'
import { simulate } from './simulation.ts'

// Stack traces of expected errors would cost a tenth of the time.
Error.stackTraceLimit = 0

const onStep = (elapsed: number, step: string) =>
  say(`day ${Math.floor(elapsed / DAY)} ${new Date(elapsed).toISOString().slice(11, 23)}  ${step}`)

export const simulation = proof(
  'simulate',
  'Simulates the relay and everything around it for a year, in virtual time, and checks what became of every order.',
)
  .option('--seed <n>', 'every choice depends on it', upTo(2 ** 32), 1)
  .option('--orders <n>', 'number of orders of the three stores', upTo(1e9), 100_000)
  .option('--days <n>', 'number of days over which they begin', upTo(1e9), 365)
  .option('--only <orders>', 'only these orders, comma-separated: 100001,100002', commaSeparated)
  .option('--until <day>', 'only what begins before this day', upTo(1e9))
  .option('--without <kinds>', 'without these kinds of faults, comma-separated', commaSeparated)
  .option('--verbose', 'write every call, log line and incident')
  .action(async ({ verbose, ...choices }) => {
    const began = performance.now()
    const { violations, ...found } = await simulate({ ...choices, ...(verbose && { onStep }) })
    const seconds = secondsSince(began)
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
    const [cpu, memory] = [Math.round((userCPUTime + systemCPUTime) / 1e6), Math.round(maxRSS / 1024)]
    say(JSON.stringify({ ...choices, seconds, cpu, memory, ...found }, undefined, 2))
    for (const violation of violations.slice(0, 20)) say(`✗ ${violation}`)
    say(`${violations.length} violations in ${seconds} s`)
    process.exitCode = violations.length === 0 ? 0 : 1
  })
