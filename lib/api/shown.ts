import type { Intent } from '../orders/order.ts'
import type { Held } from '../orders/table.ts'

const shownIntent = ({ id, state, reason }: Intent) => ({
  id,
  state,
  ...(reason !== undefined && { error: reason }),
})

/**
 * What a store reads of its order (spec: GET orders): the order result as the service last said it, null as
 * status while it has said nothing, and beside it what the relay knows: the number of its last message to
 * the feed, since when nothing has changed, and how far the store's requests have come.
 */
export const shown = ({ order, updated_at }: Held) => {
  const { source, external_id, version, result, intents } = order
  return {
    ...(result ?? { source, external_id, status: null }),
    relay: {
      version,
      updated_at,
      intents: Object.fromEntries(
        Object.entries(intents).map(([wish, intent]) => [wish, shownIntent(intent)]),
      ),
    },
  }
}
