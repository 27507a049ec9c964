import { afterEach, expect, jest, test } from '@jest/globals'
import { until } from '../support/until.ts'
import { asks, inReview, lifeOf } from './lives.ts'
import { withRelay } from './relay.ts'

const MINUTE = 60_000

afterEach(() => {
  jest.restoreAllMocks()
})

test('with a key that the service refuses orders wait, and the right key is used without a deployment', () =>
  withRelay(async relay => {
    const shop = lifeOf('o00001', 'shop', { returns: true })
    const web = lifeOf('o00002', 'web')
    const lives = [shop, web]
    await inReview(relay, shop)

    // The service has taken the key back, and nobody has told the relay.
    await relay.keep('accounting-key', 'a-key-of-yesterday')
    relay.pass(5 * MINUTE)
    await relay.sandbox.stock(web.id, 0)
    expect(await asks(relay, web, 'create')).toBe(202)
    expect(await asks(relay, web, 'payment')).toBe(202)
    expect(await relay.sandbox.mend('shop', shop.id)).toBe(true)
    await until(async () =>
      (await relay.sandbox.webhooks(shop.id)).every(({ state }) => state === 'delivered'),
    )
    await relay.work()
    // What needs no answer of the service goes on: the store hears what the webhook says.
    expect(relay.ears.of(shop.id).at(-1)).toMatchObject({ data: { status: 'paid' } })
    expect(await relay.ask('GET', 'shop', `${shop.id}/`)).toBe(200)
    expect(await asks(relay, shop, 'refund')).toBe(202)
    for (let passed = 0; passed < 60; passed += 15) {
      await relay.work()
      relay.pass(15 * MINUTE)
    }
    expect(await relay.sandbox.truth('web', web.id)).toBeUndefined()
    expect(relay.alarms.all()).toEqual(['line-stuck', 'service-unauthorized'])
    expect(relay.alarms.rang('service-unauthorized')).toBeLessThan(6 * MINUTE)

    await relay.keep('accounting-key', 'sandbox-key')
    relay.pass(5 * MINUTE)
    await relay.settle([shop])
    expect(await relay.sandbox.mend('web', web.id)).toBe(true)
    await relay.settle(lives)
    expect(await relay.complaints(lives)).toEqual([])
  }))
