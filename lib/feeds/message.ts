import { isDeepStrictEqual } from 'node:util'
import type { LineMessage } from '../line/messages.ts'
import type { News, Order } from '../orders/order.ts'
import { repeatableId } from '../repeatable-id.ts'

/** What a store hears (promise P9): the webhook's own shape, with `version` and `cause` beside it. */
export type FeedMessage = News & {
  /** Identifies this message: a repetition has the same id, anything else another. */
  delivery: string
  /**
   * Counts up per order. What is found out at once, such as a change and the refusal that follows from it, is
   * told under one number; and after a crash one number may be told again with other contents. What came
   * later then holds, so a store applies a message unless it has applied a higher version.
   */
  version: number
  /** What came through the order line and led to this. */
  cause: { event: string; delivery: string }
}

/**
 * The messages that tell a store the news of an order, in order. A webhook that is passed on as it came
 * keeps its delivery id; whatever the relay found out by itself has an id made of its content, since after
 * a crash the same cause may lead to other news.
 */
export const feedMessages = (order: Order, cause: LineMessage): FeedMessage[] =>
  order.news.map(news => {
    const version = order.version + 1
    const passedOn = cause.event === 'order.updated' && isDeepStrictEqual(news.data, cause.data)
    return {
      ...news,
      delivery: passedOn ? cause.delivery : repeatableId(order.source, order.external_id, version, news),
      version,
      cause: { event: cause.event, delivery: cause.delivery },
    }
  })

/** The order once all its news has been told. */
export const told = (order: Order): Order =>
  order.news.length === 0 ? order : { ...order, version: order.version + 1, news: [] }
