import { expect, test } from '@jest/globals'
import { PARAMETERS, QUEUES } from '../../lib/platform/names.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { until } from '../support/until.ts'
import { type Outage, type OutageOrder, type OutageRelay, reviewedOrder, withRelay } from './outage.ts'

const MINUTE = 60_000

const shop = reviewedOrder('o00001', 'shop', { refunds: true })
const web = reviewedOrder('o00002', 'web')
const BOTH = [shop, web]

const fixAll = async ({ service }: OutageRelay, orders: readonly OutageOrder[]) => {
  for (const { source, id } of orders) expect(await service.fix(source, id)).toBe(true)
}

const throttled: Outage = (_link, name) =>
  /^(GetItem|PutItem|UpdateItem|Query) /.test(name) ? 'throttle' : undefined
const withoutSqs: Outage = (_link, name) =>
  /^(SendMessage|ReceiveMessage|DeleteMessage|ChangeMessageVisibilityBatch) /.test(name)
    ? 'error before'
    : undefined

test('the service is down: endpoints keep accepting, the service is left alone, and everything is done when it is back', () =>
  withRelay(async relay => {
    await relay.review(shop)
    await fixAll(relay, [shop])
    await relay.settle([shop])
    await relay.service.stock(web.id, 10)

    relay.begin(link => (link === 'worker to service' ? 'reset before' : undefined))
    expect(await relay.ask(shop, 'refund')).toBe(202)
    for (const change of ['create', 'payment'] as const) expect(await relay.ask(web, change)).toBe(202)
    expect(await relay.read(shop)).toBe(200)
    await relay.workFor(3)
    expect(relay.alarms.raised()).toEqual(['breaker-open', 'order-stuck'])

    relay.end()
    await relay.settle(BOTH)
    expect(
      await relay.violations([shop, { ...web, lifecycle: { ...web.lifecycle, review: false } }]),
    ).toEqual([])
  }))

test('the API key is wrong: orders wait, and the right key is used without a deployment', () =>
  withRelay(async relay => {
    await relay.review(shop)
    // The service has revoked the key, and nobody has told the relay.
    await relay.putParameter(PARAMETERS.accountingKey, 'a-key-of-yesterday')
    relay.pass(MINUTE)
    await relay.service.stock(web.id, 0)
    for (const change of ['create', 'payment'] as const) expect(await relay.ask(web, change)).toBe(202)
    await fixAll(relay, [shop])
    await until(async () => (await relay.undelivered([shop])) === 0)
    await relay.work()
    // What needs no call goes on: the store receives what the webhook says.
    expect(relay.inbox.of(shop.id).at(-1)).toMatchObject({ data: { status: 'paid' } })
    expect(await relay.read(shop)).toBe(200)
    expect(await relay.ask(shop, 'refund')).toBe(202)
    await relay.workFor(3)
    expect(await relay.service.record('web', web.id)).toBeUndefined()
    expect(relay.alarms.raised()).toEqual(['order-stuck', 'service-unauthorized'])
    expect(relay.alarms.raisedAt('service-unauthorized')).toBeLessThan(2 * MINUTE)

    await relay.putParameter(PARAMETERS.accountingKey, 'sandbox-key')
    relay.pass(MINUTE)
    await relay.settle([shop])
    await fixAll(relay, [web])
    await relay.settle(BOTH)
    expect(await relay.violations(BOTH)).toEqual([])
  }))

test('the secret is exchanged without the relay: an alarm is raised, and once the relay has it the retries come in', () =>
  withRelay(async relay => {
    const orders = [reviewedOrder('o00001', 'shop'), web]
    for (const order of orders) await relay.review(order)
    const secret = await relay.register()
    await fixAll(relay, orders)
    await until(() => relay.alarms.raisedAt('signature-failures') !== undefined)
    await relay.work()
    expect(await relay.undelivered(orders)).toBe(2)
    for (const { id } of orders)
      expect(relay.inbox.of(id).at(-1)).toMatchObject({ data: { status: 'needs_review' } })
    expect(relay.alarms.raised()).toEqual(['signature-failures'])

    // As `relay register` does it. The function reads again at a mismatch, once a minute at most.
    await relay.putParameter(`${PARAMETERS.webhookSecrets}/by-hand`, secret)
    relay.pass(MINUTE)
    await relay.retryWebhooks(orders)
    expect(await relay.undelivered(orders)).toBe(0)
    await relay.settle(orders)
    expect(await relay.violations(orders)).toEqual([])
  }))

test('webhooks that arrive while the function looks for a new secret wait for it', () =>
  withRelay(async relay => {
    const orders = [reviewedOrder('o00001', 'shop'), web]
    for (const order of orders) await relay.review(order)
    await relay.putParameter(`${PARAMETERS.webhookSecrets}/new`, await relay.register())
    relay.begin((_link, name) => (name.startsWith('GetParametersByPath') ? 'delay' : undefined))
    await Promise.all(orders.map(({ source, id }) => relay.service.fix(source, id)))
    await until(async () => (await relay.undelivered(orders)) === 0)
    for (const { id } of orders)
      expect(await relay.service.webhooks(id)).toMatchObject([{ attempts: [{ status: 200 }] }])
  }))

