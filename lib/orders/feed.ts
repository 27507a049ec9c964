import type { Sqs } from '../platform/clients.ts'
import { contentId } from '../platform/content-id.ts'
import { sendInOrder } from '../platform/fifo.ts'
import { feedQueues, siblingQueueUrl } from '../platform/names.ts'
import type { Store } from '../platform/stores.ts'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderKey, OrderResult } from '../protocol/order.ts'
import {
  type Order,
  type RequestState,
  type RequestView,
  requestViews,
  type StoreRequestKind,
} from './order.ts'
import type { Notice } from './requests.ts'

/** The content of a feed message. */
type FeedContent =
  | { event: 'order.updated'; data: OrderResult; requests?: readonly RequestView[] }
  | {
      event: `order.${RequestState}`
      data: OrderKey & { request: StoreRequestKind; id: string; error?: Omit<Refusal, 'body'> }
    }

/** A message of a store's feed (promise P9): the webhook's shape plus `version` and `cause`. */
export type FeedMessage = FeedContent & {
  /** Identifies the message; only repetitions of it have the same id. */
  delivery: string
  /**
   * Increases per order. Messages of one step, such as a change and the rejection that follows from it, share a
   * version. The content of a version never changes.
   */
  version: number
  /** The event of the order queue that caused this message. */
  cause: { event: string; delivery: string }
  /** The body for an exact store, which has `version` and `cause` beside it. */
  exact?: string
}

/** Saved with the order and published afterwards: if a worker dies in between, the next one publishes it. */
export type Outbox = {
  cause: FeedMessage['cause']
  notices: readonly Notice[]
  /** The event came from another queue, so events of the order queue do not wait for its acknowledgement. */
  isUnordered?: true
  /** For an exact store (`exact.ts`). */
  webhook?: string
}

const contentOf = (
  { source, external_id, result }: Order,
  views: ReadonlyMap<string, RequestView>,
  notice: Notice,
): FeedContent | undefined => {
  if (notice.event === 'order.updated') {
    const requests = notice.requests?.flatMap(id => views.get(id) ?? [])
    return result && { event: notice.event, data: result, ...(requests && { requests }) }
  }
  const view = views.get(notice.request)
  if (view === undefined) return undefined
  const { id, kind, reason } = view
  return {
    event: notice.event,
    data: { source, external_id, request: kind, id, ...(reason && { error: reason }) },
  }
}

/**
 * The messages of a saved order. They are derived from the saved order only, so publishing them again gives identical
 * messages. A relayed webhook keeps its delivery id; any other message has an id derived from its content.
 */
export const feedMessages = (order: Order, { cause, notices }: Outbox): FeedMessage[] => {
  if (notices.length === 0) return []
  const { source, external_id, version } = order
  const views = new Map(requestViews(order).map(view => [view.id, view]))
  return notices.flatMap(notice => {
    const content = contentOf(order, views, notice)
    if (content === undefined) return []
    const isWebhook = 'isWebhook' in notice && notice.isWebhook
    const delivery = isWebhook ? cause.delivery : contentId(source, external_id, version, content)
    return [{ delivery, ...content, version, cause }]
  })
}

/** The fields of the service's webhook. */
type Webhook = { event: string; data: OrderKey; delivery: string }

/** The text of a message to an exact store: what the service would send (spec: Events). */
export const exactText = ({ event, data, delivery }: Webhook) => JSON.stringify({ event, data, delivery })

/** The fields that a webhook does not have are message attributes for an exact store. */
type ExactAttributes = Readonly<Record<Exclude<keyof FeedMessage, keyof Webhook | 'exact'>, string>>

/** A message as it is queued. */
export const queuedForm = (
  message: Pick<FeedMessage, 'version' | 'cause' | 'exact'>,
): { json: string; attributes?: ExactAttributes } => {
  const { exact, version, cause } = message
  if (exact === undefined) return { json: JSON.stringify(message) }
  return { json: exact, attributes: { version: String(version), cause: `${cause.event} ${cause.delivery}` } }
}

/** Publishes a message to a store's feed; resolves once SQS has stored it. */
export type Publish = (message: FeedMessage) => Promise<void>

/** Publishes to the store's FIFO queue, in the message group of the order. */
export const feedPublisher = (sqs: Sqs, ordersQueueUrl: string, stores: readonly Store[]): Publish => {
  const queueOf = feedQueues(stores)
  return message =>
    sendInOrder(sqs, siblingQueueUrl(ordersQueueUrl, queueOf(message.data.source)), message.data, {
      id: message.delivery,
      ...queuedForm(message),
    })
}
