import { createHmac, randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { local, useLocalStack } from '@order-relay/test-support/relay.ts'
import { until } from '@order-relay/test-support/until.ts'
import { createLive } from '../../console/live.ts'
import { routesOf } from '../../console/routes.ts'
import { useConsole } from './serve.ts'

useLocalStack({})
const { authorization, context, get, post, url } = useConsole()

const called = new Set<string>()

/** Calls a route and reads its JSON, or the documents of its stream. */
const ask = async (method: 'get' | 'post', path: string, input: Record<string, unknown>) => {
  called.add(`${method} ${path}`)
  const query = new URLSearchParams(
    Object.entries(input).map(([name, value]) => [name, String(value)] as [string, string]),
  )
  const { status, text } = await (method === 'get' ? get(`${path}?${query}`) : post(path, input))
  const documents = text.trim().split('\n')
  return { status, body: documents.length > 1 ? documents.map(each => JSON.parse(each)) : JSON.parse(text) }
}
const reads = (path: string, query: Record<string, string> = {}) => ask('get', path, query)
const changes = (path: string, body: Record<string, unknown> = {}) => ask('post', path, body)
const ok = (body: unknown = expect.anything()) => expect.objectContaining({ status: 200, body })
const some = expect.objectContaining
const refused = (why: string) =>
  some({ status: 409, body: { error: { message: expect.stringContaining(why) } } })

const order = { source: 'api', external_id: 'Routed-1' }
const dead = () =>
  local.enqueue('orders-dead.fifo', 'order.payment', {
    external_id: order.external_id,
    accepted_at: Date.now(),
    body: JSON.stringify({ method: 'card', reference: 'r' }),
  })
const DEAD = { command: 'dead' }

test('orders are listed, found by any identifier, shown, checked, resent and withdrawn', async () => {
  await local.create(order.external_id, {}, 'relay')
  const found = async (q: string) => (await reads('orders', { q })).body.orders
  expect(await reads('orders', { source: 'api' })).toEqual(ok(some({ orders: [some(order)] })))
  expect(await found('routed')).toMatchObject([{ ...order, match: { by: 'order' } }])
  const { body } = await reads('order', order)
  expect(body).toMatchObject({ ...order, status: 'invoiced', why: { links: [] } })
  const [request] = body.requests
  expect(await found(request.id.toUpperCase())).toMatchObject([{ ...order, match: { by: 'request' } }])
  expect(await found(body.invoice_number)).toMatchObject([{ ...order, match: { by: 'invoice' } }])

  const { body: check } = await changes('orders/check', order)
  await until(async () => (await reads('order/check', check)).body.last?.message === 'event processed')
  expect(await changes('orders/resend', order)).toEqual(ok(some({ sent: 1 })))
  await until(async () => (await reads('order', order)).body.version > body.version)
  expect(await changes('orders/withdraw', { ...order, of: 'payment' })).toEqual(refused('none is open'))
  expect(await changes('orders/retry', order)).toEqual(
    ok({ released: 0, checked: 0, dead: 0, received: 0, gone: 1, total: 1 }),
  )
})

test('an open request is retried by its cause and withdrawn, and its store is notified', async () => {
  const waiting = { source: 'api', external_id: 'routed-2' }
  const item = { sku: 'sold by nobody', quantity: 1, unit_price: 1 }
  await local.store('POST', '', { external_id: waiting.external_id, items: [item] })
  const requests = async () => (await reads('order', waiting)).body.requests
  const create = async () => (await reads('order', waiting)).body.create
  expect(await requests()).toMatchObject([{ kind: 'create', state: 'waiting' }])
  expect(await create()).toBe('refused')
  const { groups } = (await reads('orders/waiting')).body
  expect(groups).toContainEqual({ source: 'api', cause: 'unknown_sku', orders: 1 })
  expect(await changes('orders/retry-all', { cause: 'unknown_sku' })).toEqual(ok())
  const retried = async () => (await reads('orders/retries')).body.job.end
  await until(async () => (await retried()) !== undefined)
  expect((await retried()).text).toContain('Succeeded: 0. Refused again: 1.')
  expect(await changes('orders/retry-stop')).toEqual(ok())
  expect(await changes('orders/withdraw', { ...waiting, of: 'create' })).toEqual(ok(some(waiting)))
  await until(async () => (await requests()).some(({ state }: { state: string }) => state === 'withdrawn'))
  expect(await create()).toBe('withdrawn')
  expect((await reads('orders', { q: waiting.external_id })).body.orders).toMatchObject([
    { create: 'withdrawn' },
  ])
  const { entries } = (await reads('order', waiting)).body
  expect(JSON.stringify(entries)).toContain('"order.withdrawn"')
})

test('an order shows its total, what its open requests contain, and a payment that its create included', async () => {
  const items = [{ sku: 'SKU-1', quantity: 2, unit_price: 1000 }]
  const payment = { method: 'card', reference: 'R-9' }
  const [refused, held] = ['routed-3', 'routed-4'].map(external_id => ({ source: 'api', external_id }))
  await local.store('POST', '', { ...refused, items: [{ ...items[0], sku: 'sold by nobody' }], payment })
  expect((await reads('order', { ...refused })).body.requests).toMatchObject([
    { content: { rows: [{ sku: 'sold by nobody', quantity: '2', amount: '2000' }], total: '2000', payment } },
  ])
  await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
  await local.store('POST', '', { ...held, items, payment })
  await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })
  const { body } = await reads('order', { ...held })
  expect(body).toMatchObject({ status: 'needs_review', total: '2200', requests: [{ with_payment: true }] })
  expect(body.why.links).toMatchObject([{ what: 'invoice' }, { what: 'payment', for: 'accountant' }])
  const { orders } = (await reads('orders', { q: 'routed-4' })).body
  expect(orders).toMatchObject([{ ...held, total: '2200' }])
})

