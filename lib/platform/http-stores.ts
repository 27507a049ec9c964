import { hostOf, isLoopback } from './addresses.ts'
import type { HttpFeed, Store } from './stores.ts'

// Separate from the schema of stores.yml, which the functions do not need.

/** A store with an HTTP feed. */
export type HttpStore = Omit<Store, 'feed'> & { feed: HttpFeed }

/** The stores with an HTTP feed. */
export const httpStores = (stores: readonly Store[]): readonly HttpStore[] =>
  stores.flatMap(({ feed, ...store }) => (feed === 'sqs' ? [] : [{ ...store, feed }]))

/** Whether a store registers the URL of its feed with its key. */
export const registersItself = ({ feed }: Pick<Store, 'feed'>): boolean =>
  feed !== 'sqs' && feed.http === undefined

/**
 * Checks that no HTTP feed is an address of the machine that runs the relay; only the local stack may have those.
 *
 * @throws naming the store
 */
export const assertPublicFeeds = (stores: readonly Store[]): void => {
  for (const { source, feed } of httpStores(stores)) {
    if (feed.http === undefined || !isLoopback(hostOf(new URL(feed.http)))) continue
    throw new Error(
      `Cannot deploy: the HTTP feed of the store "${source}" is ${feed.http}, an address of the machine that ` +
        'calls it; use the address of the store',
    )
  }
}
