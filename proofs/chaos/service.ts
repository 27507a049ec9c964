import { setTimeout as sleep } from 'node:timers/promises'
import { SANDBOX_KEY } from '@order-relay/local/settings.ts'
import * as v from 'valibot'
import { parseJson } from '../../lib/protocol/json.ts'
import type { EndState } from '../../test/support/oracle.ts'
import type { ServiceDocument } from '../../test/support/scenarios.ts'
import type { Source } from './backends.ts'

const panelOrder = v.looseObject({
  status: v.string(),
  held_payments: v.array(v.looseObject({})),
  history: v.array(v.looseObject({ kind: v.string() })),
})

const deliveries = v.looseObject({
  deliveries: v.array(
    v.looseObject({ delivery: v.string(), state: v.picklist(['pending', 'delivered', 'failed']) }),
  ),
})

const DOCUMENTS: Readonly<Record<string, ServiceDocument>> = {
  created: 'invoice',
  paid: 'receipt',
  refunded: 'return',
}

/** The body of a create request. Each order has its own product, so that its stock can be controlled. */
export const createRequest = (source: Source, external_id: string, paid = false) => ({
  source,
  external_id,
  items: [{ sku: `sku-${external_id}`, quantity: 1, unit_price: 1_500_000 }],
  ...(paid && { payment: { method: 'card', reference: `ref-${external_id}` } }),
})

const RETRY_MS = 100

/**
 * Direct access to the accounting service for the accountant and for a store without the relay, without faults.
 *
 * @param mayBeDown whether unanswered requests are retried
 */
export const serviceClient = (url: string, mayBeDown = false) => {
  const call = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; json: unknown }> => {
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${SANDBOX_KEY}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, json: parseJson((await response.text()) || 'null') }
    } catch (error) {
      if (!mayBeDown) throw error
      await sleep(RETRY_MS)
      return call(method, path, body)
    }
  }
  const show = async (source: Source, id: string) => {
    const { status, json } = await call('GET', `/panel/orders/${id}?source=${source}`)
    return status === 404 ? undefined : v.parse(panelOrder, json)
  }

  const service = {
    /** Adds the order's product with this stock. */
    stock: (id: string, stock: number) =>
      call('PUT', `/panel/products/sku-${id}`, { name: `Product ${id}`, stock }),
    /** The store creates the order without the relay. */
    create: (source: Source, id: string, paid: boolean) =>
      call('POST', '/api/v1/orders/', createRequest(source, id, paid)),
    /** The accountant replenishes the stock and finalizes the order, unless it is already final. */
    async fix(source: Source, id: string): Promise<boolean> {
      const { status } = (await show(source, id)) ?? {}
      if (status !== 'needs_review') return status !== undefined
      await service.stock(id, 10)
      const retried = await call('POST', `/panel/orders/${id}/retry?source=${source}`)
      return retried.status === 200
    },
    /** The webhooks of an order and their outcomes. */
    async webhooks(id: string) {
      const { json } = await call('GET', `/panel/deliveries?order=${id}`)
      return v.parse(deliveries, json).deliveries
    },
    resendDelivery: (delivery: string) => call('POST', `/panel/deliveries/${delivery}/resend`),
    /** The accountant resends all webhooks of the order. */
    async resend(id: string): Promise<void> {
      for (const { delivery } of await service.webhooks(id)) await service.resendDelivery(delivery)
    },
    /** The service's own record of an order; undefined when it does not know the order. */
    async record(source: Source, id: string): Promise<EndState['service']> {
      const order = await show(source, id)
      if (order === undefined) return undefined
      const { json } = await call('GET', `/api/v1/orders/${id}/?source=${source}`)
      return {
        result: json,
        documents: order.history.flatMap(({ kind }) => DOCUMENTS[kind] ?? []),
        holdsPayment: order.held_payments.length > 0,
      }
    },
  }
  return service
}

export type Service = ReturnType<typeof serviceClient>
