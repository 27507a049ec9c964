import type { OrderKey, OrderResult } from '../protocol/order.ts'

/** What a store can ask for. */
export type Wish = 'create' | 'payment' | 'refund'

/** Why the accounting service refused, in its own words where it gave any. */
export type Refusal = { status: number; code?: string; message: string; field?: string }

/** Something a store asked for, and how far it has come. */
export type Intent = {
  /** The id under which the store's request was accepted. */
  id: string
  /** The raw body of the request; dropped once the service has decided. */
  request?: string
  /**
   * `waiting` to be sent, `held` by the service until the invoice is finalized, `registered` by it, or
   * `rejected`.
   */
  state: 'waiting' | 'held' | 'registered' | 'rejected'
  /** How often the service has refused it since the order was last seen in review. */
  refusals: number
  reason?: Refusal
}

/** Something a store must hear. */
export type News =
  | { event: 'order.updated'; data: OrderResult }
  | { event: 'order.rejected'; data: OrderKey & { request: Wish; id: string; error: Refusal } }

export type Order = OrderKey & {
  /** The number of the last message to the store's feed. */
  version: number
  /** What the service last said of the order; undefined while it has said nothing. */
  result: OrderResult | undefined
  /** What is held may not be the truth: the service must be asked. */
  doubt: boolean
  intents: { readonly [wish in Wish]?: Intent }
  /** What has not been told yet. */
  news: readonly News[]
}

export const newOrder = ({ source, external_id }: OrderKey): Order => ({
  source,
  external_id,
  version: 0,
  result: undefined,
  doubt: false,
  intents: {},
  news: [],
})

export const isOpen = (intent: Intent | undefined): intent is Intent =>
  intent?.state === 'waiting' || intent?.state === 'held'
