import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/start.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

/** JSON of which a test can read any field. */
export type Json = { [field: string]: Json } & Json[]

export type Reply = { status: number; headers: Headers; body: Json }

type Options = { method?: string; body?: unknown; key?: string | null; headers?: Record<string, string> }

/** Sends a request as a store or an accountant. A string body is sent unchanged. */
export const call = async (
  url: string,
  { method = 'GET', body, key = 'sandbox-key', headers = {} }: Options = {},
): Promise<Reply> => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text ? JSON.parse(text) : null,
  }
}

const path = (external_id: string, rest: string, source: string | undefined) =>
  `/${encodeURIComponent(external_id)}/${rest}${source === undefined ? '' : `?source=${encodeURIComponent(source)}`}`

export const clientOf = (url: string) => {
  const orders = `${url}/api/v1/orders`
  const post = (to: string, body?: unknown) =>
    call(to, { method: 'POST', ...(body !== undefined && { body }) })
  return {
    url,
    create: (body: unknown) => post(`${orders}/`, body),
    read: (id: string, source?: string) => call(orders + path(id, '', source)),
    pay: (id: string, body: unknown = { method: 'online' }, source?: string) =>
      post(orders + path(id, 'payment/', source), body),
    refund: (id: string, body?: unknown, source?: string) => post(orders + path(id, 'refund/', source), body),
    register: (to: string) => call(`${url}/api/v1/webhook/`, { method: 'PUT', body: { url: to } }),
    unregister: (to: string) =>
      call(`${url}/api/v1/webhook/?url=${encodeURIComponent(to)}`, { method: 'DELETE' }),
    settings: (body: unknown) => call(`${url}/panel/settings`, { method: 'PUT', body, key: null }),
    product: (sku: string, body: unknown) =>
      call(`${url}/panel/products/${encodeURIComponent(sku)}`, { method: 'PUT', body, key: null }),
    retry: (id: string, source?: string) =>
      call(`${url}/panel/orders${path(id, 'retry', source)}`, { method: 'POST', key: null }),
    detail: async (id: string, source?: string) =>
      (await call(`${url}/panel/orders${path(id, '', source)}`, { key: null })).body,
    panel: (at: string, options: Options = {}) => call(`${url}/panel/${at}`, { key: null, ...options }),
    stock: async (sku: string) => {
      const { body } = await call(`${url}/panel/products`, { key: null })
      return Number([...(body.products ?? [])].find(each => String(each.sku) === sku)?.stock)
    },
  }
}

export type Client = ReturnType<typeof clientOf>

/** Expects the form that every refusal has. */
export const expectRefusal = ({ status, body }: Reply, expected = 400) => {
  expect({ status, body }).toEqual({
    status: expected,
    body: { error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }) },
  })
}

/** An order for a product in stock. */
export const order = (external_id: string, changes: object = {}) => ({
  external_id,
  items: [{ sku: 'SKU-1', quantity: 2, unit_price: 1000 }],
  ...changes,
})

export const PAYMENT = { method: 'card', reference: 'r-1' }

/** 1, 2, 3 and so on. */
export const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

const sandboxBetween =
  (before: typeof beforeAll, after: typeof afterAll) =>
  (options: SandboxOptions = {}) => {
    let sandbox: Sandbox
    let client: Client
    before(async () => {
      sandbox = await startSandbox({ port: 0, ...options })
      client = clientOf(sandbox.url)
    })
    after(() => sandbox.close())
    return () => client
  }

/** Starts a sandbox in memory for all tests of a file or a block. */
export const useSandbox = sandboxBetween(beforeAll, afterAll)

/** Starts a sandbox in memory for each test, like {@link useSandbox}. */
export const eachWithSandbox = sandboxBetween(beforeEach, afterEach)

type Received = { headers: IncomingHttpHeaders; body: Buffer }

/** A webhook receiver that records requests and responds with the given statuses. */
export const startReceiver = async (answer: (attempt: number) => number | 'hang up' | 'hang' = () => 200) => {
  const received: Received[] = []
  const { port, close } = await startServer(async ({ headers, socket }, body) => {
    received.push({ headers, body })
    const status = answer(received.length)
    if (status === 'hang up') socket.destroy()
    if (typeof status !== 'number') return new Promise(() => undefined)
    return { status, headers: { location: '/elsewhere' }, body: `answer ${status}` }
  })
  return {
    ...{ url: `http://127.0.0.1:${port}/hook`, received, close },
    /** Resolves after this number of deliveries. */
    until: (count: number) => until(() => received.length >= count),
  }
}

/** Polls until the value, which is not falsy then, passes the check. */
export const eventually = <Value>(ask: () => Promise<Value>, isIt: (value: Value) => boolean) =>
  until(async () => {
    const value = await ask()
    return isIt(value) ? value : undefined
  })
