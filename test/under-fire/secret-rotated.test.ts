import { afterEach, expect, jest, test } from '@jest/globals'
import { until } from '../support/until.ts'
import { inReview, lifeOf } from './lives.ts'
import { withRelay } from './relay.ts'

const MINUTE = 60_000

afterEach(() => {
  jest.restoreAllMocks()
})

test('a secret that nobody told the relay rings, and once it is told the retries come in', () =>
  withRelay(async relay => {
    const lives = [lifeOf('o00001', 'shop'), lifeOf('o00002', 'web')]
    for (const life of lives) await inReview(relay, life)

    // Somebody registers the URL by hand: from now on the service signs with a secret of which we know nothing.
    const secret = await relay.sandbox.registerWebhook(relay.webhookUrl)
    for (const { source, id } of lives) expect(await relay.sandbox.mend(source, id)).toBe(true)
    await until(() => relay.alarms.rang('signature-failures') !== undefined)
    await relay.work()
    for (const { id } of lives) {
      expect(await relay.sandbox.webhooks(id)).toMatchObject([{ state: 'pending' }])
      expect(relay.ears.of(id).at(-1)).toMatchObject({ data: { status: 'needs_review' } })
    }
    expect(relay.alarms.all()).toEqual(['signature-failures'])

    // As `relay register` does it. The function looks again at the next mismatch, once a minute at most.
    await relay.keep('webhook-secrets/by-hand', secret)
    relay.pass(MINUTE)
    await relay.serviceTriesAgain(lives)
    expect(await relay.undelivered(lives)).toBe(0)
    await relay.settle(lives)
    expect(await relay.complaints(lives)).toEqual([])
    for (const { id } of lives)
      expect(await relay.sandbox.webhooks(id)).toMatchObject([{ state: 'delivered' }])
  }))

test('even if no retry ever comes in, the scheduled check finds what the webhooks told', () =>
  withRelay(async relay => {
    const life = lifeOf('o00001', 'shop')
    await inReview(relay, life)
    await relay.sandbox.registerWebhook(relay.webhookUrl)
    expect(await relay.sandbox.mend(life.source, life.id)).toBe(true)

    relay.pass(11 * MINUTE)
    await relay.check()
    await relay.work()
    expect(relay.ears.of(life.id).at(-1)).toMatchObject({
      data: { status: 'paid' },
      cause: { event: 'order.check' },
    })
  }))
