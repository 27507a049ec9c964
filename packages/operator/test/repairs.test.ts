import { PassThrough } from 'node:stream'
import { beforeAll, expect, test } from '@jest/globals'
import { environmentOf } from '@order-relay/local/settings.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { writeCredentials } from '@order-relay/test-support/relay.ts'
import { startStack } from '@order-relay/test-support/stack.ts'
import { isRepaired, recordRepair } from '../audit/repairs.ts'
import { createContext } from '../core/context.ts'

let stack: Awaited<ReturnType<typeof startStack>>
const dataDir = useFolder(() => stack.close())
beforeAll(async () => {
  stack = await startStack()
  await writeCredentials(dataDir(), stack.ports)
})

/** A time, in hours. */
const at = (hour: number) => new Date(Date.UTC(2020, 10, 27, hour))

test('a recorded repair is known if its audit began after the last refused webhook and covers the first', async () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const environment = environmentOf({ ports: stack.ports, dataDir: dataDir(), watch: false })
  const context = createContext({ local: true }, { stdin, stdout, stderr, environment })
  const isKnown = (since: number, until: number) =>
    isRepaired(context, { since: at(since), until: at(until), lasts: false })
  try {
    expect(await isKnown(9, 10)).toBe(false)
    await recordRepair(context, { since: at(8), until: at(11) }, 2)
    expect([await isKnown(9, 10), await isKnown(7, 10), await isKnown(9, 12)]).toEqual([true, false, false])
    // Of a shorter period.
    await recordRepair(context, { since: at(11), until: at(12) }, 0)
    expect([await isKnown(9, 10), await isKnown(11, 11.5)]).toEqual([true, true])
  } finally {
    context.close()
  }
})
