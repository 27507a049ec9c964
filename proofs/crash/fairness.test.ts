import { expect, test } from '@jest/globals'
import { MINUTE, SECOND } from '../../test/support/scenarios.ts'
import { quantile } from '../bench/statistics.ts'
import { ONCE } from './explore.ts'
import type { Adjust } from './functions.ts'
import { SHOP, WEB } from './places.ts'
import { every } from './scenario.ts'
import { violationsOf } from './violations.ts'
import { runScenario, type Scenario } from './world.ts'

/** The 99th percentile of the latency of store "web", in seconds, with the real functions and modeled services. */
const play = async (scenario: Pick<Scenario, 'orders' | 'slowness'>) => {
  /** The time of the first call for each payment. */
  const called = new Map<string, number>()
  const adjust: Adjust = (name, dependencies) => {
    const { http, now } = dependencies
    if (name !== 'worker') return dependencies
    return {
      ...dependencies,
      http(request) {
        const [, id = ''] = /\/([^/]+)\/payment\//.exec(request.path) ?? []
        if (id !== '' && !called.has(id)) called.set(id, now())
        return http(request)
      },
    }
  }
  const run = await runScenario({ name: 'fairness', warm: true, concurrency: 5, adjust, ...scenario }, ONCE)
  const { world } = run
  const published = new Map(
    world.queues.webFeed.history().map(({ body, sentAt }) => [JSON.parse(body).delivery, sentAt]),
  )
  const waits: Record<'webhook' | 'payment', number[]> = { webhook: [], payment: [] }
  for (const { body, sentAt } of world.queues.orders.history()) {
    const { event, delivery, data } = JSON.parse(body)
    if (data.source !== WEB) continue
    if (event === 'order.updated') waits.webhook.push((published.get(delivery) ?? Infinity) - sentAt)
    if (event === 'order.payment') waits.payment.push((called.get(data.external_id) ?? Infinity) - sentAt)
  }
  return {
    violations: violationsOf(run),
    webhook: quantile(waits.webhook, 0.99) / SECOND,
    payment: waits.payment.length > 0 && quantile(waits.payment, 0.99) / SECOND,
    moved: world.calls.filter(place => place === 'worker: send to the bulk queue').length,
  }
}

const MAY_RETRY = { mayRetry: true } as const

test('an import by one store at 50 calls a second hardly delays another store', async () => {
  let free = 0
  const { violations, webhook, payment, moved } = await play({
    // The service handles calls in sequence.
    slowness(elapsed) {
      free = Math.max(free, elapsed) + SECOND / 50
      return free - elapsed + 50
    },
    orders: {
      ...every(10, 1500, 'import', { createdBy: 'relay', pays: true, source: SHOP, ...MAY_RETRY }),
      ...every(500, 60, 'paid', { createdBy: 'service', pays: true, source: WEB, ...MAY_RETRY }),
      ...every(500, 60, 'changed', {
        createdBy: 'service',
        source: WEB,
        ...MAY_RETRY,
        accountant: [{ after: 100, does: 'payment' }],
      }),
    },
  })
  expect(violations).toEqual([])
  expect(webhook).toBeLessThan(5)
  expect(payment).toBeLessThan(10)
  expect(moved).toBeGreaterThan(500)
})

test('a webhook that needs no call is hardly delayed while each call takes ten seconds', async () => {
  const { violations, webhook, moved } = await play({
    slowness: elapsed => (elapsed < 2 * MINUTE ? 10 * SECOND : 0),
    orders: {
      ...every(100, 800, 'created', { createdBy: 'relay', source: SHOP, ...MAY_RETRY }),
      ...every(200, 300, 'changed', {
        createdBy: 'service',
        source: WEB,
        ...MAY_RETRY,
        accountant: [{ after: 100, does: 'payment' }],
      }),
    },
  })
  expect(violations).toEqual([])
  expect(webhook).toBeLessThan(30)
  expect(moved).toBeGreaterThan(10)
})
