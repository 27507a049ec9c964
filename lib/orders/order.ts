import type { Refusal } from '../protocol/errors.ts'
import type { OrderKey, OrderResult } from '../protocol/order.ts'
import { isInReview } from '../protocol/status.ts'

/** What a store can ask the accounting service for, in the order in which it is sent. */
export const REQUEST_KINDS = ['create', 'payment', 'refund'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

/** A withdrawal is a request to the relay: it takes back what still waits. */
export type IntentKind = RequestKind | 'withdrawal'

/**
 * `waiting` to be sent, for the order to be finalized, or for an accountant to fix what the service refused;
 * `held` by the service until the invoice is finalized. The other four are final.
 */
export const INTENT_STATES = ['waiting', 'held', 'registered', 'duplicate', 'rejected', 'withdrawn'] as const
export type IntentState = (typeof INTENT_STATES)[number]

/** A request of a store, and its state. */
export type Intent = {
  /** The id under which the request was accepted. */
  id: string
  kind: IntentKind
  /** What a withdrawal takes back. */
  of?: RequestKind
  state: IntentState
  /**
   * The raw body, while it may have to be sent. One open intent of a kind has it, and leads: the others of
   * this kind share its fate.
   */
  request?: string
  /** A call was made that could register it, and its answer did not arrive. */
  sent?: true
  /** How it ends once the order was read: the service has answered, but not with the present result. */
  answer?: 'registered' | 'duplicate'
  /** Refusals in a row that are not settled yet: what they mean depends on the state of the order. */
  refused?: { times: number; reason: Refusal }
  /** Unix seconds of the first refusal, of an intent that stays open because an accountant may fix the cause. */
  refused_at?: number
  /** Why it was refused last. */
  reason?: Refusal
  /** The store was notified that it waits, or that it is held. */
  published?: true
}

/** A withdrawal on the order's item, ahead of its event, which may stand behind a blocked one. */
export type WithdrawalMark = { id: string; of: RequestKind }

/**
 * How many bytes a store's request may take as it is stored (`bodies.ts`). With the order result, the reasons of
 * refusals and the history they stay below the 400 KB of a DynamoDB item, whatever was accepted.
 */
export const MAX_REQUEST_BYTES: Readonly<Record<RequestKind, number>> = {
  create: 250_000,
  payment: 16_384,
  refund: 16_384,
}

/** How many requests of a kind may be open at once: more are duplicates of what is open. */
export const MAX_OPEN = 16

/** A request as the store reads it, on its feed and from the API. */
export type RequestView = Pick<Intent, 'id' | 'kind' | 'of' | 'state'> & { reason?: Omit<Refusal, 'body'> }

/** The words of a refusal without the service's own JSON. */
export const wordsOf = ({ body: _, ...words }: Refusal): Omit<Refusal, 'body'> => words

/** A request as the store reads it: without its body, and without the service's own JSON. */
export const requestView = ({ id, kind, of, state, reason }: Intent): RequestView => ({
  id,
  kind,
  ...(of !== undefined && { of }),
  state,
  ...(reason !== undefined && { reason: wordsOf(reason) }),
})

/** The error body of a refusal as JSON text, as the service wrote it. */
export const refusalBody = ({ body, status: _, ...error }: Refusal): string =>
  body ?? JSON.stringify({ error })

/** What is to be published to the store's feed (promise P9). */
export type PendingEvent =
  | {
      event: 'order.updated'
      data: OrderResult
      /** The id of the webhook that is passed on as it is. */
      delivery?: string
      /** The requests that this result has ended. */
      requests?: readonly RequestView[]
    }
  | {
      event: `order.${IntentState}`
      data: OrderKey & { request: IntentKind; id: string; error?: Omit<Refusal, 'body'> }
    }

export type Order = OrderKey & {
  /** The version of the last message published to the store's feed. */
  version: number
  /** The last order result of the service; undefined before the first. */
  result: OrderResult | undefined
  /**
   * The result may be out of date. `now`: the service is asked before anything else is decided. `later`: it came
   * with a webhook, which may be older than another one, and the next check confirms it.
   */
  doubt: 'now' | 'later' | false
  /** An accountant has moved the order back, so that no status tells which of two results is the later one. */
  movedBack: boolean
  /** The store's requests in the order of their arrival: all that are open, and the last that ended. */
  intents: readonly Intent[]
  withdrawals: readonly WithdrawalMark[]
  /** The delivery of the last event that went to the bulk queue; undefined when none of them waits there. */
  bulk: string | undefined
  /** What has not been published yet. */
  pending: readonly PendingEvent[]
}

/** An order of which nothing is known yet. */
export const newOrder = ({ source, external_id }: OrderKey): Order => ({
  source,
  external_id,
  version: 0,
  result: undefined,
  doubt: false,
  movedBack: false,
  intents: [],
  withdrawals: [],
  bulk: undefined,
  pending: [],
})

/** Whether a request is not decided yet. */
export const isOpen = ({ state }: Pick<Intent, 'state'>): boolean => state === 'waiting' || state === 'held'

/**
 * Whether an order expects nothing more. While it is in review, in doubt, or has an open intent, a webhook or
 * another try is expected, and reconciliation must see to it (promise P10).
 */
export const isSettled = ({ result, doubt, intents }: Pick<Order, 'result' | 'doubt' | 'intents'>): boolean =>
  doubt === false && !(result !== undefined && isInReview(result.status)) && !intents.some(isOpen)
