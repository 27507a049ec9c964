import { afterEach, expect, jest, test } from '@jest/globals'
import { AwsError } from '../../lib/aws/error.ts'
import { until } from '../support/until.ts'
import { HOUR, MINUTE, tenHoursWithout } from './days.ts'
import { asks, inReview, lifeOf } from './lives.ts'
import { type Trouble, withRelay } from './relay.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

const away: Trouble = (_link, name) =>
  /^(SendMessage|ReceiveMessage|DeleteMessage|ChangeMessageVisibilityBatch) /.test(name)
    ? 'error before'
    : undefined

test('while SQS is away nothing is promised, and afterwards nothing is missing', () =>
  withRelay(async relay => {
    const shop = lifeOf('o00001', 'shop', { returns: true })
    const web = lifeOf('o00002', 'web')
    const lives = [shop, web]
    for (const life of lives) await inReview(relay, life)

    relay.suffers(away)
    for (const { source, id } of lives) expect(await relay.sandbox.mend(source, id)).toBe(true)
    expect(await asks(relay, shop, 'refund')).toBe(503)
    expect(await relay.ask('GET', 'web', `${web.id}/`)).toBe(200)
    await until(() => relay.alarms.rang('deliveries-not-kept') !== undefined)
    await relay.work()
    relay.pass(45 * MINUTE)
    expect(relay.alarms.all()).toEqual(['deliveries-not-kept', 'requests-not-kept'])

    relay.recovers()
    expect(await asks(relay, shop, 'refund')).toBe(202)
    await relay.settle(lives)
    expect(await relay.complaints(lives)).toEqual([])
  }))

test('a worker that cannot tell a store, nor put off its message, tells it once SQS is there again', () =>
  withRelay(async relay => {
    const life = lifeOf('o00001', 'shop')
    const lives = [life]
    await inReview(relay, life)
    expect(await relay.sandbox.mend(life.source, life.id)).toBe(true)
    await until(async () => (await relay.waiting('order-line.fifo')) > 0)

    relay.suffers((link, name) => (link === 'worker to AWS' ? away(link, name) : undefined))
    const told = relay.ears.of(life.id).length
    for (let receives = 0; receives < 3; receives++) {
      await relay.work()
      // Nobody could put it off, so it comes when its visibility timeout is over.
      relay.pass(3 * MINUTE)
    }
    expect(relay.ears.of(life.id)).toHaveLength(told)

    relay.recovers()
    await relay.settle(lives)
    expect(await relay.complaints(lives)).toEqual([])
  }))

test('after ten hours without SQS the checks tell what the service would send again only a day later', async () => {
  const { complaints, heard, cameBack } = await tenHoursWithout(
    new Set([
      ...(['webhook: send to the line', 'api: send to the line', 'reconcile: send to the line'] as const),
      ...(['worker: tell the store', 'worker: let it wait', 'worker: acknowledge'] as const),
    ]),
    () => new AwsError('Unreachable', 'Cannot SendMessage (sqs): no answer', { passing: true }),
  )
  expect(complaints).toEqual([])
  expect(heard).toBeLessThan(10 * HOUR + 6 * MINUTE)
  expect(cameBack).toBeGreaterThan(31 * HOUR)
})