test('the id of a request among the deliveries leads to its order', async () => {
  const [request] = (await reads('order', order)).body.requests
  expect(await reads('delivery', { id: request.id })).toEqual(ok({ order }))
  const { data } = await local.json([
    'send',
    '--external-id',
    order.external_id,
    '--yes',
    order.external_id,
    '--wait',
    '20s',
  ])
  expect(await reads('delivery', { id: data.delivery })).toEqual(ok({ record: some(order) }))
  const quarantined = randomUUID()
  await local.quarantine('webhook', JSON.stringify({ event: 'order.updated', delivery: quarantined }))
  const [{ id }] = (await reads('messages', { command: 'quarantine' })).body.messages
  expect(await reads('delivery', { id: quarantined })).toEqual(ok({ quarantined: id }))
  for (const q of [` ${quarantined}`, id, id.slice(0, 8).toUpperCase()]) {
    const { body } = await reads('orders', { q })
    expect(body).toMatchObject({ orders: [], messages: [{ command: 'quarantine', id }] })
  }
  expect((await reads('orders', { q: 'nobody' })).body).toMatchObject({ orders: [], messages: [] })
  await local.empty('quarantine')
  expect(await reads('delivery', { id: 'nobody' })).toEqual(refused('no delivery "nobody" was queued'))
  const queued = { since: '1h', outcome: 'queued' }
  expect(await reads('deliveries', queued)).toEqual(
    ok(some({ deliveries: expect.arrayContaining([some(order)]) })),
  )
})

