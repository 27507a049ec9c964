import * as v from 'valibot'
import { parseJson } from '../../lib/protocol/json.ts'
import { type OrderResult, orderResult } from '../../lib/protocol/order.ts'
import type { Source } from './parts.ts'

const panelOrder = v.looseObject({
  status: v.string(),
  receipt: v.nullable(v.looseObject({})),
  return: v.nullable(v.looseObject({})),
  held_payment: v.nullable(v.looseObject({})),
  history: v.array(v.looseObject({ kind: v.string() })),
})

const deliveries = v.looseObject({
  deliveries: v.array(
    v.looseObject({ delivery: v.string(), state: v.picklist(['pending', 'delivered', 'failed']) }),
  ),
})
const registration = v.looseObject({ secret: v.string() })

export type Truth = {
  result: OrderResult
  /** How often each thing happened, by its history. */
  events: Readonly<Record<string, number>>
  heldPayment: boolean
}

const ITEM = { quantity: 1, unit_price: 1_500_000 }

/** The body of a create request; each order has a product of its own, so that each can lack it by itself. */
export const orderOf = (source: Source, external_id: string, paid: boolean) => ({
  source,
  external_id,
  items: [{ ...ITEM, sku: `sku-${external_id}` }],
  ...(paid && { payment: { method: 'card', reference: `ref-${external_id}` } }),
})

/** The accounting service as others than the relay meet it, without a proxy between: nobody doubts what it says. */
export const sandboxClient = (url: string) => {
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: parseJson((await response.text()) || 'null') }
  }
  const pathOf = (source: Source, id: string) => `${id}?source=${source}`
  const show = async (source: Source, id: string) => {
    const { status, json } = await call('GET', `/panel/orders/${pathOf(source, id)}`)
    return status === 404 ? undefined : v.parse(panelOrder, json)
  }

  return {
    async registerWebhook(to: string): Promise<string> {
      return v.parse(registration, (await call('PUT', '/api/v1/webhook/', { url: to })).json).secret
    },
    /** Makes the order's product known, with so much in stock. */
    stock: (id: string, stock: number) =>
      call('PUT', `/panel/products/sku-${id}`, { name: `Product ${id}`, stock }),
    /** The store books the order by itself, without the relay. */
    create: (source: Source, id: string, paid: boolean) =>
      call('POST', '/api/v1/orders/', orderOf(source, id, paid)),
    /** The accountant gets the goods in and finalizes again; false while there is nothing to finalize. */
    async mend(source: Source, id: string): Promise<boolean> {
      if ((await show(source, id))?.status !== 'needs_review') return false
      await this.stock(id, 10)
      const { status } = await call('POST', `/panel/orders/${id}/retry?source=${source}`)
      return status === 200
    },
    /** The accountant has the order's webhooks sent once more, now. */
    async resend(id: string): Promise<void> {
      for (const { delivery } of await this.webhooks(id)) await this.resendDelivery(delivery)
    },
    resendDelivery: (delivery: string) => call('POST', `/panel/deliveries/${delivery}/resend`),
    /** The webhooks of an order, and what the service thinks became of them. */
    async webhooks(id: string) {
      const { json } = await call('GET', `/panel/deliveries?order=${id}`)
      return v.parse(deliveries, json).deliveries
    },
    async truth(source: Source, id: string): Promise<Truth | undefined> {
      const order = await show(source, id)
      if (order === undefined) return undefined
      const { json } = await call('GET', `/api/v1/orders/${id}/?source=${source}`)
      const events: Record<string, number> = {}
      for (const { kind } of order.history) events[kind] = (events[kind] ?? 0) + 1
      return { result: v.parse(orderResult, json), events, heldPayment: order.held_payment !== null }
    },
  }
}

export type SandboxClient = ReturnType<typeof sandboxClient>
