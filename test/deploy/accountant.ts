import * as v from 'valibot'
import { startSandbox } from '../../sandbox/start.ts'

const KEY = 'sandbox-key'
const deliveries = v.object({
  deliveries: v.array(v.object({ url: v.string(), external_id: v.string(), state: v.string() })),
})

/**
 * The accounting service and the accountant at it: the sandbox, which can go away and come back at the same
 * address with all it knows.
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
      throw new Error(`${method} ${path} answered ${response.status} ${await response.text()}`)
    return response.json()
  }

  const orderAt = (source: string, external_id: string) =>
    `/panel/orders/${external_id}/retry?source=${source}`

  return {
    url,
    key: KEY,
    /** Books an order that waits for review, and does not say so by webhook: it is its own answer. */
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
    /** The accountant finalizes it, and the service tells by webhook. */
    async finalize(source: string, external_id: string): Promise<void> {
      await call('PUT', '/panel/settings', { automaticFinalization: true })
      await call('POST', orderAt(source, external_id))
    },
    /** The webhooks of the service: where to, about which order, and what became of each. */
    deliveries: async () => v.parse(deliveries, await call('GET', '/panel/deliveries')).deliveries,
    async goAway(): Promise<void> {
      await running?.close()
      running = undefined
    },
    async comeBack(): Promise<void> {
      running ??= await startSandbox({ port: Number(new URL(url).port), data })
    },
  }
}

export type Accounting = Awaited<ReturnType<typeof openAccounting>>
