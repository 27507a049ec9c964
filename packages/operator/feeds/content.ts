import { feedHeaders } from '@order-relay/lib/feeds/deliver.ts'
import { readOrderEvent } from '@order-relay/lib/orders/events.ts'
import { exactMessages } from '@order-relay/lib/orders/exact.ts'
import { exactText, type FeedMessage, feedMessages, queuedForm } from '@order-relay/lib/orders/feed.ts'
import type { HistoryEntry } from '@order-relay/lib/orders/history.ts'
import { type Order, requestViews } from '@order-relay/lib/orders/order.ts'
import type { Notice } from '@order-relay/lib/orders/requests.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { deliveryWith } from '../deliveries.ts'
import { timelineOf } from '../model/orders.ts'

type Sent = Pick<FeedMessage, 'event' | 'delivery'>

/** `isOriginal`: the message is known to be identical to the one sent. Otherwise, its data is the current data of the order. */
type Rebuilt = { message: FeedMessage; isOriginal: boolean }

const hasEnded = ({ state }: { state: string }) => state === 'registered' || state === 'duplicate'

const withRequests = (update: Notice & { event: 'order.updated' }, requests: readonly { id: string }[]) =>
  requests.length === 0 ? [] : [{ ...update, requests: requests.map(({ id }) => id) }]

/**
 * What a message may have reported. The history does not record the requests of a message: `probable` follows from the change,
 * and `others` are the candidates that the id of the message can confirm.
 */
const noticesOf = (
  order: Order,
  { event }: Sent,
  isWebhook: boolean,
  { requests }: HistoryEntry,
): { probable: Notice | undefined; others: Notice[] } => {
  const views = requestViews(order)
  if (event === ORDER_UPDATED) {
    const update = { event, ...(isWebhook && { isWebhook }) } as const
    const [probable = update] = withRequests(update, requests.filter(hasEnded))
    return { probable, others: isWebhook ? [] : [update, ...withRequests(update, views.filter(hasEnded))] }
  }
  const [changed, ...more] = requests.filter(({ state }) => event === `order.${state}`)
  return {
    probable: changed && more.length === 0 ? { event, request: changed.id } : undefined,
    others: views.map(({ id }) => ({ event, request: id })),
  }
}

/** Whether the history shows which requests a relayed webhook reported, and the order still has them. */
const hasRequests = (order: Order, { requests, published, cut }: HistoryEntry) => {
  const known = new Set(requestViews(order).map(({ id }) => id))
  const areSeparate = published.some(({ event }) => hasEnded({ state: event.slice('order.'.length) }))
  return !cut && !areSeparate && requests.filter(hasEnded).every(({ id }) => known.has(id))
}

const idsIn = (notice: Notice): readonly string[] =>
  notice.event === ORDER_UPDATED ? (notice.requests ?? []) : [notice.request]

/**
 * Rebuilds a message that the worker has published. The id of a message is derived from its content and therefore proves it.
 * A relayed webhook has the id of its delivery, which proves nothing, but the relay keeps the webhook. Pure.
 *
 * @param entry the change with which it was published
 * @param webhook the text of the relayed webhook, if it is known
 * @returns undefined if it is not known what the message reported
 */
export const rebuild = (
  { order, outbox }: Pick<StoredOrder, 'order' | 'outbox'>,
  entry: HistoryEntry,
  sent: Sent,
  { webhook, exact }: { webhook?: string | undefined; exact: boolean },
): Rebuilt | undefined => {
  const { event, delivery, version } = entry
  const cause = { event, delivery }
  const isLast = version === order.version
  if (isLast && outbox?.cause.delivery === delivery) {
    const last = exact
      ? exactMessages(order, outbox, outbox.notices.flatMap(idsIn))
      : feedMessages(order, outbox)
    const message = last.find(each => each.delivery === sent.delivery)
    if (message !== undefined) return { message, isOriginal: true }
  }
  const isWebhook = sent.event === ORDER_UPDATED && sent.delivery === delivery
  const reading = webhook === undefined ? undefined : readOrderEvent(webhook)
  const relayed =
    reading && 'event' in reading && reading.event.event === ORDER_UPDATED ? reading.event.data : undefined
  const then = { ...order, version, ...(relayed && { result: relayed }) }
  const { probable, others } = noticesOf(order, sent, isWebhook, entry)
  const messagesWith = (notices: readonly Notice[]) =>
    notices.flatMap(notice => feedMessages(then, { cause, notices: [notice] }))
  const [likely] = messagesWith(probable ? [probable] : [])
  const same = [...(likely ? [likely] : []), ...messagesWith(others)].find(
    each => each.delivery === sent.delivery,
  )
  const found = same ?? likely
  if (found === undefined) return undefined
  const message = { ...found, delivery: sent.delivery }
  return {
    message: exact ? { ...message, exact: (relayed && webhook) ?? exactText(message) } : message,
    isOriginal: isWebhook
      ? (relayed !== undefined || isLast) && hasRequests(order, entry)
      : same !== undefined,
  }
}

/** Every secret in base64 results in the same headers. Without base64, `webhook-signature` would be missing. */
const SECRET = 'c2VjcmV0'

/**
 * A message as its store receives it, with the names of the headers or, in an SQS queue, of the message attributes.
 *
 * @throws Failure if the message, or what it reported, is unknown
 */
export const messageContent = async (context: Context, order: OrderKey, delivery: string) => {
  const { feed, exact = false } = storeNamed(context, order.source)
  const { stored, entries } = await timelineOf(context, order)
  const action = 'show the message'
  const entry = entries.find(({ published }) => published.some(each => each.delivery === delivery))
  const sent = entry?.published.find(each => each.delivery === delivery)
  if (entry === undefined || sent === undefined)
    throw cannot(action, `the history of the order has no message "${delivery}"`)
  const webhook = entry.delivery === delivery ? (await deliveryWith(context, delivery))?.body : undefined
  const rebuilt = rebuild(stored, entry, sent, { webhook, exact })
  if (rebuilt === undefined) throw cannot(action, 'the request that the message reported is no longer known')
  const { message, isOriginal } = rebuilt
  const { json: body, attributes = {} } = queuedForm(message)
  const form = { secrets: [SECRET], event: sent.event, delivery, body, ...(exact && { exact: attributes }) }
  return {
    body,
    is_original: isOriginal,
    ...(feed === 'sqs'
      ? { attributes: Object.keys(attributes) }
      : { headers: Object.keys(feedHeaders(form, 0)) }),
  }
}
