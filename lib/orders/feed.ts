import type { Sqs } from '../platform/clients.ts'
import { contentId } from '../platform/content-id.ts'
import { feedQueues, siblingQueueUrl } from '../platform/names.ts'
import type { Store } from '../platform/stores.ts'
import { type OrderEvent, sendInOrder } from './events.ts'
import type { Order, PendingEvent } from './order.ts'

/** A message of a store's feed (promise P9): the webhook's own shape, with `version` and `cause` beside it. */
export type FeedMessage = PendingEvent & {
  /** Identifies the message: a repetition has the same id, anything else another. */
  delivery: string
  /**
   * Counts up per order. Messages that result from one step, such as a change and the rejection that follows
   * from it, share a version. After a crash, or when two workers meet at an order, a version may be repeated with
   * different content. The later message then holds, so a store applies a message unless it has applied a higher
   * version.
   */
  version: number
  /** The event of the order queue that led to this message. */
  cause: { event: string; delivery: string }
}

/**
 * The messages for the pending events of an order, in order. A webhook that is passed on keeps its delivery id;
 * any other message has an id made of its content, since after a crash the same cause may lead to different
 * messages.
 */
export const feedMessages = (order: Order, cause: OrderEvent): FeedMessage[] =>
  order.pending.map(pending => {
    const version = order.version + 1
    return {
      delivery: contentId(order.source, order.external_id, version, pending),
      ...pending,
      version,
      cause: { event: cause.event, delivery: cause.delivery },
    }
  })

/** The order once its pending events are published. */
export const published = (order: Order): Order =>
  order.pending.length === 0 ? order : { ...order, version: order.version + 1, pending: [] }

/** Publishes a message to a store's feed; resolves once SQS has stored it. */
export type Publish = (message: FeedMessage) => Promise<void>

/** Publishes to the store's own FIFO queue, where an order is one message group, too. */
export const feedPublisher = (sqs: Sqs, ordersQueueUrl: string, stores: readonly Store[]): Publish => {
  const queueOf = feedQueues(stores)
  return message =>
    sendInOrder(sqs, siblingQueueUrl(ordersQueueUrl, queueOf(message.data.source)), message.data, {
      id: message.delivery,
      json: JSON.stringify(message),
    })
}