test('dead letters and the quarantine are read, planned and carried out', async () => {
  await dead()
  await local.quarantine('webhook', 'not JSON')
  const quarantined = await reads('messages', { command: 'quarantine' })
  expect(quarantined).toEqual(ok(some({ messages: [some({ error: 'an older version could not read it' })] })))
  const { messages } = (await reads('messages', DEAD)).body
  expect(messages).toMatchObject([{ ...order, event: 'order.payment' }])
  const [{ id }] = messages
  expect((await reads('orders', { q: id })).body.messages).toEqual([{ command: 'dead', id }])
  const shown = await reads('message', { ...DEAD, id })
  expect(shown.body.text).toContain('"order.payment"')
  expect(await changes('messages/read', DEAD)).toEqual(ok())

  const planned = await changes('plans', { ...DEAD, action: 'replay', ids: [id] })
  const { body: plan } = await reads('plan', planned.body)
  expect(plan.messages).toMatchObject([{ id, predicted: { calls: [{ to: 'payment' }] } }])
  expect(await changes('plans/open', { ...DEAD, file: JSON.stringify(plan) })).toEqual(ok(planned.body))
  expect(await changes('plans/open', { ...DEAD, file: '{}' })).toEqual(refused('the file contains none'))
  expect(await changes('carry-out', planned.body)).toEqual(ok())
  const end = async () => (await reads('operation')).body.operation?.end
  await until(async () => (await end()) !== undefined)
  expect((await reads('operation')).body.operation.counts).toEqual({ replayed: 1 })
  expect(await reads('plan/gone', planned.body)).toEqual(ok({ ids: [id] }))
  expect(await changes('break-off')).toEqual(ok())

  await dead()
  const { body: deletion } = await changes('plans', { ...DEAD, action: 'discard', event: 'order.payment' })
  const { messages: deleted } = (await reads('plan', deletion)).body
  expect(deleted).toMatchObject([{ deletion: { code: 'discard/lost' } }])
  expect(await changes('carry-out', { ...deletion, count: 2 })).toEqual(refused('type "1"'))
  expect(await changes('carry-out', { ...deletion, count: 1, reason: 'paid twice' })).toEqual(ok())
  await until(async () => (await end()) !== undefined)
  const { operations } = (await reads('operations', DEAD)).body
  expect(operations).toMatchObject([{ action: 'discard', reason: 'paid twice' }, { action: 'replay' }])

  const create = (await reads('order', order)).body.requests.find(
    ({ kind }: { kind: string }) => kind === 'create',
  )
  const data = { external_id: order.external_id, accepted_at: Date.now(), body: '{}' }
  await local.enqueue('orders-dead.fifo', 'order.create', data, create.id)
  const { body } = await reads('order', order)
  expect(body).toMatchObject({ why: { links: [] }, done_letters: [expect.any(String)] })
  await local.empty('orders-dead.fifo')
})

test('stores are shown with their keys, and changed', async () => {
  const source = 'demo-shop'
  expect(await reads('stores')).toEqual(ok(some({ stores: expect.arrayContaining([some({ source })]) })))
  const { body: key } = await changes('stores/key', { source, kind: 'read-only', name: 'till' })
  const { body: shop } = await reads('store', { source })
  expect(shop.keys).toContainEqual(some({ id: key.id, name: 'till' }))
  expect(await changes('stores/revoke', { source, id: key.id })).toEqual(ok())
  // The store is not a WooCommerce shop.
  expect(await reads('shop', { source })).toEqual(ok({}))
  expect(await changes('stores/index')).toEqual(ok())
  expect((await changes('stores/secret', { source })).status).toBe(409)
  expect((await changes('stores/test', { source })).status).toBe(409)
  const since = new Date().toISOString()
  expect(await changes('stores/resend', { source, since })).toEqual(ok())
  expect(await changes('stores/resend-stop', { source })).toEqual(ok())
})

test('messages to stores are listed, and only those of HTTP feeds are retried', async () => {
  expect(await reads('feeds', { since: '1h' })).toEqual(ok())
  const { messages } = (await reads('feed', order)).body
  expect(messages).toContainEqual(some({ state: 'sent' }))
  const [{ delivery }] = messages
  const { body } = (await reads('feed/message', { ...order, delivery })).body
  expect(JSON.parse(body)).toMatchObject({ delivery, data: order })
  expect(await reads('feed/message', { ...order, delivery: 'x' })).toEqual(refused('has no message "x"'))
  expect(await changes('feeds/retry', order)).toEqual(refused('its feed is an SQS queue'))
  const { source } = order
  expect(await changes('feeds/retry-store', { source })).toEqual(ok())
  const job = async () => (await reads('feeds/retries', { source })).body.job
  await until(async () => (await job()).end !== undefined)
  expect((await job()).end.failure).toContain('its feed is an SQS queue')
  expect(await changes('feeds/retry-stop', { source })).toEqual(ok())
})

test('the tour sends an order', async () => {
  expect(await reads('tour')).toEqual(ok(some({ source: 'demo-shop' })))
  expect(await changes('tour/step', { step: 'send', order: 'Tour-1' })).toEqual(ok())
})

test('a test of a store is started and stopped', async () => {
  const source = 'demo-shop'
  expect(await changes('conformance/start', { source, testStore: true, wait: 60 })).toEqual(ok())
  expect(await changes('conformance/stop', { source })).toEqual(ok())
  const report = async () => (await reads('conformance', { source })).body
  await until(async () => (await report()).job?.end !== undefined)
  expect(await report()).toMatchObject({ local: true, job: { end: { failure: expect.any(String) } } })
})

