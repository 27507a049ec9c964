import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '../platform/clients.ts'
import { type Item, setIfLater } from '../platform/dynamodb.ts'
import { DAY, unixSeconds } from '../platform/environment.ts'
import { messageGroupOf } from '../platform/fifo.ts'
import type { OrderKey } from '../protocol/order.ts'
import {
  isKnown,
  type Order,
  REQUEST_KINDS,
  type RequestKind,
  type RequestView,
  type Withdrawal,
} from './order.ts'

/** A request that the stores' API has accepted: its id and the time in unix milliseconds. */
type Accepted = { id: string; accepted_at: number }

/** Requests of an order that the stores' API has accepted and the worker may not have handled yet. */
export type Announced = {
  /** The last request of each kind that was not decided in time. */
  requests?: readonly (Accepted & { kind: RequestKind })[]
  /** The last withdrawal of each kind. */
  withdrawals: readonly Withdrawal[]
  /** The ids of an exact store's requests that are answered 202. */
  accepted?: readonly string[]
}

/** Longer than a dead letter is retained for a replay. */
const KEPT = 30 * DAY

export const announcementKey = (order: OrderKey): Item => ({
  delivery: { S: `announced ${messageGroupOf(order)}` },
})

/**
 * Announcements of the stores' API, in a separate item of the deliveries table because only the worker writes the
 * order's item. A withdrawal may be queued behind an event that cannot be processed, so the worker reads announced
 * withdrawals here immediately before it sends a request (promise P7). The API and operators read the announced requests.
 */
export const announcementRepository = (dynamodb: DynamoDB, table: string) => {
  /** A later announcement replaces earlier ones of the same kind. */
  const announce = (
    order: OrderKey,
    name: string,
    { id, accepted_at }: Accepted,
    body = '',
  ): Promise<void> => {
    // Unix milliseconds have thirteen digits and therefore sort as text.
    const value = `${accepted_at} ${id} ${body}`.trimEnd()
    return setIfLater(dynamodb, table, announcementKey(order), {
      name,
      value,
      expires: unixSeconds(accepted_at) + KEPT,
    })
  }

  return {
    /**
     * Announces that an exact store receives a 202 response, so that its feed reports the outcome. Read the order
     * afterwards: whichever of API and worker comes second sees what the other has done.
     */
    async announceAccepted(order: OrderKey, { id, accepted_at }: Accepted): Promise<void> {
      await dynamodb.send(
        new UpdateItemCommand({
          TableName: table,
          Key: announcementKey(order),
          UpdateExpression: 'ADD accepted :ids SET expires_at = :expires',
          ExpressionAttributeValues: {
            ':ids': { SS: [id] },
            ':expires': { N: String(unixSeconds(accepted_at) + KEPT) },
          },
        }),
      )
    },
    /** @param body for {@link announcedBodies} */
    announceRequest: (order: OrderKey, kind: RequestKind, request: Accepted, body?: string) =>
      announce(order, kind, request, body),
    announceWithdrawal: (order: OrderKey, { of, ...withdrawal }: Withdrawal) =>
      announce(order, `withdraw_${of}`, withdrawal),

    /** By default eventually consistent, at half the price: a withdrawal can arrive too late in any case. */
    async get(order: OrderKey, ConsistentRead = false): Promise<Announced> {
      const { Item = {} } = await dynamodb.send(
        new GetItemCommand({ TableName: table, Key: announcementKey(order), ConsistentRead }),
      )
      return announcedIn(Item)
    },
  }
}

export type Announcements = ReturnType<typeof announcementRepository>

const acceptedOf = (item: Item, name: string): Accepted[] => {
  const [accepted_at, id] = item[name]?.S?.split(' ') ?? []
  return id === undefined ? [] : [{ id, accepted_at: Number(accepted_at) }]
}

/** The announcements in the item of an order. */
export const announcedIn = (item: Item): Announced => {
  const requests = REQUEST_KINDS.flatMap(kind => acceptedOf(item, kind).map(each => ({ ...each, kind })))
  return {
    ...(requests[0] && { requests }),
    ...(item.accepted?.SS && { accepted: item.accepted.SS }),
    withdrawals: REQUEST_KINDS.flatMap(of =>
      acceptedOf(item, `withdraw_${of}`).map(each => ({ ...each, of })),
    ),
  }
}

/**
 * The announced requests of an item with their bodies (empty if not announced). Operators read these, since reading an
 * event from the queue would hide it from the worker.
 */
export const announcedBodies = (item: Item) =>
  (announcedIn(item).requests ?? []).map(({ kind, id, accepted_at }) => {
    const body = item[kind]?.S?.slice(`${accepted_at} ${id} `.length) ?? ''
    return { kind, id, body }
  })

/** The announced requests and withdrawals of an order that the worker has not handled yet, in the sequence of the queue. */
export const announcedRequests = (order: Order, announced: Announced | undefined): RequestView[] => {
  const { requests = [], withdrawals = [] } = announced ?? {}
  return [...requests, ...withdrawals.map(each => ({ ...each, kind: 'withdrawal' as const }))]
    .filter(({ id }) => !isKnown(order, id))
    .sort((a, b) => a.accepted_at - b.accepted_at)
    .map(({ accepted_at: _, ...request }) => ({ ...request, state: 'waiting' }))
}
