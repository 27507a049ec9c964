import { apply as applyAt, type CallResult, type LostCall } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import {
  type Intent,
  type IntentState,
  newOrder,
  type Order,
  type RequestKind,
} from '../../lib/orders/order.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'

const KEY = { source: 'shop', external_id: '1' }
export const DELIVERY = '00000000-0000-4000-8000-000000000001'
export const NOW = 1_700_000_000
export const WEEK = 7 * 24 * 60 * 60

/** A cause that an accountant can fix, and one that nobody can. */
export const fixable = { status: 400, code: 'unknown_sku', message: 'no' }
export const invalid = { status: 400, code: 'invalid', message: 'no' }

export const apply = (order: Order, input: OrderEvent | CallResult | LostCall, now = NOW) =>
  applyAt(order, input, { now, retryRefused: WEEK })
export const silent = (next: Order): Order => ({ ...next, pending: [] })
/** Applies one after the other; only what the last one publishes is pending. */
export const applyAll = (start: Order, ...inputs: Parameters<typeof apply>[1][]) =>
  inputs.reduce((next, input) => apply(silent(next), input), start)

export const result = (status: string): OrderResult => ({ ...KEY, status })
export const order = (status: string | undefined, changes: Partial<Order> = {}): Order => ({
  ...newOrder(KEY),
  ...(status !== undefined && { result: result(status) }),
  ...changes,
})
/** An order with these requests. */
export const having = (status: string | undefined, ...intents: Intent[]) => order(status, { intents })

export const ended = (kind: Intent['kind'], state: IntentState, changes: Partial<Intent> = {}): Intent => {
  return { id: kind, kind, state, ...changes }
}
export const intent = (kind: RequestKind, state: IntentState = 'waiting', changes: Partial<Intent> = {}) =>
  ended(kind, state, { request: '{"a":1}', ...changes })
/** `kind state` of every request. */
export const statesOf = ({ intents }: Order) => intents.map(({ kind, state }) => `${kind} ${state}`)
/** A message about one request. */
export const message = (event: string, kind: Intent['kind'], changes: object = {}) => {
  return { event: `order.${event}`, data: { ...KEY, request: kind, id: kind, ...changes } }
}

export const check = { event: 'order.check', delivery: DELIVERY, data: KEY } as const
export const webhook = (status: string) =>
  ({ event: 'order.updated', delivery: DELIVERY, data: result(status) }) as const
export const request = (kind: RequestKind, id = DELIVERY): OrderEvent => {
  return { event: `order.${kind}`, delivery: id, data: { ...KEY, request: '{}' } }
}
export const withdraw = (kind: RequestKind, id = 'withdrawal') =>
  ({ event: 'order.withdraw', delivery: id, data: { ...KEY, kind } }) as const

const no = { status: 404, message: 'no' }
export const unknown = { to: 'read', outcome: 'unknown order', reason: no } as const
export const read = (status: string) => ({ to: 'read', outcome: 'result', result: result(status) }) as const
export const refused = (to: RequestKind, reason = fixable): CallResult => ({ to, outcome: 'refused', reason })
export const answered = (to: RequestKind, status: string, changes: object = {}) =>
  ({ to, outcome: 'result', result: result(status), ...changes }) as const
