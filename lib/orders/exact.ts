import { isDeepStrictEqual } from 'node:util'
import { type OrderEvent, SENT_KINDS } from './events.ts'
import { exactText, type FeedMessage, feedMessages, type Outbox } from './feed.ts'
import { type Order, requestViews } from './order.ts'
import type { Notice } from './requests.ts'

/** Whether a store may be waiting for what this event leads to. */
export const isAwaited = ({ event }: Outbox['cause']): boolean => event in SENT_KINDS

/**
 * The messages of a saved order to an exact store: what the service would send (spec: Events; promise P13). That is
 * `order.updated`, unless the store received the result in the response to the request that caused it. The response to a
 * request that was answered 202 did not contain it.
 *
 * @param accepted the ids of the requests that were answered 202
 */
export const exactMessages = (order: Order, outbox: Outbox, accepted: readonly string[]): FeedMessage[] => {
  const { cause, webhook } = outbox
  const withdrawals = requestViews(order).filter(({ kind }) => kind === 'withdrawal')
  const isAnswer = (id: string) => isAwaited(cause) && !accepted.includes(id)
  const ended = (ids: readonly string[]) => ids.filter(id => !withdrawals.some(each => each.id === id))
  const isUpdate = (notice: Notice) => {
    if (notice.event === 'order.updated') {
      return notice.isWebhook || notice.isNews || !ended(notice.requests ?? []).every(isAnswer)
    }
    const isRegistered = notice.event === 'order.registered' || notice.event === 'order.duplicate'
    return isRegistered && !ended([notice.request]).every(isAnswer)
  }
  if (!outbox.notices.some(isUpdate)) return []
  const isWebhook = webhook !== undefined
  const [message] = feedMessages(order, {
    cause,
    notices: [{ event: 'order.updated', ...(isWebhook && { isWebhook }) }],
  })
  if (message === undefined) return []
  return [{ ...message, exact: webhook || exactText(message) }]
}

/**
 * What an exact store's messages need of the event: the text of a webhook whose result is the order's. Empty if the
 * relay would write the same text.
 */
export const webhookOf = ({ event, delivery, data }: OrderEvent, text: string, { result }: Order) => {
  if (event !== 'order.updated' || !isDeepStrictEqual(data, result)) return {}
  return { webhook: text === exactText({ event, data, delivery }) ? '' : text }
}
