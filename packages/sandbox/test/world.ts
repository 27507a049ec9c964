import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals'
import { type FetchOptions, fetchJson } from '@order-relay/test-support/fetch-json.ts'
import { startServer } from '@order-relay/test-support/server.ts'
import { until } from '@order-relay/test-support/until.ts'
import * as v from 'valibot'
import { operations } from '../src/openapi/document.ts'
import { SCHEMAS, type SchemaName } from '../src/openapi/schemas.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/start.ts'

/** JSON whose fields a test can read freely. */
export type Json = { [field: string]: Json } & Json[]

export type Reply = { status: number; headers: Headers; body: Json }

const operationAt = (url: string, method: string) =>
  operations.find(each => {
    const pattern = each.path.replace(/\/$/, '').replace(/\{\w+\}/g, '[^/]*')
    return each.method === method.toLowerCase() && new RegExp(`^${pattern}/?$`).test(new URL(url).pathname)
  })

/** Expects a value to match a schema of the OpenAPI document; fails with the path of each mismatch. */
export const expectFit = (schema: SchemaName, body: unknown) => {
  const { issues = [] } = v.safeParse(SCHEMAS[schema], body)
  expect(issues.map(issue => `${schema}.${v.getDotPath(issue)}: ${issue.message}`)).toEqual([])
}

/** Sends a request as a store or an accountant, and expects a response that matches the OpenAPI document. */
export const call = async (url: string, options: FetchOptions = {}): Promise<Reply> => {
  const reply = await fetchJson(url, { key: 'sandbox-key', ...options })
  const operation = operationAt(url, options.method ?? 'GET')
  const schema = reply.status < 300 ? operation?.answers[reply.status]?.schema : 'Error'
  if (schema !== undefined) expectFit(schema, reply.body)
  return reply
}

const named = (external_id: string, rest = '', source?: string) =>
  `orders/${encodeURIComponent(external_id)}/${rest}${source === undefined ? '' : `?source=${encodeURIComponent(source)}`}`

export const clientOf = (url: string) => {
  const api = (method: string, at: string, body?: unknown) => call(`${url}/api/v1/${at}`, { method, body })
  const panel = (at: string, options: FetchOptions = {}) =>
    call(`${url}/panel/${at}`, { key: null, ...options })
  const put = (at: string, body: unknown) => panel(at, { method: 'PUT', body })
  const post = (at: string, body?: unknown) => panel(at, { method: 'POST', body })
  /** The content of a list of the panel. */
  const list = async (at: string): Promise<Json[]> =>
    Object.values((await panel(at)).body).find(each => Array.isArray(each)) ?? []
  return {
    url,
    panel,
    put,
    post,
    list,
    create: (body: unknown) => api('POST', 'orders/', body),
    read: (id: string, source?: string) => api('GET', named(id, '', source)),
    pay: (id: string, body: unknown = { method: 'online' }, source?: string) =>
      api('POST', named(id, 'payment/', source), body),
    refund: (id: string, body?: unknown, source?: string) => api('POST', named(id, 'refund/', source), body),
    register: (to: string) => api('PUT', 'webhook/', { url: to }),
    unregister: (to: string) => api('DELETE', `webhook/?url=${encodeURIComponent(to)}`),
    settings: (body: unknown) => put('settings', body),
    product: (sku: string, body: unknown) => put(`products/${encodeURIComponent(sku)}`, body),
    act: (id: string, action: string, body?: unknown) => post(named(id, action), body),
    retry: (id: string, source?: string) => post(named(id, 'retry', source)),
    detail: async (id: string, source?: string) => (await panel(named(id, '', source))).body,
    stock: async (sku: string) =>
      Number((await list('products')).find(each => String(each.sku) === sku)?.stock),
  }
}

export type Client = ReturnType<typeof clientOf>

export const row = (sku: string, quantity: number, unit_price = 1000) => ({ sku, quantity, unit_price })

/** An order for a product in stock. */
export const order = (external_id: string, changes: object = {}) => ({
  external_id,
  items: [row('SKU-1', 2)],
  ...changes,
})

/** The fields of an order for a product that is out of stock. */
export const SHORT = { items: [row('SKU-3', 2)] }

/** The same, with a customer and a payment. */
export const SAFFRON = {
  items: [row('SKU-3', 2.5, 12_500_000)],
  customer: { mobile: '۰۹۱۲۳۴۵۶۷۸۹', name: 'سارا محمدی' },
  payment: { method: 'card', reference: '77120934' },
}

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
    url: `http://127.0.0.1:${port}/hook`,
    received,
    close,
    /** Resolves after this number of deliveries. */
    until: (count: number) => until(() => received.length >= count),
  }
}

/** Polls until the value is truthy and passes the check. */
export const eventually = <Value>(ask: () => Promise<Value>, isIt: (value: Value) => boolean) =>
  until(async () => {
    const value = await ask()
    return isIt(value) ? value : undefined
  })
