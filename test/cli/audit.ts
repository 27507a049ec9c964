import { beforeAll, expect, test } from '@jest/globals'
import type { Intent } from '../../lib/orders/order.ts'
import { until } from '../support/until.ts'
import { local } from './relay.ts'

export const auditTests = () => {
  const orderHere = async (external_id: string) =>
    (await local.json(['orders', 'show', 'api', external_id]).catch(() => undefined))?.data
  const statusHere = async (external_id: string) => (await orderHere(external_id))?.result?.status

  let since: string
  beforeAll(async () => {
    await local.empty('orders-dead.fifo', 'feeds-dead.fifo', 'quarantine')
    await until(async () => (await local.relay(['doctor'])).out.includes('no messages wait'))
    since = new Date().toISOString()
  })

  test('the warm-up of the functions and the probes of the commands are not counted', async () => {
    const { data } = await local.json(['audit', '--since', '1d', '--no-service'])
    expect(Object.keys(data.deliveries.outcomes)).not.toContain('refused: forged, malformed')
  })

  test('everything received is accounted for and agrees with the service', async () => {
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    await local.create('r-1', {}, 'relay')
    expect((await local.store('POST', 'r-1/payment/', { method: 'card' })).status).toBe(202)
    await until(async () =>
      (await orderHere('r-1'))?.intents.some((intent: Intent) => intent.state === 'held'),
    )
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })
    await local.sandbox('POST', '/panel/orders/r-1/retry?source=api', {})
    await until(async () => (await statusHere('r-1')) === 'paid')
    await local.relay(['send', '--external-id', 'x', '--source', 'nobody'])
    await local.relay(['send', '--external-id', 'x'], { environment: { RELAY_WEBHOOK_SECRET: 'wrong' } })

    const { code, data } = await local.json(['audit', '--since', since])
    expect(data).toMatchObject({
      balanced: true,
      deliveries: { outcomes: { queued: 1, 'ignored: foreign source': 1, 'refused: forged, mismatch': 1 } },
      queue: { entered: 3, applied: 3, unaccounted: 0 },
      requests: { accepted: 2, states: { registered: 2 } },
      intents: { 'create registered': 1, 'payment registered': 1 },
      orders: { known: 1, asked: 1, agree: 1 },
      left: { dead: 0, quarantined: 0 },
      differences: [],
      lists: { orders: [{ name: 'known', count: 1, members: [{ source: 'api', external_id: 'r-1' }] }, {}] },
    })
    expect(code).toBe(0)
    const { out } = await local.relay(['audit', '--since', since])
    expect(out).not.toContain('only the orders are compared')
    expect(out).toContain('1 order changed; 1 of 1 agree with the service.')
    expect(out).toMatch(/Everything is accounted for\.\n$/)
  })

  test('an order that differs from the service is a difference', async () => {
    await local.relay(['send', '--external-id', 'made-up'])
    await local.enqueue('orders-dead.fifo', 'order.check', { external_id: 'dead' })
    await until(async () => (await statusHere('made-up')) === 'paid')
    const { code, out } = await local.relay(['audit', '--since', since])
    expect(out).toContain('1 difference:\n  api made-up: order is "paid" here and unknown to the service')
    expect(out).toContain('Waiting for a decision: 1 dead letter, 0 in quarantine.')
    expect(code).toBe(1)
    const unasked = await local.json(['audit', '--since', since, '--no-service'])
    expect(unasked).toMatchObject({ code: 0, data: { balanced: true, orders: { asked: 0 } } })
    const longer = await local.relay(['audit', '--since', '31d', '--no-service'])
    expect(longer.out).toContain('are kept for 30 days: of what came in before, only the orders are compared')
  })
}
