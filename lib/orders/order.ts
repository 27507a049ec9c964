import type { OrderKey, OrderResult } from '../protocol/order.ts'
import { isInReview } from '../protocol/status.ts'

/** What a store can ask for. */
export type IntentKind = 'create' | 'payment' | 'refund'

/** Why the accounting service refused a request, in its own words where it gave any. */
export type Refusal = { status: number; code?: string; message: string; field?: string }

/** A request of a store, and its state. */
export type Intent = {
  /** The id under which the request was accepted. */
  id: string
  /** The raw body of the request; dropped once the service has decided. */
  request?: string
  /**
   * `waiting` to be sent, `held` by the service until the invoice is finalized, `registered` by it, or
   * `rejected`.
   */
  state: 'waiting' | 'held' | 'registered' | 'rejected'
  /** How often the service has refused it since the order was last in review. */
  refusals: number
  reason?: Refusal
}

/**
 * How many bytes a store's request may take as it is stored, as a JSON string. With the order result and the
 * reasons of refusals they stay below the 400 KB of a DynamoDB item, whatever was accepted.
 */
export const MAX_REQUEST_BYTES: Readonly<Record<IntentKind, number>> = {
  create: 250_000,
  payment: 16_384,
  refund: 16_384,
}

/** What is to be published to the store's feed (promise P9). */
export type PendingEvent =
  | { event: 'order.updated'; data: OrderResult }
  | { event: 'order.rejected'; data: OrderKey & { request: IntentKind; id: string; error: Refusal } }

export type Order = OrderKey & {
  /** The version of the last message published to the store's feed. */
  version: number
  /** The last order result of the service; undefined before the first. */
  result: OrderResult | undefined
  /** The result may be out of date: the service must be asked. */
  doubt: boolean
  intents: { readonly [kind in IntentKind]?: Intent }
  /** What has not been published yet. */
  pending: readonly PendingEvent[]
}

export const newOrder = ({ source, external_id }: OrderKey): Order => ({
  source,
  external_id,
  version: 0,
  result: undefined,
  doubt: false,
  intents: {},
  pending: [],
})

export const isOpen = (intent: Intent | undefined): intent is Intent =>
  intent?.state === 'waiting' || intent?.state === 'held'

/**
 * Whether an order expects nothing more. While it is in review, in doubt, or has an open intent, a webhook is
 * expected, and reconciliation must find it if it never arrives (promise P10).
 */
export const isSettled = ({ result, doubt, intents }: Pick<Order, 'result' | 'doubt' | 'intents'>): boolean =>
  !doubt && !(result !== undefined && isInReview(result.status)) && !Object.values(intents).some(isOpen)
