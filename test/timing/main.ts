import { parseArgs } from 'node:util'
import { leaky, ours, type Places, race } from './race.ts'

/** Chance alone reaches this t less than once in a million times. */
const LIMIT = 5

const USAGE = `Measures whether the time of verifying a wrong signature tells where it differs from the right one.

  --pairs N   pairs of headers for each comparison (default: 3000)

A comparison that ends at the first difference is measured in the same way, and must be found. Writes JSON.
`

const { values } = parseArgs({
  options: { pairs: { type: 'string', default: '3000' }, help: { type: 'boolean', default: false } },
})
const pairs = Number(values.pairs)
const PLACES: readonly Places[] = [
  [0, 31],
  [0, 63],
  [31, 63],
]

const measure = () =>
  [
    { name: 'order-relay', verifier: ours, leaks: false },
    { name: 'a comparison that ends early', verifier: leaky, leaks: true },
  ].flatMap(({ name, verifier, leaks }) =>
    PLACES.map(places => {
      const { difference, t } = race(verifier, places, pairs)
      const isExpected = Math.abs(t) > LIMIT === leaks
      return { name, places, nanoseconds: Number(difference.toFixed(2)), t: Number(t.toFixed(1)), isExpected }
    }),
  )

if (values.help) console.log(USAGE)
else if (!Number.isInteger(pairs) || pairs < 100) {
  console.error(`Cannot measure: --pairs is "${values.pairs}"; give a whole number of 100 or more`)
  process.exitCode = 2
} else {
  const results = measure()
  for (const result of results) console.log(JSON.stringify(result))
  process.exitCode = results.every(({ isExpected }) => isExpected) ? 0 : 1
}
