// Runs the handler of a bundle and answers with what CPU time it takes: node bench/cpu-child.ts <file> <size>.
// Asked by its parent to run so many deliveries, it answers with the microseconds of one.

import * as v from 'valibot'
import { eventOf, SIZES } from './deliveries.ts'

const [file, size] = v.parse(
  v.tuple([v.string(), v.picklist(Object.keys(SIZES) as (keyof typeof SIZES)[])]),
  process.argv.slice(2),
)
const { handler } = v.parse(v.looseObject({ handler: v.function() }), await import(file))

const context = {
  awsRequestId: 'bench',
  functionName: 'bench',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:bench',
  memoryLimitInMB: '512',
  getRemainingTimeInMillis: () => 9000,
}

const run = async (deliveries: number): Promise<number> => {
  const events = Array.from({ length: deliveries }, () => eventOf(size))
  const before = process.cpuUsage()
  for (const event of events) {
    const { statusCode } = v.parse(v.looseObject({ statusCode: v.number() }), await handler(event, context))
    if (statusCode !== 200) throw new Error(`Cannot measure: the handler answered ${statusCode}`)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / deliveries
}

process.on('message', async deliveries => {
  process.send?.(await run(v.parse(v.number(), deliveries)))
})
