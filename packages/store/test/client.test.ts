import { describe, expect, test } from '@jest/globals'
import { startServer } from '@order-relay/test-support/server.ts'
import { useSandbox } from 'order-relay-sandbox/test/world.ts'
import { type ClientOptions, createClient } from '../src/client.ts'
import { RequestError } from '../src/requests.ts'

const order = (external_id: string, sku = 'SKU-1') => ({
  external_id,
  items: [{ sku, quantity: 1.5, unit_price: 1_000_000 }],
})

describe('against the accounting service', () => {
  const sandbox = useSandbox()
  const client = () => createClient({ baseUrl: `${sandbox().url}/`, key: 'sandbox-key', source: 'shop.ir' })

  test('creates, pays and refunds an order with any id', async () => {
    const id = 'سفارش/1 %'
    const created = { source: 'shop.ir', external_id: id, status: 'invoiced', duplicate: false }
    expect(await client().create(order(id))).toMatchObject({ status: 201, order: created })
    expect((await client().pay(id, { method: 'card' })).order).toMatchObject({ status: 'paid' })
    expect((await client().refund(id, 'returned')).order.status).toBe('refunded')
    expect(await client().read(id)).toMatchObject({ status: 'refunded', return_number: expect.any(Number) })
  })

  test('throws a refusal as an error with code, field and message', async () => {
    const message = expect.stringContaining('none')
    const refused = { status: 400, code: 'unknown_sku', field: 'items[0].sku', message }
    await expect(client().create(order('2', 'none'))).rejects.toMatchObject(refused)
    const stranger = createClient({ baseUrl: sandbox().url, key: async () => 'wrong' })
    await expect(stranger.read('none')).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
  })

  test('registers and removes webhooks', async () => {
    const url = 'http://127.0.0.1:1/webhook'
    expect(await client().registerWebhook(url)).toEqual({ url, secret: expect.any(String) })
    await client().removeWebhook(url)
  })
})

/** A client of a service with these response statuses (0 is a lost connection), and the requests received. */
const answered = (
  answers: number[],
  options: Partial<ClientOptions> = {},
  { body = '{"external_id":"1"}', retryAfter = '0' } = {},
) => {
  const requests: RequestInit[] = []
  const send: typeof fetch = async (_url, init = {}) => {
    const status = answers[requests.push(init) - 1] ?? 200
    if (status === 0) throw new TypeError('fetch failed')
    return new Response(body, { status, headers: { 'retry-after': retryAfter, 'relay-request-id': 'i' } })
  }
  return { requests, client: createClient({ baseUrl: 'http://a.test', key: 'k', fetch: send, ...options }) }
}

test('retries temporary failures, including a lost connection', async () => {
  const { client, requests } = answered([503, 429, 0])
  expect(await client.create(order('1'))).toMatchObject({ status: 200, id: 'i' })
  expect(requests).toHaveLength(4)
})

test('accepts a date in Retry-After', async () => {
  const { client } = answered([503], {}, { retryAfter: new Date(Date.now() + 2500).toUTCString() })
  const start = performance.now()
  await client.read('1')
  expect(performance.now() - start).toBeGreaterThan(1000)
})

test.each<[string, number[], object, object, object?]>([
  ['too many failures', [503, 503], { attempts: 2 }, { status: 503 }],
  ['too many lost connections', [0], { attempts: 1 }, { code: 'unreachable' }],
  ['a refusal, which is not retried,', [400], {}, { status: 400, code: 'unknown', id: 'i' }],
  [
    'too many open requests for the order',
    [429],
    {},
    { status: 429, code: 'too_many_requests' },
    { body: '{"error":{"code":"too_many_requests"}}' },
  ],
  [
    'a page instead of JSON',
    [200],
    {},
    {
      status: 200,
      code: 'unknown',
      message: 'Not an answer of the relay, but 200 without JSON; check baseUrl',
    },
    { body: '<html>' },
  ],
  [
    'a page instead of the order',
    [404],
    {},
    { status: 404, message: 'Not an answer of the relay, but 404 without JSON; check baseUrl' },
    { body: '<html>' },
  ],
])('throws for %s', async (_name, answers, options, error, response = {}) => {
  const { client, requests } = answered(answers, options, response)
  const failed = await client.read('1').catch((each: unknown) => each)
  expect(failed).toBeInstanceOf(RequestError)
  expect(failed).toMatchObject(error)
  expect(requests).toHaveLength(answers.length)
})

test('throws for a redirect without following or retrying it', async () => {
  const paths: unknown[] = []
  const { port, close } = await startServer(async ({ url }) => {
    paths.push(url)
    return { status: 307, headers: { location: '/elsewhere' } }
  })
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, key: 'k', source: 'api' })
  await expect(client.read('1')).rejects.toMatchObject({
    status: 307,
    message: 'Not an answer of the relay, but a redirect (307) to "/elsewhere"; check baseUrl',
  })
  await close()
  expect(paths).toEqual(['/api/v1/orders/1/?source=api'])
})

test('an order whose source is undefined has the source of the client', async () => {
  const bodies: unknown[] = []
  const { port, close } = await startServer(async (_request, body) => {
    bodies.push(JSON.parse(body.toString()))
    return { status: 200 }
  })
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, key: 'k', source: 'shop' })
  const unnamed = { ...order('1'), source: undefined }
  await client.create(unnamed)
  await close()
  expect(bodies).toEqual([{ ...order('1'), source: 'shop' }])
})

