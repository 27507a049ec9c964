import { isDeepStrictEqual } from 'node:util'
import type { LineMessage } from '../line/messages.ts'
import type { News, Order } from '../orders/order.ts'
import { repeatableId } from '../repeatable-id.ts'

/** What a store hears (promise P9): the webhook's own shape, with `version` and `cause` beside it. */
export type FeedMessage = News & {
  /** Identifies this message: a repetition has the same id, anything else another. */
  delivery: string
  /**
   * Counts up per order. All that one message of the order line leads to is told under one number, and after
   * a crash perhaps told again with other contents, more of them or fewer; what came later then holds, so a
   * store applies a message unless it has applied a higher version.
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
  order.news.map((news, index) => {
    const version = order.version + 1
    // An order may change and change back within one run: the second time is another message.
    const before = order.news.slice(0, index).filter(earlier => isDeepStrictEqual(earlier, news)).length
    const passedOn =
      before === 0 && cause.event === 'order.updated' && isDeepStrictEqual(news.data, cause.data)
    return {
      ...news,
      delivery: passedOn
        ? cause.delivery
        : repeatableId(order.source, order.external_id, version, before, news),
      version,
      cause: { event: cause.event, delivery: cause.delivery },
    }
  })

/** The order once all its news has been told. */
export const told = (order: Order): Order =>
  order.news.length === 0 ? order : { ...order, version: order.version + 1, news: [] }
