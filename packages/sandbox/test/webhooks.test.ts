import { afterEach, expect, test } from '@jest/globals'
import { verify } from '@order-relay/lib/protocol/signature.ts'
import { listening } from '@order-relay/test-support/server.ts'
import { attempt } from '../src/delivery/attempt.ts'
import { waitAfter } from '../src/delivery/sender.ts'
import { startSandbox } from '../src/start.ts'
import {
  call,
  clientOf,
  eachWithSandbox,
  eventually,
  type Json,
  order,
  SHORT,
  startReceiver,
} from './world.ts'

/** A day of the schedule takes 86 ms. */
const sandbox = eachWithSandbox({ speed: 1_000_000 })

type Receiver = Awaited<ReturnType<typeof startReceiver>>
const closing: { close: () => Promise<void> }[] = []
afterEach(() => Promise.all(closing.splice(0).map(each => each.close())))

const closed = <Part extends (typeof closing)[number]>(part: Part): Part => {
  closing.push(part)
  return part
}
const receiver = async (...answers: Parameters<typeof startReceiver>) =>
  closed(await startReceiver(...answers))

/** Retries an order whose cause is fixed, which sends a webhook. */
const retryFixed = async ({ create, product, retry } = sandbox(), id = '1') => {
  await create(order(id, { ...SHORT, payment: { method: 'online' } }))
  await product('SKU-3', { stock: 2 })
  return (await retry(id)).body
}

/** A receiver that is registered before such a retry. */
const notified = async (answer?: Parameters<typeof startReceiver>[0], client = sandbox()) => {
  const started = await receiver(answer)
  const { status, body } = await client.register(started.url)
  const secret = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect([status, body]).toEqual([200, { url: started.url, secret }])
  return { ...started, client, secret: String(body.secret), result: await retryFixed(client) }
}

/** Whether a request is signed with this secret. */
const isSigned = ({ headers, body }: Receiver['received'][number], secret: unknown) =>
  verify({
    header: String(headers['x-service-signature']),
    body,
    now: Math.floor(Date.now() / 1000),
    secrets: [String(secret)],
  }).valid

const settled = ({ list } = sandbox()) =>
  eventually(
    () => list('deliveries'),
    all => all.every(({ state }) => String(state) !== 'pending'),
  )
const resend = (id: unknown, { post } = sandbox()) => post(`deliveries/${id}/resend`)

test('a retry that changes the status sends a signed webhook', async () => {
  const { client, received, until, secret, result } = await notified()
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
  expect(first && isSigned(first, secret)).toBe(true)
})

test("neither a store's own requests nor a retry without effect sends a webhook", async () => {
  const { register, create, pay, refund, retry, list } = sandbox()
  await register('http://127.0.0.1:9/')
  for (const body of [order('1'), order('2', SHORT)]) {
    await create(body)
    await pay(body.external_id)
    await refund(body.external_id)
  }
  await retry('2')
  expect(await list('deliveries')).toEqual([])
})

test('each attempt has a new t, the same delivery id and the same body; a redirect is not an acceptance', async () => {
  // Slow enough that t, in seconds, differs between the first and the last attempt.
  const slow = clientOf(closed(await startSandbox({ port: 0, speed: 30 })).url)
  const answers = [302, 'hang up', 204] as const
  const { received, until, secret } = await notified(attempt => answers[attempt - 1] ?? 200, slow)
  await until(3)

  expect(received.every(each => isSigned(each, secret))).toBe(true)
  const times = received.map(({ headers }) =>
    Number(/^t=(\d+)/.exec(String(headers['x-service-signature']))?.[1]),
  )
  expect(times[2]).toBeGreaterThan(times[0] ?? Number.NaN)
  const sent = received.map(({ headers, body }) => `${headers['x-service-delivery']} ${body}`)
  expect(new Set(sent).size).toBe(1)
  const [delivery] = await settled(slow)
  expect(delivery).toMatchObject({
    state: 'delivered',
    next_attempt_at: null,
    status: 'paid',
    external_id: '1',
    attempts: [
      { t: times[0], status: 302, response: 'answer 302', error: null },
      { t: times[1], status: null, response: null, error: expect.any(String) },
      { t: times[2], status: 204 },
    ],
  })
})

test('a delivery fails after eight attempts, and a resend can deliver it', async () => {
  const { received } = await notified(attempt => (attempt < 10 ? 503 : 200))
  const [failed] = await settled()
  expect(failed).toMatchObject({ state: 'failed', next_attempt_at: null, attempts: { length: 8 } })

  expect((await resend(failed?.delivery)).body).toMatchObject({ state: 'failed' })
  const delivered = { state: 'delivered', attempts: { length: 10 } }
  expect(await resend(failed?.delivery)).toMatchObject({ status: 200, body: delivered })
  expect(received.at(-1)?.headers['x-service-delivery']).toBe(failed?.delivery)
  expect((await resend('unknown')).status).toBe(404)
})

