import * as v from 'valibot'

const store = v.strictObject({
  /** The store's identifier at the accounting service; also the end of its queue's name. */
  source: v.pipe(
    v.string('must be text'),
    v.regex(/^[A-Za-z0-9_-]{1,50}$/, 'must be 1 to 50 letters, digits, "-" or "_"'),
  ),
  /** How the store is told. */
  feed: v.literal('sqs', 'must be "sqs"'),
})

/** What stores.yml holds. */
export const storesFile = v.strictObject({
  stores: v.pipe(
    v.array(store, 'must be a list'),
    v.minLength(1, 'must have at least one store'),
    v.checkItems(
      ({ source }, index, all) => all.findIndex(other => other.source === source) === index,
      'must not be there twice',
    ),
  ),
})

/** A store of stores.yml: whose orders the relay carries, and how it is told. */
export type Store = v.InferOutput<typeof store>
