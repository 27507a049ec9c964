import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { verify } from '../../lib/protocol/signature.ts'
import { attempt } from '../../sandbox/delivery/attempt.ts'
import { waitAfter } from '../../sandbox/delivery/record.ts'
import { startSandbox } from '../../sandbox/start.ts'
import {
  type Client,
  call,
  clientOf,
  eachWithSandbox,
  eventually,
  type Json,
  order,
  startReceiver,
} from './world.ts'

const DAY = 24 * 60 * 60 * 1000

/** A day of the schedule takes 86 ms. */
const sandbox = eachWithSandbox({ speed: 1_000_000 })

type Receiver = Awaited<ReturnType<typeof startReceiver>>
let receivers: Receiver[] = []
beforeEach(() => {
  receivers = []
})
afterEach(() => Promise.all(receivers.map(receiver => receiver.close())))

const receiver = async (answer?: Parameters<typeof startReceiver>[0]) => {
  const started = await startReceiver(answer)
  receivers.push(started)
  return started
}

/** An order in review whose cause is fixed, so that a retry sends a webhook. */
const fixedOrder = async ({ create, product }: Client, id = '1') => {
  await product('SKU-3', { stock: 0 })
  await create(
    order(id, { items: [{ sku: 'SKU-3', quantity: 1, unit_price: 1000 }], payment: { method: 'online' } }),
  )
  await product('SKU-3', { stock: 1 })
}

/** Whether a request is signed with this secret. */
const isSigned = ({ headers, body }: Receiver['received'][number], secret: unknown, now = Date.now()) =>
  verify({
    ...{ header: String(headers['x-service-signature']), body, now: Math.floor(now / 1000) },
    secrets: [String(secret)],
  }).valid

const deliveries = async ({ panel }: Client) => [...((await panel('deliveries')).body.deliveries ?? [])]

const settled = (client: Client) =>
  eventually(
    () => deliveries(client),
    all => all.every(({ state }) => String(state) !== 'pending'),
  )

test('a retry that changes the status sends a signed webhook', async () => {
  const client = sandbox()
  const { url, received, until } = await receiver()
  const { status, body: registered } = await client.register(url)
  expect(status).toBe(200)
  expect(registered).toEqual({ url, secret: expect.stringMatching(/^[0-9a-f]{64}$/) })
  await fixedOrder(client)
  const { body: result } = await client.retry('1')
  await until(1)

  const [first] = received
  const envelope = JSON.parse(String(first?.body))
  expect(first?.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'order-relay-sandbox/1.0',
    'x-service-event': 'order.updated',
    'x-service-delivery': envelope.delivery,
  })
  expect(envelope).toEqual({
    event: 'order.updated',
    data: (await client.read('1')).body,
    delivery: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
  })
  expect(envelope.data).toMatchObject({ status: 'paid', total: result.total })
  expect(first && isSigned(first, registered.secret)).toBe(true)
})

test("neither a store's own requests nor a retry without effect sends a webhook", async () => {
  const client = sandbox()
  const { url } = await receiver()
  await client.register(url)
  await client.create(order('1'))
  await client.pay('1')
  await client.refund('1')
  await client.create(order('2', { items: [{ sku: 'SKU-3', quantity: 1, unit_price: 1 }] }))
  await client.pay('2')
  await client.refund('2')
  await client.retry('2')
  expect(await deliveries(client)).toEqual([])
})

