import type { Item } from '../platform/dynamodb.ts'
import { parseJson } from '../protocol/json.ts'
import type { OrderKey, OrderResult } from '../protocol/order.ts'
import { deflated, inflated } from './bodies.ts'
import type { Outbox } from './feed.ts'
import type { Order } from './order.ts'

/** The failing event at the head of its order's message group. Times are ISO 8601. */
export type Failing = {
  event: string
  delivery: string
  queue: 'orders' | 'bulk'
  receives: number
  /** When the request was accepted, or another event was queued. */
  since: string
  /** The time of the last failure and of the next attempt. */
  at: string
  next_at: string
  /** The code of an AccountingError, or the name of another error. */
  code: string
  /** The service's HTTP status. */
  status?: number | undefined
  /** Without the values that it quotes. */
  message: string
  /** The number of events behind it in the same batch. */
  behind: number
  /** The `Retry-After` of the service or the breaker, in seconds. */
  retry_after?: number | undefined
}

/** An order as the worker saves it, with the data of its processing. */
export type SavedOrder = {
  order: Order
  /** Published after the order is saved; undefined before the first save. */
  outbox: Outbox | undefined
  /** The delivery of the last event moved to the bulk queue; undefined when none is waiting there. */
  bulk: string | undefined
  /** The time of the latest history entry if the last save has none; empty if the order has no entry. */
  entry_at?: string | undefined
  failing?: Failing | undefined
  /** The receipt handles of the failing event and of the events behind it, with which they are made visible. */
  failing_handles?: readonly string[] | undefined
}

/** An order as stored, with the revision for optimistic locking. */
export type StoredOrder = SavedOrder & {
  revision: number
  /** When the worker last saved it, ISO 8601; empty if never. */
  updated_at: string
  /** The next check of an unsettled order, in unix seconds. */
  check_at?: number
  /** When its data was erased on request, ISO 8601; undefined once the worker has saved it again. */
  erased_at?: string
}

export const keyItem = ({ source, external_id }: OrderKey): Item => ({
  source: { S: source },
  external_id: { S: external_id },
})

export const keyOf = ({ source, external_id }: Item): OrderKey => ({
  source: source?.S ?? '',
  external_id: external_id?.S ?? '',
})

type StoredRequests = Pick<Order, 'open' | 'withdrawn' | 'ended'>

/** The attributes for an order's requests, if any. Large bodies are in separate attributes by kind. */
export const requestsItem = ({ open, withdrawn, ended }: StoredRequests): Item => {
  const bodies: Item = {}
  const stored = Object.values(open).map(request => {
    const body = deflated(request.body)
    if (body === undefined) return [request.kind, request]
    bodies[request.kind] = { B: body }
    return [request.kind, { ...request, body: '' }]
  })
  const isEmpty = [open, withdrawn, ended].every(each => Object.keys(each).length === 0)
  return {
    ...(!isEmpty && {
      requests: { S: JSON.stringify({ open: Object.fromEntries(stored), withdrawn, ended }) },
    }),
    ...(Object.keys(bodies).length > 0 && { bodies: { M: bodies } }),
  }
}

const requestsOf = ({ requests, bodies }: Item): StoredRequests => {
  if (requests?.S === undefined) return { open: {}, withdrawn: {}, ended: [] }
  const { open, ...rest } = parseJson(requests.S) as StoredRequests
  const whole = Object.values(open).map(request => {
    const body = bodies?.M?.[request.kind]?.B
    return [request.kind, body === undefined ? request : { ...request, body: inflated(body) }]
  })
  return { open: Object.fromEntries(whole), ...rest }
}

/**
 * Reads an item of the orders table. `result`, `requests` and `outbox` are JSON text, which preserves unknown fields
 * and long numbers exactly as the service sent them.
 */
export const orderOf = (item: Item): StoredOrder => ({
  revision: Number(item.revision?.N ?? 0),
  updated_at: item.updated_at?.S ?? '',
  bulk: item.bulk?.S,
  ...(item.entry_at?.S !== undefined && { entry_at: item.entry_at.S }),
  outbox: item.outbox?.S === undefined ? undefined : (JSON.parse(item.outbox.S) as Outbox),
  ...(item.failing?.S !== undefined && { failing: JSON.parse(item.failing.S) as Failing }),
  ...(item.failing_handles?.L !== undefined && {
    failing_handles: item.failing_handles.L.map(({ S = '' }) => S),
  }),
  ...(item.check_at?.N !== undefined && { check_at: Number(item.check_at.N) }),
  ...(item.erased_at?.S !== undefined && { erased_at: item.erased_at.S }),
  order: {
    ...keyOf(item),
    version: Number(item.version?.N ?? 0),
    result: item.result?.S === undefined ? undefined : (parseJson(item.result.S) as OrderResult),
    doubt: (item.doubt?.S as Order['doubt'] | undefined) ?? false,
    movedBack: item.moved_back?.BOOL === true,
    ...requestsOf(item),
  },
})

/**
 * What remains of an order whose data is erased. Its version continues, since its store ignores older versions
 * (promise P9), and its next change starts a new history.
 *
 * @param now unix time in milliseconds
 */
export const erasedItem = ({ order, revision, updated_at }: StoredOrder, now: number): Item => {
  const at = { S: new Date(Math.max(now, (Date.parse(updated_at) || 0) + 1)).toISOString() }
  return {
    ...keyItem(order),
    version: { N: String(order.version) },
    revision: { N: String(revision + 1) },
    entry_at: { S: '' },
    updated_at: at,
    erased_at: at,
  }
}
