import { type AllowedAddresses, assertAllowed, hostOf } from './addresses.ts'
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
 * Checks the addresses in the URLs of HTTP feeds; those that names resolve to are checked when they are called.
 *
 * @throws naming the store
 */
export const assertFeedsAllowed = (stores: readonly Store[], allowed: AllowedAddresses): void => {
  for (const { source, feed } of httpStores(stores)) {
    if (feed.http === undefined) continue
    try {
      assertAllowed(hostOf(new URL(feed.http)), allowed)
    } catch (cause) {
      throw new Error(
        `Cannot deploy: the HTTP feed of the store "${source}" is ${feed.http}, which is not a public address; use ` +
          'the public address of the store, or set feedAddresses to "private" for one in your own network',
        { cause },
      )
    }
  }
}
