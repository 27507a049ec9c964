import type { Refusal } from '../protocol/errors.ts'
import type { OrderKey, OrderResult } from '../protocol/order.ts'
import { isInReview } from '../protocol/status.ts'

/** The requests that are sent to the accounting service, in the sequence in which they are sent. */
export const REQUEST_KINDS = ['create', 'payment', 'refund'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

/** All requests of a store. The relay handles a withdrawal itself. */
export type StoreRequestKind = RequestKind | 'withdrawal'

/** The state of a request as its store sees it. The first two are open, the others final. */
export const REQUEST_STATES = ['waiting', 'held', 'registered', 'duplicate', 'rejected', 'withdrawn'] as const
export type RequestState = (typeof REQUEST_STATES)[number]
export type FinalState = Exclude<RequestState, 'waiting' | 'held'>

/** A refusal whose cause an accountant can fix. The store has been notified of it. */
export type Refused = {
  /** Unix seconds of the first refusal. */
  since: number
  reason: Refusal
}

/** A store's withdrawal, which applies only to requests accepted before it. */
export type Withdrawal = {
  id: string
  of: RequestKind
  /** Unix time in milliseconds. */
  accepted_at: number
}

type OpenFields = {
  /** The id of the request whose body is used: the most recent one, or the one that the service holds. */
  id: string
  /** JSON text, exactly as sent. */
  body: string
  /** When it was accepted: unix time in milliseconds. */
  accepted_at: number
  /** The ids of the other requests of this kind, which share its outcome. */
  others: readonly string[]
  /** Withdrawals to be decided once the order has been read. */
  withdrawals: readonly Withdrawal[]
}

/** The stage of an open request of any kind. */
type Stage =
  /** To be sent, for the first time or again after a refusal. */
  | { stage: 'unsent'; refused?: Refused }
  /**
   * The last call had no result, because its response was lost or was an error such as 503: the request is sent again.
   */
  | { stage: 'unanswered'; refused?: Refused }
  /** Refused for a fixable cause: sent again when the order changes or is checked. */
  | { stage: 'refused'; refused: Refused }

/** The stage of an open payment or refund. */
type LaterStage =
  | Stage
  /** Waits for a create that the service refuses. */
  | { stage: 'behind create' }
  /**
   * Refused, possibly because the service holds the payment or the refund is early: the order is read next. `status`
   * is the order's known status when the request was sent; `isLast` means that the request was sent twice.
   */
  | { stage: 'unclear'; reason: Refusal; status: string | undefined; isLast: boolean; refused?: Refused }
  /** The order changed while the request was refused: sent once more. */
  | { stage: 'crossed'; refused?: Refused }

type OpenCreate =
  | Stage
  /** The service registered it earlier: ends once the order is read, since the response may be outdated. */
  | { stage: 'known' }

type OpenPayment =
  | LaterStage
  /** To be sent, and possibly already sent by a worker that died. */
  | { stage: 'perhaps sent'; refused?: Refused }
  /**
   * Held by the service, which registers it when the invoice is finalized. `refusal` is the service's answer, with which
   * an exact store is answered. `earlier` is the number of the other requests that were accepted before it; the rest came
   * later.
   */
  | { stage: 'held'; refusal?: Refusal; earlier?: number }

type OpenRefund =
  | LaterStage
  /** Waits for the invoice to be finalized. */
  | { stage: 'early' }

/** The open requests of one kind: one body, and the ids that share its outcome. */
export type OpenRequest = OpenFields &
  (
    | ({ kind: 'create' } & OpenCreate)
    | ({ kind: 'payment' } & OpenPayment)
    | ({ kind: 'refund' } & OpenRefund)
  )

/** All ids of an open request, in the sequence in which they were accepted. */
export const idsOf = (request: OpenRequest): string[] => {
  const { id, others } = request
  const earlier = request.stage === 'held' ? (request.earlier ?? 0) : others.length
  return [...others.slice(0, earlier), id, ...others.slice(earlier)]
}

/** Whether a request is to be sent. */
export const isToBeSent = ({ stage }: OpenRequest): boolean =>
  ['unsent', 'unanswered', 'perhaps sent', 'crossed'].includes(stage)

/** Whether the store has been notified that a request is open. */
export const isNotified = (request: OpenRequest): boolean =>
  ['held', 'early', 'behind create'].includes(request.stage) || refusalOf(request) !== undefined

/** The fields in which an answer differs from the order result. A name alone is a field that the answer lacks. */
export type Replaced = readonly (readonly [name: string, value?: unknown])[]

/** Requests that ended together. */
export type EndedRequests = {
  ids: readonly string[]
  kind: StoreRequestKind
  /** The kind of request to withdraw. */
  of?: RequestKind
  state: FinalState
  /** Why it was rejected. */
  reason?: Refusal
  /** Where the service's answer differs from the order result, which changed immediately after the answer. */
  replaced?: Replaced
  /** A registered create included a payment, which the service holds while the invoice is in review. */
  withPayment?: true
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
  /** An accountant has moved the order back, so that no status shows which of two results is the later one. */
  movedBack: boolean
  open: { readonly [Kind in RequestKind]?: Extract<OpenRequest, { kind: Kind }> }
  /**
   * The last withdrawals that were carried out. A request that was accepted before them and is received later is
   * withdrawn, too.
   */
  withdrawn: { readonly [Kind in RequestKind]?: Withdrawal }
  /** The last requests that ended, in the order in which they ended. */
  ended: readonly EndedRequests[]
}

/** A new order, about which nothing is known. */
export const newOrder = ({ source, external_id }: OrderKey): Order => ({
  source,
  external_id,
  version: 0,
  result: undefined,
  doubt: false,
  movedBack: false,
  open: {},
  withdrawn: {},
  ended: [],
})

/**
 * How many bytes a store's request may take as it is stored (`bodies.ts`). With the order result, the reasons of
 * refusals and the requests that ended they stay below the 400 KB of a DynamoDB item, whatever was accepted.
 */
export const MAX_REQUEST_BYTES: Readonly<Record<RequestKind, number>> = {
  create: 250_000,
  payment: 16_384,
  refund: 16_384,
}

/** The maximum number of open requests of a kind. */
export const MAX_OPEN = 16

/** The open requests of an order, in the order in which they are sent. */
export const openRequests = ({ open }: Pick<Order, 'open'>): OpenRequest[] =>
  REQUEST_KINDS.flatMap(kind => open[kind] ?? [])

/** Whether the service may have changed an order, or may change it next: it is in review, or its result in doubt. */
export const changesAtService = ({ result, doubt }: Pick<Order, 'result' | 'doubt'>): boolean =>
  result !== undefined && (doubt !== false || isInReview(result.status))

/**
 * Whether an order expects nothing more. While it is in review, in doubt, or has an open request, a webhook or
 * another attempt is expected, and the scheduled check must find it if it does not arrive (promise P10).
 */
export const isSettled = (order: Pick<Order, 'result' | 'doubt' | 'open'>): boolean =>
  order.doubt === false && !changesAtService(order) && openRequests(order).length === 0

/** A refusal without the service's own JSON. */
const wordsOf = ({ body: _, ...words }: Refusal): Omit<Refusal, 'body'> => words

/** The error body of a refusal as JSON text, as the service wrote it. */
export const refusalBody = ({ body, status: _, ...error }: Refusal): string =>
  body ?? JSON.stringify({ error })

/** Whether a request has not ended. */
export const isOpen = (state: RequestState): boolean => state === 'waiting' || state === 'held'

/** A request as the store reads it, on its feed and from the API. */
export type RequestView = {
  id: string
  kind: StoreRequestKind
  /** The kind of request to withdraw. */
  of?: RequestKind
  state: RequestState
  /** Why it was rejected, or refused and not sent again yet. */
  reason?: Omit<Refusal, 'body'>
}

/** The last refusal of a request that is open because of it. */
export const refusalOf = (request: OpenRequest): Refused | undefined =>
  'refused' in request ? request.refused : undefined

/** Whether a refusal is the latest known outcome of a request: no later call may have registered the request. */
export const isRefused = (request: OpenRequest): boolean =>
  refusalOf(request) !== undefined && request.stage !== 'unanswered' && request.stage !== 'unclear'

/** Every request of an order as its store reads it: those that ended, then those that are open. */
export const requestViews = (order: Pick<Order, 'open' | 'ended'>): RequestView[] => [
  ...order.ended.flatMap(({ ids, kind, of, state, reason }) =>
    ids.map(id => ({ id, kind, ...(of && { of }), state, ...(reason && { reason: wordsOf(reason) }) })),
  ),
  ...openRequests(order).flatMap(request => {
    const { kind, stage, withdrawals } = request
    const reason = refusalOf(request)?.reason
    const state = stage === 'held' ? ('held' as const) : ('waiting' as const)
    return [
      ...idsOf(request).map(each => ({ id: each, kind, state, ...(reason && { reason: wordsOf(reason) }) })),
      ...withdrawals.map(each => ({
        id: each.id,
        kind: 'withdrawal' as const,
        of: kind,
        state: 'waiting' as const,
      })),
    ]
  }),
]

/** Whether the order has a request with this id. */
export const isKnown = (order: Order, id: string): boolean => requestViews(order).some(each => each.id === id)