test('registers, tests and removes a URL in the panel, and shows each delivery as it was sent', async () => {
  const client = sandbox()
  const { url, received, until } = await receiver()
  const { secret } = (await client.put('webhooks', { url })).body
  const sent = async (test: Json) => {
    const last = received.at(-1)
    expect(last && isSigned(last, secret)).toBe(true)
    expect(test.body).toEqual(String(last?.body))
    expect(last?.headers).toMatchObject(test.headers ?? { none: true })
  }
  const test = () => client.post('webhooks/test', { url })
  const { body } = await test()
  expect(body).toMatchObject({ url, status: 200, response: 'answer 200' })
  expect(JSON.parse(String(body.body)).data).toMatchObject({ source: 'sandbox-test', status: 'paid' })
  await sent(body)
  await retryFixed()
  await until(2)
  const [delivery] = await settled()
  await sent({ ...delivery, ...delivery?.attempts?.[0] } as Json)
  const at = `webhooks?url=${encodeURIComponent(url)}`
  expect((await client.panel(at, { method: 'DELETE' })).status).toBe(204)
  expect((await test()).status).toBe(409)
})

test('each registered URL receives the webhook signed with its own secret, even if another URL is slow', async () => {
  const hanging = await receiver(() => 'hang')
  await sandbox().register(hanging.url)
  const first = await receiver()
  const { secret } = (await sandbox().register(first.url)).body
  const second = await notified()
  for (const [{ received, until }, own, other] of [
    [first, secret, second.secret],
    [second, second.secret, secret],
  ] as const) {
    await until(1)
    expect(received.map(each => [isSigned(each, own), isSigned(each, other)])).toEqual([[true, false]])
  }
})

test('registering a URL again changes its secret, and every later attempt has one signature, of the newest', async () => {
  // Slow enough to register again before the second attempt, 100 ms after the first.
  const client = clientOf(closed(await startSandbox({ port: 0, speed: 50 })).url)
  let isUp = false
  const { url, received, until, secret } = await notified(() => (isUp ? 200 : 500), client)
  await until(1)
  const secrets: unknown[] = [secret]
  const registerAgain = async () => secrets.push((await client.register(url)).body.secret)
  await registerAgain()
  isUp = true
  const [delivery] = await settled(client)
  const signedBy = () => secrets.map(each => received.slice(-1).every(last => isSigned(last, each)))
  expect(signedBy()).toEqual([false, true])
  await registerAgain()
  await resend(delivery?.delivery, client)
  expect(signedBy()).toEqual([false, false, true])
  const headers = received.map(each => String(each.headers['x-service-signature']))
  expect(headers).toEqual(headers.map(() => expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/)))
  expect(await client.list('webhooks')).toHaveLength(1)
})

test('a removed URL receives nothing more, not even pending deliveries', async () => {
  const { client, url, until } = await notified(() => 500)
  await until(1)
  for (const removed of [url, url, 'a']) expect((await client.unregister(removed)).status).toBe(204)
  const [delivery] = await settled()
  expect(delivery).toMatchObject({ state: 'failed', next_attempt_at: null })
  expect((await resend(delivery?.delivery)).status).toBe(409)
  expect(await client.list('webhooks')).toEqual([])
  await client.act('1', 'return')
  expect(await client.list('deliveries')).toHaveLength(1)
})

test('a removal requires a URL in the body and is idempotent', async () => {
  const { register, list, url } = sandbox()
  const remove = (body?: object) => call(`${url}/api/v1/webhook/`, { method: 'DELETE', body })
  await register('http://127.0.0.1:9/x')
  expect((await remove()).body.error).toMatchObject({ field: 'url' })
  for (let times = 0; times < 2; times++)
    expect(await remove({ url: 'http://127.0.0.1:9/x' })).toMatchObject({ status: 204, body: null })
  expect(await list('webhooks')).toEqual([])
})

const attemptTo = (url: string, timeoutMs?: number) => {
  const { signal } = new AbortController()
  return attempt({ url, delivery: 'd', body: '{}' }, 'secret', () => new Date(), signal, timeoutMs)
}

test('records a timeout and an unreachable receiver as the outcome', async () => {
  const { url, close } = await startReceiver(() => 'hang')
  const late = { status: null, error: 'no response within 0.05 s', response: null }
  expect(await attemptTo(url, 50)).toMatchObject(late)
  await close()
  expect(await attemptTo(url)).toMatchObject({ status: null, error: expect.stringContaining('ECONNREFUSED') })
})

test('uses the status of an endless response and stores only its beginning', async () => {
  const { url, close } = await listening((_request, response) => {
    const more = () => response.write('x'.repeat(10_000), more)
    more()
  })
  expect(await attemptTo(url)).toMatchObject({ status: 200, response: 'x'.repeat(500) })
  await close()
})

test('the retry delays are 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, divided by the speed', () => {
  const waits = Array.from({ length: 8 }, (_, index) => waitAfter(index + 1, 1))
  expect(waits).toEqual([5, 30, 120, 600, 3600, 21600, 86400, undefined].map(s => s && s * 1000))
  expect(waitAfter(7, 10_000)).toBe(8640)
})
