import { isDeepStrictEqual } from 'node:util'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import type { HistoryEntry } from '../../lib/orders/history.ts'
import {
  isOpen,
  type Order,
  openRequests,
  type RequestState,
  type RequestView,
  requestViews,
} from '../../lib/orders/order.ts'
import { orderOf } from '../../lib/orders/stored.ts'
import { parseJson } from '../../lib/protocol/json.ts'
import type { Expected, ServiceDocument } from './scenarios.ts'

const STATES = [
  'waiting',
  'held',
  'registered',
  'duplicate',
  'rejected',
  'withdrawn',
] as const satisfies RequestState[]

/** The invariants once nothing is in flight, shared by the crash and chaos harnesses. */

const base = { delivery: v.string(), version: v.number(), cause: v.optional(v.object({ event: v.string() })) }
const orderKey = { source: v.string(), external_id: v.string() }
const feedMessage = v.variant('event', [
  v.object({
    event: v.literal('order.updated'),
    ...base,
    data: v.looseObject({ ...orderKey, status: v.string() }),
    requests: v.optional(v.array(v.looseObject({ id: v.string(), state: v.string() })), []),
  }),
  v.object({
    event: v.picklist(STATES.map(state => `order.${state}` as const)),
    ...base,
    data: v.looseObject({ ...orderKey, request: v.string(), id: v.string() }),
  }),
])

/** A feed message as read by a store. */
export type ReceivedMessage = v.InferOutput<typeof feedMessage>

/** Reads the body of a feed message; throws if a store could not read it. */
export const readFeedMessage = (body: string): ReceivedMessage => v.parse(feedMessage, parseJson(body))

/** The known state of one order at the end. */
export type EndState = {
  /** The accounting service's record; undefined if it does not know the order. */
  service: { result: unknown; documents: readonly ServiceDocument[]; holdsPayment: boolean } | undefined
  /** The item of the orders table. */
  stored: { order: Order; isIndexed: boolean } | undefined
  /** The store's messages of this order, in sequence of arrival, including repetitions. */
  feed: readonly ReceivedMessage[]
  /** The ids of accepted requests of this order that the store knows. */
  accepted: readonly string[]
}

/** Reads an item of the orders table for {@link EndState}. */
export const readStoredItem = (item: Record<string, AttributeValue>): EndState['stored'] => ({
  order: orderOf(item).order,
  isIndexed: item.unsettled !== undefined,
})

/** Whether two values are equal as JSON, regardless of key order and realm. */
export const same = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a) === JSON.stringify(b) || isDeepStrictEqual(structuredClone(a), structuredClone(b))

/** A violation, unless the claim holds. */
export const claim = (holds: boolean, violation: string): string[] => (holds ? [] : [violation])

/** The store's state by the feed's rule: a message is applied unless a higher version was. */
const knownToStore = (feed: readonly ReceivedMessage[]) =>
  feed.reduce<{ version: number; result?: unknown }>(
    (known, { event, version, data }) =>
      event !== 'order.updated' || version < known.version ? known : { version, result: data },
    { version: 0 },
  ).result

const isResent = ({ cause }: ReceivedMessage): boolean => cause?.event === 'order.resend'

/** The statuses in their usual sequence (spec: States and transitions). */
const PASSED = ['needs_review', 'invoiced', 'paid', 'refunded']

/**
 * Checks the feed of one order (promise P9): the content of a delivery and of a version never changes, no version is
 * skipped or first published after a higher one, and the status never goes back.
 */
