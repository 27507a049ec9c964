import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { verify } from '../../lib/protocol/signature.ts'
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

  const { headers, body } = received[0] ?? {}
  const envelope = JSON.parse(String(body))
  expect(headers).toMatchObject({
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
  const header = String(headers?.['x-service-signature'])
  const now = Math.floor(Date.now() / 1000)
  const check = { header, body: body ?? Buffer.alloc(0), now }
  expect(verify({ ...check, secrets: [String(registered.secret)] })).toMatchObject({ valid: true })
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

  const times = received.map(({ headers, body: bytes }) => {
    const header = String(headers['x-service-signature'])
    const now = Math.floor(Date.now() / 1000)
    expect(verify({ header, body: bytes, secrets: [String(body.secret)], now }).valid).toBe(true)
    return Number(/^t=(\d+)/.exec(header)?.[1])
  })
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

test('every registered URL receives the webhook, signed with its own secret', async () => {
  const client = sandbox()
  const both = [await receiver(), await receiver()]
  const secrets: string[] = []
  for (const { url } of both) secrets.push(String((await client.register(url)).body.secret))
  await fixedOrder(client)
  await client.retry('1')
  for (const [index, { received, until }] of both.entries()) {
    await until(1)
    const { headers, body } = received[0] ?? { headers: {}, body: Buffer.alloc(0) }
    const header = String(headers['x-service-signature'])
    const now = Math.floor(Date.now() / 1000)
    expect(verify({ header, body, secrets: [secrets[index] ?? ''], now }).valid).toBe(true)
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
  const signedBy = () => {
    const { headers, body } = received.at(-1) ?? { headers: {}, body: Buffer.alloc(0) }
    const header = String(headers['x-service-signature'])
    const now = Math.floor((Date.now() + later) / 1000)
    return [first, second, third].map(
      reply => reply && verify({ header, body, secrets: [String(reply.body.secret)], now }).valid,
    )
  }
  let third: typeof second | undefined
  expect(signedBy()).toEqual([true, true, undefined])
  const resend = () => client.panel(`deliveries/${delivery?.delivery}/resend`, { method: 'POST' })
  later = DAY / 50
  await resend()
  expect(signedBy()).toEqual([false, true, undefined])
  third = await client.register(url)
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

describe('after a restart', () => {
  const data = join(tmpdir(), `sandbox-webhooks-${process.pid}.db`)
  afterEach(async () => {
    for (const rest of ['', '-wal', '-shm']) await rm(data + rest, { force: true })
  })

  test('a pending delivery is sent with the same id', async () => {
    let isUp = false
    const { url, received, until } = await receiver(() => (isUp ? 200 : 500))
    const first = await startSandbox({ port: 0, data })
    const client = clientOf(first.url)
    await client.register(url)
    await fixedOrder(client)
    await client.retry('1')
    await until(1)
    await first.close()

    isUp = true
    // Later than the first wait of the schedule.
    const second = await startSandbox({ port: 0, data, clock: () => new Date(Date.now() + 6000) })
    await until(2)
    const [delivery] = await settled(clientOf(second.url))
    expect(delivery).toMatchObject({ state: 'delivered' })
    expect(new Set(received.map(({ headers }) => headers['x-service-delivery']))).toEqual(
      new Set([String(delivery?.delivery)]),
    )
    await second.close()
  })
})
