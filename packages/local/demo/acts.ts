import type { Parties } from './parties.ts'

export const SOURCE = 'demo-shop'

export const item = (sku: string, quantity: number) => ({ items: [{ sku, quantity, unit_price: 1_500_000 }] })

/** The actions of the demo and of the console's tour. */
export const acts = {
  /** An order that the accounting service can invoice. */
  order: async ({ store, accountant }: Parties, id: string) => {
    await accountant.stock('TABLE', 'Table', 10)
    return store.create({ external_id: id, ...item('TABLE', 1) })
  },
  /** The accounting service fails for 20 seconds, and the store sends a payment. */
  outage: async ({ store, accountant }: Parties, id: string) => {
    await accountant.breakService({ seconds: 20, retryAfter: 5 })
    return store.payment(id, { method: 'online', reference: '778899' })
  },
  /** An order for a product that is not in stock. */
  review: async ({ store, accountant }: Parties, id: string) => {
    await accountant.stock('CHAIR', 'Chair', 0)
    return store.create({ external_id: id, ...item('CHAIR', 1) })
  },
  payInReview: ({ store }: Parties, id: string) => store.payment(id, { method: 'card', reference: '5566' }),
  /** The accountant corrects the stock and retries; returns the resulting status. */
  fix: async ({ accountant }: Parties, id: string) => {
    await accountant.stock('CHAIR', 'Chair', 3)
    return accountant.retry(id)
  },
}
