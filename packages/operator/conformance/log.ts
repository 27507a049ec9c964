import { FEED_TEST } from '@order-relay/lib/feeds/deliver.ts'
import type { Sent } from '../model/sample-messages.ts'
import type { Fault, Feed } from './feed.ts'

/** The expected behavior of the store, and what it did wrong. */
export type Outcome = Partial<Fault> & {
  /** Messages that must be handled, those of one order in this sequence. */
  handled?: readonly Sent[]
  /** Messages that must not be handled. */
  dropped?: readonly Sent[]
  /** How the store answered the messages that it must not handle. */
  answered?: string
  /** A killed store may have logged a delivery whose transaction was then rolled back. */
  mayRepeat?: boolean
  /** Describes a message that had to be handled and is not in the log. @default `lost` of the feed */
  lost?: Feed['lost']
}

/** Where a log of handled messages has a message. */
export const placesIn = (text: string, { delivery }: Sent) =>
  [...text.matchAll(new RegExp(delivery, 'g'))].map(({ index }) => index)

/** How many messages a log has more than once. */
export const repeatedIn = (text: string, { handled = [] }: Outcome): number =>
  handled.filter(message => placesIn(text, message).length > 1).length

/** What the store did wrong, according to its log of handled messages. */
export const faultIn = (
  feed: Pick<Feed, 'lost'>,
  text: string,
  { handled = [], dropped = [], mayRepeat = false, lost = feed.lost }: Outcome,
): Fault | undefined => {
  const taken = dropped.find(message => placesIn(text, message).length > 0)
  if (taken?.event === FEED_TEST)
    return {
      wrong: 'handled it like a change of an order: a test of the connection must not change anything',
    }
  if (taken !== undefined)
    return { wrong: `handled version ${taken.version}, which it must drop: the order is wrong` }
  const last = new Map<string, { at: number; again: number; version: number }>()
  for (const message of handled) {
    const { order, version } = message
    const [at, ...more] = placesIn(text, message)
    const before = last.get(order.external_id)
    if (at === undefined && before?.version === version) {
      const wrong = `did not handle "${message.event}" of version ${version} after it had handled the other message of this version: a message of the order is lost`
      return { wrong }
    }
    if (at === undefined) return lost(message)
    if (more.length > 0 && !mayRepeat)
      return {
        wrong: `handled the same message ${more.length + 1} times (version ${version}): the change is applied again`,
      }
    if (before !== undefined && before.at > at)
      return {
        wrong: `handled version ${version} before version ${before.version}: the order reverts to an older state`,
      }
    // Its transaction had been committed before the next message was handled, so no kill has rolled it back.
    if (before !== undefined && before.again > at)
      return {
        wrong: `handled version ${before.version} again after version ${version}: the order reverts to an older state`,
      }
    last.set(order.external_id, { at, again: more.at(-1) ?? at, version })
  }
  return undefined
}
