import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from '@jest/globals'
import { newOrder, type RequestView } from '@order-relay/lib/orders/order.ts'
import { orderRepository } from '@order-relay/lib/orders/repository.ts'
import { PROBE_SOURCE } from '@order-relay/lib/platform/names.ts'
import { parametersBelow } from '@order-relay/lib/platform/parameters.ts'
import { deliveryRepository } from '@order-relay/lib/webhook/deliveries.ts'
import { ITEMS, local } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'

export const auditTests = () => {
  const orderHere = async (external_id: string) =>
    (await local.json(['orders', 'show', 'api', external_id]).catch(() => undefined))?.data
  const isPaid = async (external_id: string) => (await orderHere(external_id))?.result?.status === 'paid'

  const create = (external_id: string) =>
    local.store('POST', '', { external_id, items: ITEMS }, 'respond-async')

  let since: string
  beforeAll(async () => {
    await local.empty('orders-dead.fifo', 'feeds-dead.fifo', 'quarantine')
    await until(async () => (await local.relay(['doctor'])).out.includes('no messages wait'))
    since = new Date().toISOString()
  })

  test('ignores warm-up invocations of the functions and probes of the commands', async () => {
    const { data } = await local.json(['audit', '--since', '1d', '--no-service'])
    expect(data.deliveries.outcomes).not.toHaveProperty(['refused: the signature header is malformed'])
  })

  test('the audit accounts for everything received and finds no difference from the service', async () => {
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    await local.create('r-1', {}, 'relay')
    expect((await local.store('POST', 'r-1/payment/', { method: 'card' })).status).toBe(202)
    await until(async () =>
      (await orderHere('r-1'))?.requests.some(({ state }: RequestView) => state === 'held'),
    )
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })
    await local.sandbox('POST', '/panel/orders/r-1/retry?source=api', {})
    await until(() => isPaid('r-1'))
    await local.relay(['send', '--external-id', 'x', '--source', 'nobody'])
    await local.relay(['send', '--external-id', 'x'], { environment: { RELAY_WEBHOOK_SECRET: 'wrong' } })
    // A probe's order, which is not in the service.
    const { dynamodb } = local.stack()
    const probed = { source: PROBE_SOURCE, external_id: randomUUID() }
    const result = { ...probed, status: 'paid' }
    await orderRepository(dynamodb, 'orders', { random: Math.random }).save(
      { order: { ...newOrder(probed), result, version: 1 }, outbox: undefined, bulk: undefined },
      0,
      Date.now(),
    )
    await deliveryRepository(dynamodb, 'deliveries').record(
      { ...probed, delivery: probed.external_id, status: 'paid' },
      Math.floor(Date.now() / 1000),
    )

    const { code, data } = await local.json(['audit', '--since', since])
    expect(data).toMatchObject({
      balanced: true,
      deliveries: {
        outcomes: { queued: 1, 'ignored: foreign source': 1, 'refused: not signed with a known secret': 1 },
      },
      queue: { entered: 3, applied: 3, unaccounted: 0 },
      requests: { accepted: 2, states: { registered: 2 } },
      stored: { 'create registered': 1, 'payment registered': 1 },
      orders: { known: 1, asked: 1, agree: 1 },
      left: { dead: 0, quarantined: 0 },
      undelivered: expect.arrayContaining([
        { source: 'api', waiting: expect.any(Number), inFlight: 0, dead: 0, deleted: 0 },
      ]),
      differences: [],
      lists: { orders: [{ name: 'known', count: 1, members: [{ source: 'api', external_id: 'r-1' }] }, {}] },
    })
    expect(code).toBe(0)
    const { out } = await local.relay(['audit', '--since', since])
    expect(out).not.toContain('only the orders are compared')
    expect(out).toContain('1 order changed; 1 of 1 agree with the service.')
    expect(out).toMatch(/Everything is accounted for\.\n$/)
  })

  test('reports an outage as the number of orders not compared and its beginning, and fails', async () => {
    await local.sandbox('POST', '/panel/faults', { kind: 'error', status: 503 })
    expect((await local.store('POST', 'r-1/refund/', {}, 'respond-async')).status).toBe(202)
    await until(async () => (await orderHere('r-1')).failing !== undefined)
    expect((await create('r-2')).status).toBe(202)
    await until(async () => (await orderHere('r-2'))?.failing !== undefined)
    expect((await local.store('POST', 'r-2/payment/', { method: 'card' }, 'respond-async')).status).toBe(202)
    const { code, out } = await local.relay(['audit', '--since', since])
    const { data } = await local.json(['audit', '--since', since, '--no-service'])
    await local.sandbox('DELETE', '/panel/faults')
    await local.relay(['orders', 'retry', '--all'])
    expect(out).toMatch(
      /\n2 orders not compared with the service: 503 .*\nEvents have been waiting for the service since \S+Z\.\n/,
    )
    expect(out).toMatch(/Everything else is accounted for\.\n$/)
    expect(code).toBe(1)
    expect(data).toMatchObject({
      requests: { accepted: 5, states: { registered: 2, waiting: 3 } },
      stored: { 'create waiting': 1, 'payment waiting': 1, 'refund waiting': 1 },
    })
    await until(async () => (await orderHere('r-1')).result.status === 'refunded')
    await until(() => isPaid('r-2'))
  })

  test('accounts for a delivery that the worker quarantined', async () => {
    const data = { source: 'api', external_id: 'odd', status: 'paid' }
    const delivery = randomUUID()
    // Long enough ago for the table's resolution of one second.
    const recorded = Math.floor(Date.now() / 1000) - 5
    await deliveryRepository(local.stack().dynamodb, 'deliveries').record({ delivery, ...data }, recorded)
    await local.quarantine('worker', JSON.stringify({ event: 'order.updated', delivery, data }))
    const from = new Date(recorded * 1000).toISOString()
    const { lists, differences } = (await local.json(['audit', '--since', from, '--no-service'])).data
    const members = [expect.objectContaining({ id: delivery })]
    expect(lists.queue).toContainEqual({ name: 'quarantined', count: 1, members })
    expect(differences).not.toContainEqual(expect.objectContaining({ id: delivery }))
    await local.empty('quarantine')
    const Key = { delivery: { S: delivery } }
    await local.stack().dynamodb.deleteItem({ TableName: 'deliveries', Key })
  })

  test('reports an order that differs from the service', async () => {
    await local.relay(['send', '--external-id', 'made-up'])
    await local.enqueue('orders-dead.fifo', 'order.check', { external_id: 'dead' })
    await until(() => isPaid('made-up'))
    const { code, out } = await local.relay(['audit', '--since', since])
    expect(out).toContain('1 difference:\n  api made-up: order is "paid" here and unknown to the service')
    expect(out).toContain('no successful request of its store is saved here, its status came with a webhook')
    expect(out).toContain('Waiting for a decision: 1 dead letter, 0 in quarantine.')
    expect(code).toBe(1)
    const unasked = await local.json(['audit', '--since', since, '--no-service'])
    expect(unasked).toMatchObject({ code: 0, data: { balanced: true, orders: { asked: 0 } } })
    const longer = await local.relay(['audit', '--since', '31d', '--no-service'])
    expect(longer.out).toContain(
      'are kept for 30 days: for anything received earlier, only the orders are compared',
    )
    await local.create('made-up', {}, 'relay')
    expect((await local.relay(['audit', '--since', since])).out).not.toContain('api made-up')
  })

  test('an audit of 30 days that repairs deletes the periods without a registered webhook that it covers', async () => {
    const { ssm } = local.stack()
    const folder = '/order-relay/local/webhook-gaps'
    const [from = 0, to = 0] = [2, 1].map(days => Date.now() - days * 86_400_000)
    const Value = [from, to].map(time => new Date(time).toISOString()).join('/')
    await ssm.putParameter({ Name: `${folder}/${from}`, Value, Type: 'SecureString' })
    await local.relay(['audit', '--since', '30d', '--repair'])
    expect(await parametersBelow(ssm, folder)()).toEqual({})
  })
}
