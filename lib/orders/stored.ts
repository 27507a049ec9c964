import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { parseJson } from '../protocol/json.ts'
import type { OrderKey, OrderResult } from '../protocol/order.ts'
import { inflated } from './bodies.ts'
import type { Intent, Order, RequestKind } from './order.ts'

/** An event that fails: the one in front of those that wait for its order. Times are ISO 8601. */
export type Failing = {
  event: string
  delivery: string
  queue: 'orders' | 'bulk'
  receives: number
  /** When the event came into the queue. */
  since: string
  /** When it failed last, and when it is tried again. */
  at: string
  next_at: string
  /** The code of an AccountingError, `breaker open`, or the name of another error. */
  code: string
  /** What the service answered. */
  status?: number
  /** Without anything that it quotes. */
  message: string
  /** How many events waited behind it in the same batch. */
  behind: number
}

/** An order as stored, with the revision that guards against two writers. */
export type StoredOrder = {
  order: Order
  revision: number
  /** ISO 8601. */
  updated_at: string
  /** The id of a create that is on its way, of an order that the worker has not stored yet. */
  announced?: string
  failing?: Failing
  /** When an unsettled order is checked next, in unix seconds. */
  check_at?: number
}

/** When the worker has saved an order last; undefined when it has not. */
export const savedAt = ({ announced, updated_at }: StoredOrder): string | undefined =>
  announced === undefined && updated_at !== '' ? updated_at : undefined

export type Item = Record<string, AttributeValue>

export const keyItem = ({ source, external_id }: OrderKey): Item => ({
  source: { S: source },
  external_id: { S: external_id },
})

export const keyOf = ({ source, external_id }: Item): OrderKey => ({
  source: source?.S ?? '',
  external_id: external_id?.S ?? '',
})

/**
 * Reads an item of the orders table. `result` and `intents` are JSON text, so that unknown fields and long
 * numbers come back exactly as the service sent them; `bodies` has the large bodies of intents, by kind.
 */
export const orderOf = (item: Item): StoredOrder => ({
  revision: Number(item.revision?.N ?? 0),
  updated_at: item.updated_at?.S ?? '',
  ...(item.announced?.S !== undefined && { announced: item.announced.S }),
  ...(item.failing?.S !== undefined && { failing: JSON.parse(item.failing.S) as Failing }),
  ...(item.check_at?.N !== undefined && { check_at: Number(item.check_at.N) }),
  order: {
    ...keyOf(item),
    version: Number(item.version?.N ?? 0),
    result: item.result?.S === undefined ? undefined : (parseJson(item.result.S) as OrderResult),
    doubt: (item.doubt?.S as Order['doubt'] | undefined) ?? false,
    movedBack: item.moved_back?.BOOL === true,
    intents: (JSON.parse(item.intents?.S ?? '[]') as Intent[]).map(intent => {
      const body = intent.request === '' ? item.bodies?.M?.[intent.kind]?.B : undefined
      return body === undefined ? intent : { ...intent, request: inflated(body) }
    }),
    withdrawals: (item.withdrawals?.SS ?? []).map(mark => {
      const [of, id = ''] = mark.split(' ')
      return { id, of: of as RequestKind }
    }),
    bulk: item.bulk?.S,
    pending: [],
  },
})