test('the overview has the alarms, and each has a runbook in English and Persian', async () => {
  const { status, body } = await reads('overview')
  expect([status, body.problems]).toEqual([200, []])
  for (const page of new Set<string>(body.alarms.map((alarm: { page: string }) => alarm.page))) {
    const [english, persian] = [
      await reads('runbook', { page, language: 'en' }),
      await reads('runbook', { page, language: 'fa' }),
    ]
    expect(english.body.text).toMatch(/^# .*\n[\s\S]*## Recovery/)
    expect(persian.body.text).toMatch(/^# .*\n[\s\S]*## بازگشت به حالت عادی/)
  }
  expect(await reads('runbook', { page: 'nothing', language: 'fa' })).toEqual(refused('there is no page'))
})

test('the setup is checked; the key, the webhook and its signatures are changed and tested', async () => {
  const { body: findings } = await reads('setup')
  expect(findings.at(-1)).toMatchObject({ item: { done: 7, all: 7 } })
  const { body: parameters } = await reads('parameters')
  expect(parameters).toContainEqual({ name: 'accounting-key', modified: expect.any(String) })
  const { body: service } = await reads('service')
  expect(service).toMatchObject({ hasKey: true, flags: ' --local', deploy: 'npm start' })
  const { url } = service
  expect(await changes('key', { key: 'sandbox-key', check: true })).toEqual(ok())
  const send = {
    url,
    ...order,
    externalId: 'sent',
    status: 'paid',
    total: 1,
    invoiceNumber: 1,
    age: 0,
    wait: 0,
  }
  expect(await changes('send', send)).toEqual(ok(some({ taken: true })))
  const t = Math.round(Date.now() / 1000)
  const v1 = createHmac('sha256', 's').update(`${t}.{}`).digest('hex')
  const signed = { signature: `t=${t},v1=${v1}`, body: Buffer.from('{}').toString('base64'), secret: 's' }
  expect(await changes('signature', signed)).toEqual(ok(some({ valid: true })))

  const ended = () => until(async () => (await reads('service')).body.job?.end !== undefined)
  expect(await changes('webhook/register', { url, again: false, check: false })).toEqual(ok())
  await ended()
  const { body: registered } = await reads('service')
  expect(registered.job.end.text).toContain(registered.secrets.at(-1).id)
  expect((await local.relay(['unregister', '--yes', url])).code).toBe(0)
  const { body: removed } = await reads('service')
  expect([removed.secrets, removed.job]).toEqual([[], undefined])
  const isNoted = (noted: string, code: string) => async () =>
    (await reads('overview')).body.notices.some(
      ({ level, check }: { level: string; check: { code?: string } }) =>
        level === noted && check.code === code,
    )
  await until(isNoted('problem', 'webhook-unregistered'))
  const { out } = await local.relay(['register', '--no-check'])
  expect(out).toMatch(
    /: no webhooks were received from \S+ to \S+; .*\n.* relay audit --since 30d --repair --local$/m,
  )
  await until(isNoted('note', 'was-unregistered'))
  expect(await changes('webhook/rotate', { url, lead: 600, overlap: 0, wait: false })).toEqual(ok())
  expect(await changes('webhook/stop')).toEqual(ok())
  await ended()
  expect(await changes('webhook/unregister', { url, name: 'another' })).toEqual(refused('not confirmed'))
})

test('an audit is started, and differences are repaired', async () => {
  expect(await changes('audit/start', { since: '1h' })).toEqual(ok())
  await until(async () => (await reads('audit')).body.job?.end !== undefined)
  expect((await reads('balance')).body.balance).toMatchObject({ until: expect.any(String) })
  expect(await changes('audit/repair', { orders: [order] })).toEqual(ok({ checked: 1 }))
  expect((await reads('balance')).body.balance).toMatchObject({ repaired: { orders: 1 } })
})

test('the log is followed until its reader leaves', async () => {
  called.add('get log')
  const leaving = new AbortController()
  const response = await fetch(`${url()}/api/log?since=10m`, {
    headers: { authorization: authorization() },
    signal: leaving.signal,
  })
  const { value } = (await response.body?.getReader().read()) ?? {}
  leaving.abort()
  const [first = ''] = new TextDecoder().decode(value).split('\n')
  expect(JSON.parse(first)).toMatchObject({ item: { message: expect.any(String) } })
})

test('every route of the console is called by a test', () => {
  const live = createLive(context(), AbortSignal.abort())
  const routes = routesOf(context(), live).map(({ method, path }) => `${method} ${path}`)
  expect(routes.filter(route => !called.has(route))).toEqual([])
})
