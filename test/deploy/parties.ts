import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as v from 'valibot'
import { sign, verify } from '../../lib/protocol/signature.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { HOST } from './emulator.ts'

/** The part of a feed message that the test checks (promise P9). */
export const feedMessage = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    event: v.string(),
    version: v.number(),
    delivery: v.string(),
    data: v.object({ source: v.string(), external_id: v.string(), status: v.string() }),
  }),
)

const KEY = 'sandbox-key'
const deliveries = v.object({
  deliveries: v.array(v.object({ url: v.string(), external_id: v.string(), state: v.string() })),
})

/**
 * The accounting service and its accountant: the sandbox, which can stop and restart with the same address and data.
 *
 * @param data path of its database
 */
export const openAccounting = async (data: string) => {
  let running: Awaited<ReturnType<typeof startSandbox>> | undefined = await startSandbox({ port: 0, data })
  const { url } = running

  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`Cannot ${method} ${path}: status ${response.status}, ${await response.text()}`)
    return response.json()
  }

  const orderAt = (source: string, external_id: string) =>
    `/panel/orders/${external_id}/retry?source=${source}`

  return {
    url,
    key: KEY,
    /** Creates an order that needs review; the service sends no webhook about its own response. */
    async bookForReview(source: string, external_id: string): Promise<void> {
      await call('PUT', '/panel/products/A1', { name: 'Tea', stock: 1000 })
      await call('PUT', '/panel/settings', { automaticFinalization: false, automaticCustomerCreation: true })
      await call('POST', '/api/v1/orders/', {
        source,
        external_id,
        customer: { mobile: '09120000000', name: 'Somebody' },
        items: [{ sku: 'A1', quantity: 1, unit_price: 1000 }],
        payment: { method: 'online', reference: '1' },
      })
    },
    /** Finalizes it, about which the service sends a webhook. */
    async finalize(source: string, external_id: string): Promise<void> {
      await call('PUT', '/panel/settings', { automaticFinalization: true })
      await call('POST', orderAt(source, external_id))
    },
    /** The service's webhooks: URL, order and state. */
    deliveries: async () => v.parse(deliveries, await call('GET', '/panel/deliveries')).deliveries,
    async stop(): Promise<void> {
      await running?.close()
      running = undefined
    },
    async restart(): Promise<void> {
      running ??= await startSandbox({ port: Number(new URL(url).port), data })
    },
  }
}

export type Accounting = Awaited<ReturnType<typeof openAccounting>>

/** A store with an HTTP feed, which accepts messages signed with its secret. */
export const openStore = async (secret: string) => {
  const received: v.InferOutput<typeof feedMessage>[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const header = request.headers[HEADERS.signature]
    const { valid } = verify({
      header: typeof header === 'string' ? header : undefined,
      body,
      secrets: [secret],
      now: Math.floor(Date.now() / 1000),
    })
    if (valid) received.push(v.parse(feedMessage, body.toString()))
    response.writeHead(valid ? 200 : 401).end()
  }).listen(0, HOST)
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('Cannot start a store: no address')

  return {
    url: `http://${HOST}:${address.port}/webhook`,
    secret,
    received: () => received[0],
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export type Store = Awaited<ReturnType<typeof openStore>>

export type WebhookOrder = { source: string; external_id: string; status: string; error?: string }

/** Sends a webhook as the accounting service does (spec: Delivery). */
export const sendWebhook = async (
  url: string,
  secret: string,
  { source, external_id, status, error }: WebhookOrder,
): Promise<{ status: number; delivery: string }> => {
  const delivery = randomUUID()
  const data = {
    source,
    external_id,
    status,
    status_display: status,
    total: '1000',
    invoice_number: 1,
    invoice_status: status === 'needs_review' ? 'draft' : 'posted',
    receipt_number: null,
    return_number: null,
    error: error ?? null,
  }
  const body = Buffer.from(JSON.stringify({ event: 'order.updated', data, delivery }))
  const t = Math.floor(Date.now() / 1000)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-event': 'order.updated',
      'x-service-delivery': delivery,
      'x-service-signature': sign({ secret, t, body }),
    },
    body,
  })
  await response.arrayBuffer()
  return { status: response.status, delivery }
}
