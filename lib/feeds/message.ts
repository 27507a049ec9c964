import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { LineMessage } from '../line/messages.ts'
import type { News, Order } from '../orders/order.ts'

/** What a store hears (promise P9): the webhook's own shape, with `version` and `cause` beside it. */
export type FeedMessage = News & {
  /** Identifies this message: a repetition has the same id, anything else another. */
  delivery: string
  /**
   * Counts up per order. After a crash one number may be told twice with different contents; what came
   * later then holds, so a store applies a message unless it has applied a higher version.
   */
  version: number
  /** What came through the order line and led to this. */
  cause: { event: string; delivery: string }
}

/** A UUID (version 8, by hash) that is the same whenever the same thing is told again. */
const repeatableId = (...parts: unknown[]) => {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/**
 * The messages that tell a store the news of an order, in order. A webhook that is passed on as it came
 * keeps its delivery id; whatever the relay found out by itself has an id made of its content, since after
 * a crash the same cause may lead to other news.
 */
export const feedMessages = (order: Order, cause: LineMessage): FeedMessage[] =>
  order.news.map((news, index) => {
    const version = order.version + index + 1
    const passedOn = cause.event === 'order.updated' && isDeepStrictEqual(news.data, cause.data)
    return {
      ...news,
      delivery: passedOn ? cause.delivery : repeatableId(order.source, order.external_id, version, news),
      version,
      cause: { event: cause.event, delivery: cause.delivery },
    }
  })
