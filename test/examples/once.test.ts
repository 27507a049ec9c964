import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Once } from 'order-relay-store'
import { orderUpdated } from 'order-relay-store/testing'
import { useFolder } from '../support/folder.ts'
import { ROOT } from '../support/project.ts'

const folder = useFolder()
const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeEach(() => void process.on('unhandledRejection', note))
afterEach(() => void process.off('unhandledRejection', note))

const asynchronous = async () => {
  throw new Error('The database is unavailable')
}

test.each(['once.mjs', 'once.ts'])(
  'examples/%s refuses an asynchronous handle, whose message stays unhandled',
  async name => {
    const { onceIn }: { onceIn: (place: string) => Once } = await import(join(ROOT, 'examples', name))
    const once = onceIn(folder(name))
    const message = orderUpdated({ external_id: '1001' })
    await expect(once(message, asynchronous)).rejects.toThrow('it must be synchronous')
    await turn()
    expect(unhandled).toEqual([])
    expect(await once(message, () => undefined)).toBe(true)
    expect(await once(message, () => undefined)).toBe(false)
  },
)

test('examples/exact-once.mjs refuses an asynchronous handle, whose message stays unhandled', async () => {
  const { onceIn } = await import(join(ROOT, 'examples/exact-once.mjs'))
  const once = onceIn(folder('exact'))
  const message = { delivery: '1' }
  expect(() => once(message, asynchronous)).toThrow('it must be synchronous')
  await turn()
  expect(unhandled).toEqual([])
  const handled: unknown[] = []
  for (const _ of ['first', 'repeated']) once(message, () => handled.push(message))
  expect(handled).toEqual([message])
})
