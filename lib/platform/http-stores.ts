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
