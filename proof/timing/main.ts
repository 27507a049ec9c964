import { parseArgs } from 'node:util'
import { type Places, race } from './measure.ts'
import { early, ours, type Verifier } from './verifiers.ts'

/** Chance alone gets there once in more than a million times. */
const LIMIT = 5

const USAGE = `Times the verification of wrong signatures: it must not tell where they differ from the right one.

  --pairs N   pairs of headers for each comparison (default: 3000)
  --help      this text

For each pair of places as many headers with a signature that first differs here or there are verified in random
turns, and Student's t says whether the time depends on it: beyond ${LIMIT} it does. A comparison that ends at the
first difference is timed in the same way, and has to be found out.
`

const PLACES: readonly Places[] = [
  [0, 31],
  [0, 63],
  [31, 63],
]

const VERIFIERS: readonly { name: string; verifier: Verifier; tells: boolean }[] = [
  { name: 'order-relay', verifier: ours, tells: false },
  { name: 'a comparison that ends early', verifier: early, tells: true },
]

const say = (line: string) => process.stdout.write(`${line}\n`)

const main = (): boolean => {
  const { values } = parseArgs({
    options: { pairs: { type: 'string', default: '3000' }, help: { type: 'boolean', default: false } },
  })
  if (values.help) {
    say(USAGE)
    return true
  }
  const pairs = Number(values.pairs)
  if (!Number.isInteger(pairs) || pairs < 100) {
    throw new Error(`Cannot measure: --pairs is "${values.pairs}" and must be a whole number from 100 on`)
  }
  let good = true
  for (const { name, verifier, tells } of VERIFIERS) {
    say(name)
    for (const places of PLACES) {
      const { difference, t } = race(verifier, places, pairs)
      const told = Math.abs(t) > LIMIT
      good &&= told === tells
      say(
        `  ${told === tells ? '✓' : '✗'} first differs after ${places[0]} or after ${places[1]} characters: ` +
          `${difference.toFixed(2)} ns apart, t = ${t.toFixed(1)}`,
      )
    }
  }
  return good
}

try {
  process.exitCode = main() ? 0 : 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 2
}
