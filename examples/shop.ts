/** A message of a store's feed, the same by SQS and by HTTP. */
export type FeedMessage = {
  /** `order.updated`: `data` is the order result. Any other: `data` names a request whose state has changed. */
  event: string
  /** The same when a message is repeated. */
  delivery: string
  /** Counts up per order. */
  version: number
  data: { source: string; external_id: string; status?: string }
}

type Applied = { version: number; delivery: string; status: string | undefined }

/**
 * What a shop does with a message. Messages are delivered at least once: one that was applied already, or is
 * older than what was applied, changes nothing. In a real shop the Map is a table, and `apply` a transaction.
 */
export const shop = () => {
  const orders = new Map<string, Applied>()
  return {
    orders,
    /** Returns whether the message changed anything. */
    apply({ event, delivery, version, data }: FeedMessage): boolean {
      const last = orders.get(data.external_id)
      if (last !== undefined && (version < last.version || delivery === last.delivery)) return false
      // A request alone leaves the order unchanged; a real shop would notify its staff of a rejected one.
      const status = event === 'order.updated' ? data.status : last?.status
      orders.set(data.external_id, { version, delivery, status })
      return true
    },
  }
}

/** A shop that prints each message. */
export const printingShop = () => {
  const { apply } = shop()
  return (message: FeedMessage) => {
    const { event, version, data } = message
    console.log(
      apply(message) ? 'applied:' : 'ignored:',
      data.external_id,
      `v${version}`,
      event,
      data.status ?? '',
    )
  }
}