test('every attempt has a new t and the same delivery id and body until the receiver accepts it', async () => {
  // Slow enough that t, in seconds, differs between the first and the last attempt.
  const slow = await startSandbox({ port: 0, speed: 30 })
  const client = clientOf(slow.url)
  const { url, received, until } = await receiver(attempt => (attempt < 3 ? 500 : 204))
  const { body } = await client.register(url)
  await fixedOrder(client)
  await client.retry('1')
  await until(3)

  expect(received.every(each => isSigned(each, body.secret))).toBe(true)
  const times = received.map(({ headers }) =>
    Number(/^t=(\d+)/.exec(String(headers['x-service-signature']))?.[1]),
  )
  expect(times[2]).toBeGreaterThan(times[0] ?? Number.NaN)
  expect(new Set(received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(1)
  expect(new Set(received.map(({ body: bytes }) => String(bytes))).size).toBe(1)
  const [delivery] = await settled(client)
  expect(delivery).toMatchObject({
    state: 'delivered',
    next_attempt_at: null,
    status: 'paid',
    external_id: '1',
  })
  expect(delivery?.attempts).toMatchObject([
    { t: times[0], status: 500, response: 'answer 500', error: null },
    { t: times[1], status: 500 },
    { t: times[2], status: 204 },
  ])
  await slow.close()
})

test('neither a redirect nor a broken connection is a success', async () => {
  const client = sandbox()
  const answers = [302, 'hang up', 404, 200] as const
  const { url, until } = await receiver(attempt => answers[attempt - 1] ?? 200)
  await client.register(url)
  await fixedOrder(client)
  await client.retry('1')
  await until(4)
  const [delivery] = await settled(client)
  const attempts: Json[] = [...(delivery?.attempts ?? [])]
  expect(attempts.map(({ status }) => status)).toEqual([302, null, 404, 200])
  expect(attempts[1]).toMatchObject({ error: expect.any(String), response: null })
})

test('a delivery fails after eight attempts, and a resend can still deliver it', async () => {
  const client = sandbox()
  const { url, received } = await receiver(attempt => (attempt < 10 ? 503 : 200))
  await client.register(url)
  await fixedOrder(client)
  await client.retry('1')
  const [failed] = await settled(client)
  expect(failed).toMatchObject({ state: 'failed', next_attempt_at: null })
  expect(failed?.attempts).toHaveLength(8)

  const resend = () => client.panel(`deliveries/${failed?.delivery}/resend`, { method: 'POST' })
  expect((await resend()).body).toMatchObject({ state: 'failed' })
  const { status, body } = await resend()
  expect({ status, state: body.state }).toEqual({ status: 200, state: 'delivered' })
  expect(body.attempts).toHaveLength(10)
  expect(received.at(-1)?.headers['x-service-delivery']).toBe(failed?.delivery)
  expect((await client.panel('deliveries/unknown/resend', { method: 'POST' })).status).toBe(404)
})

test('a URL is registered, tested and removed in the panel, and each delivery is shown as it was sent', async () => {
  const client = sandbox()
  const { url, received, until } = await receiver()
  const { secret } = (await client.panel('webhooks', { method: 'PUT', body: { url } })).body
  const sent = async (test: Json) => {
    const last = received.at(-1)
    expect(last && isSigned(last, secret)).toBe(true)
    expect(test.body).toEqual(String(last?.body))
    expect(last?.headers).toMatchObject(test.headers ?? { none: true })
  }
  const test = (to = url) => client.panel('webhooks/test', { method: 'POST', body: { url: to } })
  const { body } = await test()
  expect(body).toMatchObject({ url, status: 200, response: 'answer 200' })
  expect(JSON.parse(String(body.body)).data).toMatchObject({ source: 'sandbox-test', status: 'paid' })
  await sent(body)
  await fixedOrder(client)
  await client.retry('1')
  await until(2)
  const [delivery] = await settled(client)
  await sent({ ...delivery, ...delivery?.attempts?.[0] } as Json)
  const at = `webhooks?url=${encodeURIComponent(url)}`
  expect((await client.panel(at, { method: 'DELETE' })).status).toBe(204)
  expect((await test()).status).toBe(409)
})

test('every registered URL receives the webhook, signed with its own secret', async () => {
  const client = sandbox()
  const both = [await receiver(), await receiver()]
  const secrets: string[] = []
  for (const { url } of both) secrets.push(String((await client.register(url)).body.secret))
  await fixedOrder(client)
  await client.retry('1')
  for (const [index, { received, until }] of both.entries()) {
    await until(1)
    expect(received.map(each => isSigned(each, secrets[index]))).toEqual([true])
  }
  expect(new Set(secrets).size).toBe(2)
})

test('registering a URL again changes the secret; for a day the old one signs as well', async () => {
  let later = 0
  // Slow enough to register again before the second attempt, 100 ms after the first.
  const slow = await startSandbox({ port: 0, speed: 50, clock: () => new Date(Date.now() + later) })
  const client = clientOf(slow.url)
  let isUp = false
  const { url, received, until } = await receiver(() => (isUp ? 200 : 500))
  const first = await client.register(url)
  await fixedOrder(client)
  await client.retry('1')
  await until(1)
  const second = await client.register(url)
  isUp = true
  const [delivery] = await settled(client)
  const secrets = [first.body.secret, second.body.secret]
  const signedBy = () =>
    secrets.map(secret => received.slice(-1).every(last => isSigned(last, secret, Date.now() + later)))
  expect(signedBy()).toEqual([true, true])
  const resend = () => client.panel(`deliveries/${delivery?.delivery}/resend`, { method: 'POST' })
  later = DAY / 50
  await resend()
  expect(signedBy()).toEqual([false, true])
  secrets.push((await client.register(url)).body.secret)
  await resend()
  expect(signedBy()).toEqual([false, true, true])
  expect((await client.panel('webhooks')).body.webhooks).toHaveLength(1)
  await slow.close()
})

test('a removed URL receives nothing more, not even pending deliveries', async () => {
  const client = sandbox()
  const { url, until } = await receiver(() => 500)
  await client.register(url)
  await fixedOrder(client)
  await client.retry('1')
  await until(1)
  expect((await client.unregister(url)).status).toBe(204)
  const [delivery] = await settled(client)
  expect(delivery).toMatchObject({ state: 'failed', next_attempt_at: null })
  const resent = await client.panel(`deliveries/${delivery?.delivery}/resend`, { method: 'POST' })
  expect(resent.status).toBe(409)
  expect((await client.panel('webhooks')).body.webhooks).toEqual([])
  await fixedOrder(client, '2')
  await client.retry('2')
  expect(await deliveries(client)).toHaveLength(1)
})

test('a removal takes the URL from the body, requires one, and can be repeated', async () => {
  const client = sandbox()
  const at = `${client.url}/api/v1/webhook/`
  await client.register('http://127.0.0.1:9/x')
  expect((await call(at, { method: 'DELETE' })).body.error).toMatchObject({ field: 'url' })
  for (let times = 0; times < 2; times++) {
    const reply = await call(at, { method: 'DELETE', body: { url: 'http://127.0.0.1:9/x' } })
    expect(reply).toMatchObject({ status: 204, body: null })
  }
  expect((await client.panel('webhooks')).body.webhooks).toEqual([])
})

test('a slow receiver does not delay the others', async () => {
  const client = sandbox()
  const [hanging, quick] = [await receiver(() => 'hang'), await receiver()]
  await client.register(hanging.url)
  await client.register(quick.url)
  await fixedOrder(client)
  await client.retry('1')
  await quick.until(1)
  expect(quick.received).toHaveLength(1)
})

const attemptTo = (url: string, timeoutMs?: number) =>
  attempt(
    { url, delivery: 'd', body: '{}' },
    'secret',
    () => new Date(),
    new AbortController().signal,
    timeoutMs,
  )

test('the outcome reports a timeout and an unreachable receiver', async () => {
  const { url, close } = await startReceiver(() => 'hang')
  expect(await attemptTo(url, 50)).toMatchObject({
    status: null,
    error: 'no answer within 0.05 s',
    response: null,
  })
  await close()
  expect(await attemptTo(url)).toMatchObject({ status: null, error: expect.stringContaining('ECONNREFUSED') })
})

test('the status of an endless response decides, and only its beginning is kept', async () => {
  const server = createServer((_request, response) => {
    const more = () => response.write('x'.repeat(10_000), more)
    more()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await attemptTo(`http://127.0.0.1:${port}/`)).toMatchObject({
    status: 200,
    response: 'x'.repeat(500),
  })
  server.close()
  server.closeAllConnections()
})

test('the retry delays are 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, divided by the speed', () => {
  const waits = Array.from({ length: 8 }, (_, index) => waitAfter(index + 1, 1))
  expect(waits).toEqual([5, 30, 120, 600, 3600, 21600, 86400, undefined].map(s => s && s * 1000))
  expect(waitAfter(7, 10_000)).toBe(8640)
})