export const feedViolations = (feed: readonly ReceivedMessage[]): string[] => {
  const violations: string[] = []
  const contents = new Map<string, ReceivedMessage>()
  /** The content of each version about the order and each request, by delivery. */
  const saidBy = new Map<string, string>()
  const says = ({ version, delivery }: ReceivedMessage, what: string) => {
    const key = `version ${version} about ${what}`
    const before = saidBy.get(key)
    if (before !== undefined && before !== delivery) violations.push(`${key} was published with two contents`)
    saidBy.set(key, delivery)
  }
  // A store that has lost its data starts with the republished messages; while old orders are deleted, versions start at
  // the minute of the Unix time.
  const first = Number(feed[0]?.version)
  let highest = feed.some(isResent) || first > 1_000_000 ? first - 1 : 0
  let last: Extract<ReceivedMessage, { event: 'order.updated' }> | undefined
  for (const message of feed) {
    const { version, delivery } = message
    const before = contents.get(delivery)
    if (before !== undefined) {
      if (!same(before, message)) violations.push(`delivery ${delivery} was published with two contents`)
      continue
    }
    contents.set(delivery, message)
    if (version > highest + 1)
      violations.push(`version ${version} was published, but version ${highest + 1} never was`)
    if (version < highest) violations.push(`version ${version} was published as new after ${highest}`)
    highest = Math.max(highest, version)
    if (message.event !== 'order.updated') {
      says(message, message.data.id)
      continue
    }
    const { data } = message
    says(message, 'the order')
    for (const { id } of message.requests) says(message, id)
    const passed = ({ status }: { [field: string]: unknown }) => PASSED.indexOf(String(status))
    if (last !== undefined && passed(data) >= 0 && passed(data) < passed(last.data))
      violations.push(`version ${version} goes back from ${last.data.status} to ${data.status}`)
    if (same(last?.data, data) && same(last?.requests, message.requests) && !isResent(message))
      violations.push(`the store received the same content twice, the second time as ${delivery}`)
    last = message
  }
  return violations
}

/** The published states of a request, by version. */
const publishedStates = (feed: readonly ReceivedMessage[], id: string): readonly string[] => {
  const states: { version: number; state: string }[] = []
  for (const { version, ...message } of feed) {
    if (message.event !== 'order.updated') {
      if (message.data.id === id) states.push({ version, state: message.event.replace('order.', '') })
    } else for (const request of message.requests) if (request.id === id) states.push({ version, ...request })
  }
  return states.sort((a, b) => a.version - b.version).map(({ state }) => state)
}

/** Each accepted request ends exactly once, and the store is notified and can read it (promise P13). */
const requestViolations = (
  { requests }: Expected,
  order: Order | undefined,
  feed: readonly ReceivedMessage[],
  accepted: readonly string[],
  faults: number,
): string[] => {
  const views = order === undefined ? [] : requestViews(order)
  const published = ({ id, kind, state }: RequestView) => {
    const states = publishedStates(feed, id)
    const ends = states.filter(each => !isOpen(each as RequestState))
    return [
      ...claim(states.at(-1) === state, `the ${kind} is ${state}, and ${states} was published`),
      ...claim(new Set(ends).size <= 1, `the ${kind} ended as ${ends}`),
    ]
  }
  const statesOf = (kind: RequestView['kind']) =>
    views.filter(view => view.kind === kind).map(({ state }) => state)
  const withdrawn = views.filter(({ state }) => state === 'withdrawn').length
  const asExpected = (kind: RequestView['kind']) => {
    const states = statesOf(kind)
    const { registered, others } = requests[kind] ?? { registered: [0], others: [] }
    const count = states.filter(state => state === 'registered').length
    // An attempt with a lost response may have registered it.
    const isRepeated = faults > 0 && count === 0 && states.includes('duplicate')
    // A request sent again after its withdrawal is withdrawn again: each withdrawal applies to one request.
    const areWithdrawn = kind === 'withdrawal' && count > 1 && count <= withdrawn
    return claim(
      (registered.includes(count) || isRepeated || areWithdrawn) &&
        states.every(state => state === 'registered' || others.includes(state)) &&
        states.length > 0 === (requests[kind] !== undefined),
      `the ${kind} is ${states}, not ${registered.join(' or ')} times registered, or ${others}`,
    )
  }
  return [
    ...accepted
      .filter(id => !views.some(view => view.id === id))
      .map(id => `request ${id} was accepted and is not stored`),
    ...views.flatMap(published),
    ...(['create', 'payment', 'refund', 'withdrawal'] as const).flatMap(asExpected),
    ...claim(
      withdrawn > 0 === statesOf('withdrawal').includes('registered'),
      `${withdrawn} requests are withdrawn, unlike the withdrawal`,
    ),
  ]
}

