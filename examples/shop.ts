/** What the relay tells a store of its orders, by SQS and by HTTP alike. */
export type FeedMessage = {
  /** `order.updated`: `data` is the order result. `order.rejected`: `data` says which request, and why. */
  event: 'order.updated' | 'order.rejected'
  /** The same when a message is told again. */
  delivery: string
  /** Counts up per order. */
  version: number
  data: { source: string; external_id: string; status?: string }
}

type Heard = { version: number; delivery: string; status: string | undefined }

/**
 * What a shop does with a message. Messages come at least once: what was applied already, or is older than
 * what was applied, changes nothing. In a real shop the Map is a table, and this is one transaction in it.
 */
export const shop = () => {
  const orders = new Map<string, Heard>()
  return {
    orders,
    /** Answers whether the message was news. */
    apply({ event, delivery, version, data }: FeedMessage): boolean {
      const held = orders.get(data.external_id)
      if (held !== undefined && (version < held.version || delivery === held.delivery)) return false
      // A rejected request leaves the order as it was; a shop would tell its people.
      const status = event === 'order.updated' ? data.status : held?.status
      orders.set(data.external_id, { version, delivery, status })
      return true
    },
  }
}
