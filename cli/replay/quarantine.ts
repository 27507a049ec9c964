import { readStores } from '../../deploy/stores.ts'
import { groupOf } from '../../lib/line/messages.ts'
import { deliveriesTable } from '../../lib/webhook/deliveries.ts'
import type { Place } from '../place/place.ts'
import { browse, type Verdict } from '../queues/browse.ts'
import { type Quarantined, quarantinedOf } from '../queues/quarantined.ts'
import { isChosen } from '../queues/selection.ts'
import { STORES_FILE } from '../root.ts'
import { nowSeconds } from '../webhook/post.ts'
import type { Choice } from './dead.ts'
import { sendAgain } from './send.ts'

/** Goes through the quarantine; what is not chosen is left. Returns how many there are, seen or not. */
export const eachQuarantined = (
  place: Place,
  { ids, selection, limit }: Choice,
  see: (found: Quarantined) => Promise<Verdict>,
): Promise<number> =>
  browse(place, place.names.quarantine, limit, async letter => {
    const found = quarantinedOf(letter)
    return isChosen(found, ids, selection) ? see(found) : 'leave'
  })

/** What became of something in quarantine. */
export type Outcome = 'replayed' | 'known already' | 'unreadable' | 'foreign'

/**
 * Takes what can be read by now through the rest of the receiving path (promise P3): it goes on the order
 * line, and a webhook is recorded; then it is deleted. What still cannot be read stays.
 */
export const replayQuarantined = async (place: Place, choice: Choice) => {
  const deliveries = deliveriesTable(place.dynamodb, place.names.deliveries)
  const ours = new Set(readStores(STORES_FILE).map(store => store.source))

  const replay = async ({ reading, from }: Quarantined): Promise<Outcome> => {
    if ('unreadable' in reading) return 'unreadable'
    const { message, text } = reading
    if (!ours.has(message.data.source)) return 'foreign'
    const isWebhook = from === 'webhook' && message.event === 'order.updated'
    // The sender tried again for hours, so the same delivery may be here more than once.
    if (isWebhook && (await deliveries.has(message.delivery, nowSeconds()))) return 'known already'
    await sendAgain(place, place.names.line, groupOf(message.data), text)
    if (isWebhook) await deliveries.record(message, nowSeconds())
    return 'replayed'
  }

  const outcomes: { found: Quarantined; outcome: Outcome }[] = []
  await eachQuarantined(place, choice, async found => {
    const outcome = await replay(found)
    outcomes.push({ found, outcome })
    return outcome === 'replayed' || outcome === 'known already' ? 'take' : 'leave'
  })
  return outcomes
}
