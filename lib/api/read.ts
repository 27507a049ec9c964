import type { Accounting } from '../accounting/client.ts'
import { AccountingError } from '../accounting/errors.ts'
import type { Announced, Announcements } from '../orders/announcements.ts'
import { changesAtService, isKnown, newOrder, refusalBody } from '../orders/order.ts'
import type { Orders } from '../orders/repository.ts'
import type { StoredOrder } from '../orders/stored.ts'
import { type About, failAbout } from '../platform/about.ts'
import type { HttpResponse } from '../platform/http.ts'
import { parseJson } from '../protocol/json.ts'
import type { OrderKey } from '../protocol/order.ts'
import { orderView, relayView } from './answers.ts'
import * as refusals from './refusals.ts'

export type ReadDependencies = {
  orders: Pick<Orders, 'get'>
  announcements: Pick<Announcements, 'get'>
  /** Reads an order from the accounting service, in bounded time. */
  readOrder: Accounting['read']
  /** Like `readOrder`, for an order with a stored result: rejects immediately while the service is unavailable. */
  readPresent: Accounting['read']
  onError: (message: string, error: unknown, about?: About) => void
}

/** Reads an order without a result: its create may be queued, or only the service may know it. */
const readUnknown = async (
  order: OrderKey,
  stored: StoredOrder | undefined,
  dependencies: ReadDependencies,
): Promise<HttpResponse> => {
  const announced = await dependencies.announcements.get(order).catch(failAbout(order))
  const create = announced.requests?.find(({ kind }) => kind === 'create')
  if (create === undefined || (stored !== undefined && isKnown(stored.order, create.id)))
    return readThrough(order, stored, announced, dependencies)
  const updated_at = new Date(create.accepted_at).toISOString()
  const view = relayView({ order: stored?.order ?? newOrder(order), updated_at }, announced)
  return { status: 202, body: { ...order, ...view } }
}

/** The service's own answer, and what the relay knows about the order's requests. */
const readThrough = async (
  order: OrderKey,
  stored: StoredOrder | undefined,
  announced: Announced,
  { readOrder, onError }: ReadDependencies,
): Promise<HttpResponse> => {
  const relay = stored === undefined ? {} : relayView(stored, announced)
  try {
    return { status: 200, body: { ...(await readOrder(order)).result, ...relay } }
  } catch (error) {
    if (!(error instanceof AccountingError)) return failAbout(order)(error)
    const { code, reason } = error
    if (reason === undefined || (code !== 'rejected' && code !== 'unknown_order')) {
      onError('order not read', error, order)
      const notRead = refusals.notRead(error.retryAfter)
      return { ...notRead, body: { ...notRead.body, ...relay } }
    }
    const body = parseJson(refusalBody(reason))
    return {
      status: reason.status,
      body: typeof body === 'object' ? { ...body, ...relay } : { error: reason },
    }
  }
}

/**
 * The service's current result, and what the relay knows about the order's requests: the webhook of a change may be on its
 * way, or lost. The stored result if the service does not answer with one.
 */
const readFresh = async (
  order: OrderKey,
  relay: ReturnType<typeof relayView>,
  known: HttpResponse,
  { readPresent: read, onError }: ReadDependencies,
): Promise<HttpResponse> => {
  try {
    const { result } = await read(order)
    return { status: 200, body: { ...result, ...relay } }
  } catch (error) {
    onError('order not read', error, order)
    return known
  }
}

/**
 * Answers a read from the orders table, or by the service if the order is unknown or the service may change it next
 * (promise P13).
 */
export const answerRead = async (order: OrderKey, dependencies: ReadDependencies): Promise<HttpResponse> => {
  const stored = await dependencies.orders.get(order).catch(failAbout(order))
  // Requests behind a failing event are known only by their announcements.
  const isBlocked = stored?.failing !== undefined
  const announced = isBlocked
    ? await dependencies.announcements.get(order).catch(failAbout(order))
    : undefined
  const known = stored && orderView(stored, announced)
  if (stored === undefined || known === undefined) return readUnknown(order, stored, dependencies)
  return changesAtService(stored.order)
    ? readFresh(order, relayView(stored, announced), known, dependencies)
    : known
}