test('the secret is exchanged for good: the reconciliation finds what the webhooks said', () =>
  withRelay(async relay => {
    const order = reviewedOrder('o00001', 'shop')
    await relay.review(order)
    await relay.register()
    await fixAll(relay, [order])
    relay.pass(11 * MINUTE)
    await relay.reconcile()
    await relay.work()
    expect(relay.inbox.of(order.id).at(-1)).toMatchObject({ data: { status: 'paid' } })
    expect(await relay.undelivered([order])).toBe(1)
  }))

test('DynamoDB is throttled: webhooks and reads are refused, changes accepted, and nothing is missing in the end', () =>
  withRelay(async relay => {
    for (const order of BOTH) await relay.review(order)
    relay.begin(throttled)
    await fixAll(relay, BOTH)
    expect(await relay.ask(shop, 'refund')).toBe(202)
    expect(await relay.read(web)).toBe(503)
    await until(() => relay.alarms.raisedAt('deliveries-failed') !== undefined)
    await relay.workFor(3)
    expect(relay.alarms.raised()).toEqual(['deliveries-failed', 'order-stuck', 'requests-failed'])

    relay.end()
    await relay.settle(BOTH)
    expect(await relay.violations(BOTH)).toEqual([])
  }))

test('SQS is unavailable: nothing is promised, and nothing is missing in the end', () =>
  withRelay(async relay => {
    for (const order of BOTH) await relay.review(order)
    relay.begin(withoutSqs)
    await fixAll(relay, BOTH)
    expect(await relay.ask(shop, 'refund')).toBe(503)
    expect(await relay.read(web)).toBe(200)
    await until(() => relay.alarms.raisedAt('deliveries-failed') !== undefined)
    await relay.work()
    relay.pass(45 * MINUTE)
    expect(relay.alarms.raised()).toEqual(['deliveries-failed', 'requests-failed'])

    relay.end()
    expect(await relay.ask(shop, 'refund')).toBe(202)
    await relay.settle(BOTH)
    expect(await relay.violations(BOTH)).toEqual([])
  }))

test('SQS is unavailable to the worker alone: it publishes once SQS is back, although it could not delay the event', () =>
  withRelay(async relay => {
    const order = reviewedOrder('o00001', 'shop')
    await relay.review(order)
    await fixAll(relay, [order])
    await until(async () => (await relay.depth(QUEUES.orders)) > 0)

    relay.begin((link, name) => (link === 'worker to AWS' ? withoutSqs(link, name) : undefined))
    const published = relay.inbox.of(order.id).length
    for (let receives = 0; receives < 2; receives++) {
      await relay.work()
      // It could not be delayed, so it comes again after the visibility timeout.
      relay.pass(3 * MINUTE)
    }
    expect(relay.inbox.of(order.id)).toHaveLength(published)

    relay.end()
    await relay.settle([order])
    expect(await relay.violations([order])).toEqual([])
  }))

test("a store's endpoint is down: other stores are notified at once, and in the end it knows as much as they do", () =>
  withRelay(async relay => {
    const orders = [
      reviewedOrder('o00001', 'shop'),
      reviewedOrder('o00002', 'web', { refunds: true }),
    ] as const
    relay.begin(link => (link === 'feeder to store' ? 'reset before' : undefined))
    for (const order of orders) await relay.review(order)
    await fixAll(relay, orders)
    expect(await relay.ask(orders[1], 'refund')).toBe(202)
    await until(async () => (await relay.undelivered(orders)) === 0)
    await relay.workFor(5)
    expect(relay.inbox.of('o00001').at(-1)).toMatchObject({ data: { status: 'paid' } })
    expect(relay.inbox.of('o00002')).toEqual([])
    expect(relay.alarms.raised()).toEqual(['feed-stuck'])

    relay.end()
    await relay.settle(orders)
    expect(await relay.violations(orders)).toEqual([])
  }))

test('five webhooks signed at another time are refused at no cost, and raise an alarm', () =>
  withRelay(async relay => {
    const body = '{"event":"order.updated"}'
    const t = Math.floor(Date.now() / 1000) - 301
    for (let sent = 0; sent < 5; sent++) {
      expect(relay.alarms.raised()).toEqual([])
      const headers = { 'x-service-signature': sign({ secret: relay.secret, t, body: Buffer.from(body) }) }
      const { status } = await fetch(relay.webhookUrl, { method: 'POST', headers, body })
      expect(status).toBe(401)
    }
    expect(relay.alarms.raised()).toEqual(['signature-failures'])
    // The secrets, read when the function started.
    expect(relay.requests('webhook to AWS')).toBe(1)
  }))

test('two deployments that take everything at once register and publish it once', () =>
  withRelay(
    async relay => {
      const orders = [
        reviewedOrder('o00001', 'shop', { refunds: true }),
        reviewedOrder('o00002', 'shop'),
        reviewedOrder('o00003', 'web', { refunds: true }),
        reviewedOrder('o00004', 'web'),
      ]
      await Promise.all(orders.map(order => relay.review(order)))
      await Promise.all(orders.map(({ source, id }) => relay.service.fix(source, id)))
      const refunded = orders.filter(({ lifecycle }) => lifecycle.refunds)
      const [, ...statuses] = await Promise.all([
        relay.work(),
        ...refunded.map(order => relay.ask(order, 'refund')),
      ])
      expect(statuses).toEqual([202, 202])
      relay.pass(11 * MINUTE)
      await relay.reconcile()
      await relay.settle(orders)
      expect(await relay.violations(orders)).toEqual([])
      for (const { id } of orders)
        expect(await relay.service.webhooks(id)).toMatchObject([{ state: 'delivered' }])
    },
    { deployments: 2 },
  ))
