import { afterEach, expect, jest, test } from '@jest/globals'
import { asks, inReview, lifeOf } from './lives.ts'
import { type Relay, startRelay, type Trouble } from './relay.ts'
import { soon } from './soon.ts'

const MINUTE = 60_000

let relay: Relay

afterEach(async () => {
  await relay.close()
  jest.restoreAllMocks()
})

const throttled: Trouble = (_link, name) =>
  /^(GetItem|PutItem|UpdateItem|Query) /.test(name) ? 'throttle' : undefined

test('while DynamoDB is throttled all is accepted again later, and in the end nothing is missing', async () => {
  relay = await startRelay()
  const lives = [lifeOf('o00001', 'shop', { returns: true }), lifeOf('o00002', 'web')]
  const [shop, web] = lives
  if (shop === undefined || web === undefined) throw new Error('Cannot begin: no lives')
  for (const life of lives) await inReview(relay, life)

  relay.suffers(throttled)
  for (const { source, id } of lives) expect(await relay.sandbox.mend(source, id)).toBe(true)
  expect(await asks(relay, shop, 'refund')).toBe(202)
  expect(await relay.ask('GET', 'web', `${web.id}/`)).toBe(503)
  await soon(() => relay.alarms.rang('deliveries-not-kept') !== undefined)
  for (let passed = 0; passed <= 60; passed += 15) {
    await relay.work()
    relay.pass(15 * MINUTE)
  }
  expect(relay.alarms.all()).toEqual(['deliveries-not-kept', 'line-stuck', 'requests-not-kept'])

  relay.recovers()
  await relay.settle(lives)
  expect(await relay.complaints(lives)).toEqual([])
})