test('a client without a source names no source in its requests', async () => {
  const received: unknown[] = []
  const { port, close } = await startServer(async ({ method, url }, body) => {
    received.push([method, url, JSON.parse(body.toString() || '{}')])
    return { status: 200 }
  })
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, key: 'k' })
  await client.create(order('1'))
  await client.pay('1', { method: 'card' })
  await client.withdraw('1', 'payment')
  await close()
  expect(received).toEqual([
    ['POST', '/api/v1/orders/', order('1')],
    ['POST', '/api/v1/orders/1/payment/', { method: 'card' }],
    ['DELETE', '/api/v1/orders/1/payment/', {}],
  ])
})

const REFUSED = [
  { id: 'i', kind: 'create', state: 'waiting', reason: { status: 400, message: 'No product' } },
]

test.each([404, 503])(
  "a read that is answered %i returns an order's requests, if the relay knows them",
  async status => {
    const relay = { version: 1, updated_at: '2026-11-22T08:00:00.000Z', requests: REFUSED }
    const body = JSON.stringify({ error: { code: 'not_found', message: 'unknown' }, relay })
    const { client, requests } = answered([status], {}, { body })
    expect(await client.read('7')).toEqual({ source: 'api', external_id: '7', relay })
    expect(requests).toHaveLength(1)
  },
)

test.each([
  [404, 'payment', 'not_found', 1],
  [404, 'withdrawal', 'not_found', 1],
  [503, 'payment', 'unavailable', 4],
])(
  'a read that is answered %i rejects if the relay knows only a %s',
  async (status, kind, code, attempts) => {
    const relay = { version: 1, requests: [{ id: 'i', kind, state: 'rejected' }] }
    const body = JSON.stringify({ error: { code, message: 'unknown' }, relay })
    const { client, requests } = answered(Array(4).fill(status), {}, { body })
    await expect(client.read('nix')).rejects.toMatchObject({ status, code })
    expect(requests).toHaveLength(attempts)
  },
)

test('the caller can set how long the relay waits', async () => {
  const { client, requests } = answered([])
  for (const wait of [0, 7]) await client.create(order('1'), { wait, strict: wait > 0 })
  const preferred = requests.map(({ headers }) => new Headers(headers).get('prefer'))
  expect(preferred).toEqual(['respond-async', 'wait=7, handling=strict'])
})

test.each([
  [1000, undefined, 'wait=1'],
  [2000, undefined, 'wait=1'],
  [3400, undefined, 'wait=2'],
  [3500, undefined, null],
  [15_000, undefined, null],
  [3000, 2, 'wait=2'],
  [500, 0, 'respond-async'],
])(
  'a timeout of %i ms asks the relay to answer before it, unless the caller sets the wait: %p',
  async (timeout, wait, expected) => {
    const { client, requests } = answered([], { timeout })
    await client.create(order('1'), wait === undefined ? {} : { wait })
    await client.read('1')
    const preferred = requests.map(({ headers }) => new Headers(headers).get('prefer'))
    expect(preferred).toEqual([expected, null])
  },
)

test('names the reason of a connection that fails, and says whether the request may have been accepted', async () => {
  const { port, close } = await startServer(async () => ({ status: 200 }))
  await close()
  const url = `http://127.0.0.1:${port}`
  const refused = createClient({ baseUrl: url, key: 'k', attempts: 1 })
  await expect(refused.create(order('1'))).rejects.toMatchObject({
    code: 'unreachable',
    message: `Cannot reach ${url}/api/v1/: ECONNREFUSED`,
  })
  const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  const failures = [
    new TypeError('fetch failed', { cause }),
    Object.assign(new Error(), { code: 'ENOTFOUND' }),
  ]
  const lost = answered([], { attempts: 2, fetch: () => Promise.reject(failures.shift()) })
  await expect(lost.client.create(order('1'))).rejects.toThrow(
    /^Cannot reach .*: ENOTFOUND; the request may have been accepted, and sending it again is safe$/,
  )
})

test('names a key that cannot be read instead of an unreachable relay', async () => {
  const key = () => Promise.reject(new Error('AccessDenied'))
  const { client, requests } = answered([], { key, attempts: 1 })
  await expect(client.create(order('1'))).rejects.toMatchObject({
    name: 'RequestError',
    message: 'Cannot send a request: the function "key" failed: AccessDenied',
  })
  expect(requests).toEqual([])
})

test('a slow response times out, and the caller can abort', async () => {
  const hangs: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) =>
      init?.signal?.addEventListener('abort', ({ target }) => reject((target as AbortSignal).reason)),
    )
  const { client } = answered([], { fetch: hangs, attempts: 1, timeout: 20 })
  await expect(client.read('1')).rejects.toMatchObject({
    code: 'unreachable',
    message:
      'No complete response from http://a.test/api/v1/ within 20 ms; if it only needs longer, raise timeout',
  })
  await expect(client.pay('1', { method: 'card' })).rejects.toThrow(
    'No complete response from http://a.test/api/v1/ within 20 ms; the request may have been accepted, and sending it again is safe; if it only needs longer, raise timeout or pass a shorter wait',
  )
  const waits = answered([503], {}, { retryAfter: '30' })
  const start = performance.now()
  for (const patient of [answered([], { fetch: hangs }), waits]) {
    const broken = patient.client.read('1', { signal: AbortSignal.timeout(20) })
    await expect(broken).rejects.toMatchObject({ name: 'TimeoutError' })
  }
  expect(performance.now() - start).toBeLessThan(20_000)
})

test('warnings are the names of the fields without effect, each once, with the fields that were probably meant', async () => {
  const headers = { 'relay-warnings': 'discont, discont;meant=discount, %D8%A7%3B' }
  const send: typeof fetch = async () => Response.json({}, { status: 201, headers })
  const { client } = answered([], { fetch: send })
  const { warnings, meant } = await client.create({ external_id: '1', items: [] })
  expect(warnings).toEqual(['discont', 'ا;'])
  expect(meant).toEqual({ discont: 'discount' })
})
