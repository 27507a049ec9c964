// Runs a handler in a process without a runtime client: node proofs/bench/runtime/loop.ts <file> <size>. Its parent
// sends a count; it handles that many first deliveries and reports CPU milliseconds per delivery.

import * as v from 'valibot'
import { context } from '../../../test/support/lambda.ts'
import { eventOf, type Size } from '../deliveries.ts'

const sizes: Size[] = ['2 KB', '50 KB']
const [file, size] = v.parse(v.tuple([v.string(), v.picklist(sizes)]), process.argv.slice(2))
const { handler } = v.parse(v.looseObject({ handler: v.function() }), await import(file))
const succeeded = v.looseObject({ statusCode: v.literal(200) })

process.on('message', async message => {
  const count = v.parse(v.number(), message)
  const events = Array.from({ length: count }, () => eventOf(size))
  const before = process.cpuUsage()
  for (const event of events) v.parse(succeeded, await handler(event, context()))
  const { user, system } = process.cpuUsage(before)
  process.send?.((user + system) / 1000 / count)
})
