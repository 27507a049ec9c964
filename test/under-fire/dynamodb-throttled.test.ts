import { afterEach, expect, jest, test } from '@jest/globals'
import { AwsError } from '../../lib/aws/error.ts'
import { until } from '../support/until.ts'
import { HOUR, MINUTE, tenHoursWithout } from './days.ts'
import { asks, inReview, lifeOf } from './lives.ts'
import { type Trouble, withRelay } from './relay.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

const throttled: Trouble = (_link, name) =>
  /^(GetItem|PutItem|UpdateItem|Query) /.test(name) ? 'throttle' : undefined

test('while DynamoDB is throttled all is accepted again later, and in the end nothing is missing', () =>
  withRelay(async relay => {
    const shop = lifeOf('o00001', 'shop', { returns: true })
    const web = lifeOf('o00002', 'web')
    const lives = [shop, web]
    for (const life of lives) await inReview(relay, life)

    relay.suffers(throttled)
    for (const { source, id } of lives) expect(await relay.sandbox.mend(source, id)).toBe(true)
    expect(await asks(relay, shop, 'refund')).toBe(202)
    expect(await relay.ask('GET', 'web', `${web.id}/`)).toBe(503)
    await until(() => relay.alarms.rang('deliveries-not-kept') !== undefined)
    for (let passed = 0; passed <= 60; passed += 15) {
      await relay.work()
      relay.pass(15 * MINUTE)
    }
    expect(relay.alarms.all()).toEqual(['deliveries-not-kept', 'line-stuck', 'requests-not-kept'])

    relay.recovers()
    await relay.settle(lives)
    expect(await relay.complaints(lives)).toEqual([])
  }))

test('after ten hours of it the checks tell what the service would send again only a day later', async () => {
  const { complaints, heard, cameBack } = await tenHoursWithout(
    new Set([
      ...(['webhook: read the delivery', 'webhook: record the delivery', 'api: read the order'] as const),
      ...(['reconcile: find what is due', 'reconcile: postpone the check'] as const),
      ...(['worker: read the order', 'worker: keep the order'] as const),
    ]),
    () => new AwsError('ThrottlingException', 'Cannot GetItem (dynamodb): too often', { passing: true }),
  )
  expect(complaints).toEqual([])
  expect(heard).toBeLessThan(10 * HOUR + 6 * MINUTE)
  expect(cameBack).toBeGreaterThan(31 * HOUR)
})