/**
 * Compares the state of one order in the service, the orders table and the store (promises P5, P6, P7, P8, P9, P10, P13).
 *
 * @param faults the number of faults: the response to a call that registered a request may then be lost
 */
export const orderViolations = (expected: Expected, end: EndState, faults = 0): string[] => {
  const { service, stored, feed, accepted } = end
  const { status } = (service?.result ?? {}) as { status?: unknown }
  const documents = service?.documents.toSorted() ?? []
  const { order, isIndexed = false } = stored ?? {}
  const isUnsettled =
    order !== undefined &&
    (order.doubt !== false || order.result?.status === 'needs_review' || openRequests(order).length > 0)
  return [
    ...feedViolations(feed),
    ...claim(status === expected.status, `the order is ${status}, not ${expected.status}`),
    ...claim(same(documents, expected.documents.toSorted()), `the service registered ${documents}`),
    ...claim(
      service === undefined || service.holdsPayment === expected.holdsPayment,
      `the service holds ${service?.holdsPayment ? 'a' : 'no'} payment`,
    ),
    ...claim(same(order?.result, service?.result), 'the table differs from the service'),
    ...claim(same(knownToStore(feed), service?.result), 'the store differs from the service'),
    ...claim(
      isIndexed === isUnsettled,
      `the order is ${isIndexed ? '' : 'not '}in the index of unsettled orders`,
    ),
    ...requestViolations(expected, order, feed, accepted, faults),
  ]
}

/**
 * The history of an order has an entry for each save that was not throttled, the last of which matches the stored order,
 * and its requests can be found there.
 *
 * @param find an entry of this order by its time
 */
export const historyViolations = (
  item: Record<string, AttributeValue>,
  find: (at: string) => HistoryEntry | undefined,
): string[] => {
  const { order, updated_at, entry_at } = orderOf(item)
  if (item.revision === undefined) return []
  const last = find(updated_at)
  const requests = new Set<string>()
  let complete = true
  for (let at = (entry_at ?? updated_at) || undefined; at !== undefined && complete; ) {
    const entry = find(at)
    complete = entry !== undefined && (entry.previous === undefined || entry.previous < at)
    if (entry?.request !== undefined) requests.add(entry.request)
    at = entry?.previous
  }
  return [
    ...claim(complete, 'the history does not reach back to the first save'),
    ...claim(
      entry_at !== undefined || (last?.version === order.version && last.status === order.result?.status),
      'the last entry of the history is not of the order as stored',
    ),
    ...(complete ? requestViews(order) : [])
      .filter(({ id }) => !requests.has(id))
      .map(({ id, kind }) => `the ${kind} ${id} is in no entry of the history`),
    ...claim(item.failing === undefined, 'the order counts as failing'),
  ]
}

/** The state of a webhook at its sender: accepted with 200, failed after the last attempt, or pending. */
export type SentWebhook = { delivery: string; state: 'accepted' | 'given up' | 'pending' }

/** No webhook is lost (promise P3): accepted ones were queued, and none has failed. */
export const webhookViolations = (sent: readonly SentWebhook[], queued: ReadonlySet<string>): string[] =>
  sent.flatMap(({ delivery, state }) => [
    ...claim(
      state !== 'accepted' || queued.has(delivery),
      `webhook ${delivery} was answered 200 and never queued`,
    ),
    ...claim(state !== 'given up', `webhook ${delivery} was given up`),
  ])
