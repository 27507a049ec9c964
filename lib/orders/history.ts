import { hash } from 'node:crypto'
import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { type DynamoDB, isThrottled } from '../platform/clients.ts'
import { expiryItem, type Item, itemBytes, WRITE_UNIT } from '../platform/dynamodb.ts'
import type { Telemetry } from '../platform/telemetry.ts'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderKey } from '../protocol/order.ts'
import type { CallResult } from './apply.ts'
import type { FeedMessage } from './feed.ts'
import { isSettled, type Order, type RequestView, requestViews } from './order.ts'
import type { KeepFor } from './retention.ts'

/** A call to the accounting service: its HTTP status and error code, without the message, which may quote data. */
export type MadeCall = {
  to: CallResult['to']
  outcome: CallResult['outcome']
  status?: number
  code?: string
  ms: number
}

/** An AccountingError with the service's HTTP status. */
const answered = v.object({ reason: v.object({ status: v.number(), code: v.optional(v.string()) }) })

/** A call for the history, with its duration in milliseconds. */
export const madeCall = (call: CallResult, ms: number): MadeCall => {
  const failed = 'error' in call && v.is(answered, call.error) ? call.error.reason : {}
  const { code, ...reason }: Partial<Refusal> = 'reason' in call ? call.reason : failed
  const status = 'status' in call ? call.status : reason.status
  return { to: call.to, outcome: call.outcome, ...(status && { status }), ...(code && { code }), ms }
}

/** One save of an order by the worker: its cause and the order after it. Never changed. */
export type HistoryEntry = OrderKey & {
  /** The order's `updated_at` after this save; ISO 8601. */
  at: string
  /** The time of the order's entry before this one; undefined for the first one. */
  previous?: string | undefined
  /** The event of the order queue. */
  event: string
  delivery: string
  status?: string | undefined
  settled: boolean
  /** The event and delivery id of each message published with this save. */
  version: number
  /** The id of a store's request, only in the entry where it first appears. */
  request?: string | undefined
  /** The payment reference in that request. Operators search for it after the request's body has been deleted. */
  reference?: string | undefined
  /** Only in entries where it appears or changes. */
  invoice_number?: string | undefined
  /** Calls since the previous save. */
  calls: readonly MadeCall[]
  published: readonly Pick<FeedMessage, 'event' | 'delivery'>[]
  /** The requests whose state changed. */
  requests: readonly Pick<RequestView, 'id' | 'kind' | 'state'>[]
  /** The delivery, if this save moved its event to the bulk queue. */
  bulk?: string | undefined
  /** Whether lists were truncated. */
  cut?: true
}

/** Partitions of each store: a partition takes 1,000 write units a second, and new entries are adjacent in it. */
const PARTITIONS = 8

const partitionOf = (source: string, shard: number) => `orders-${shard} ${source}`

/** The partitions of a store's orders, in each of which `at` sorts the entries by time. */
export const partitionsOf = (source: string): string[] =>
  Array.from({ length: PARTITIONS }, (_, shard) => partitionOf(source, shard))

type EntryKey = Pick<HistoryEntry, 'source' | 'external_id' | 'at'>

/** The sort key of an entry. */
export const positionOf = ({ at, external_id }: Omit<EntryKey, 'source'>): string => `${at}#${external_id}`

/** The key of an entry; a hash of its time and order spreads the entries of a store over its partitions. */
export const entryKeyItem = ({ source, ...entry }: EntryKey): Item => {
  const position = positionOf(entry)
  const shard = Number.parseInt(hash('sha256', position).slice(0, 8), 16) % PARTITIONS
  return { partition: { S: partitionOf(source, shard) }, at: { S: position } }
}

/** An entry as stored, with lists truncated to fit into one write unit. */
export const entryItem = (entry: HistoryEntry, keepFor?: KeepFor): Item => {
  const itemOf = ({ source, external_id, at, request, invoice_number, ...details }: HistoryEntry): Item => ({
    ...entryKeyItem({ source, external_id, at }),
    ...(request !== undefined && { request: { S: request } }),
    ...(invoice_number !== undefined && { invoice_number: { S: invoice_number } }),
    details: { S: JSON.stringify(details) },
    ...expiryItem(keepFor?.(entry), Date.parse(at)),
  })
  const { calls, published, requests } = entry
  let item = itemOf(entry)
  for (let length = Math.max(calls.length, published.length, requests.length); length > 0; length--) {
    if (itemBytes(item) <= WRITE_UNIT) break
    const cutTo = <Each>(list: readonly Each[]) => list.slice(0, length - 1)
    const lists = { calls: cutTo(calls), published: cutTo(published), requests: cutTo(requests) }
    item = itemOf({ ...entry, ...lists, cut: true })
  }
  return item
}

/** The order and the time of an item of the history table. */
export const entryKeyOf = ({ partition, at }: Item): EntryKey => {
  const [time = '', external_id = ''] = at?.S?.split(/#(.*)/s) ?? []
  return { source: partition?.S?.slice(partitionOf('', 0).length) ?? '', external_id, at: time }
}

/** Reads an item of the history table. */
export const entryOf = (item: Item): HistoryEntry => ({
  ...entryKeyOf(item),
  ...(item.request?.S !== undefined && { request: item.request.S }),
  ...(item.invoice_number?.S !== undefined && { invoice_number: item.invoice_number.S }),
  ...JSON.parse(item.details?.S ?? ''),
})

/** The service may send anything (spec: Order result): longer values are truncated or ignored. */
const MAX_TEXT = 100

const invoiceNumberOf = ({ result }: Order): string | undefined => {
  const number = result?.invoice_number
  const text = typeof number === 'string' ? number.toWellFormed() : (JSON.stringify(number) ?? '')
  return text === '' || text.length > MAX_TEXT || /^(null|true|false|[[{].*)$/.test(text) ? undefined : text
}

/** Describes a save. */
export const historyEntry = (
  before: Order,
  after: Order,
  {
    messages,
    ...rest
  }: Pick<
    HistoryEntry,
    'at' | 'previous' | 'event' | 'delivery' | 'request' | 'reference' | 'calls' | 'bulk'
  > & {
    messages: readonly FeedMessage[]
  },
): HistoryEntry => {
  const { source, external_id, result, version } = after
  const states = new Map(requestViews(before).map(({ id, state }) => [id, state]))
  const changed = requestViews(after).filter(({ id, state }) => states.get(id) !== state)
  const number = invoiceNumberOf(after)
  return {
    source,
    external_id,
    settled: isSettled(after),
    version,
    status: result?.status.slice(0, MAX_TEXT).toWellFormed(),
    invoice_number: number === invoiceNumberOf(before) ? undefined : number,
    ...rest,
    published: messages.map(message => ({ event: message.event, delivery: message.delivery })),
    requests: changed.map(({ id, kind, state }) => ({ id, kind, state })),
  }
}

/** Adds an entry to the history, unless the table is throttled; returns whether it did. */
export type RecordChange = (entry: HistoryEntry) => Promise<boolean>

/**
 * The history table, as the worker writes it. Two workers that save the same order in the same millisecond write the
 * same entry, which may then describe the refused save.
 *
 * A throttled entry is only logged: an order must not wait for a history that no decision depends on.
 */
export const historyRecorder =
  (dynamodb: DynamoDB, table: string, telemetry: Telemetry, keepFor?: KeepFor): RecordChange =>
  async entry => {
    try {
      await dynamodb.send(new PutItemCommand({ TableName: table, Item: entryItem(entry, keepFor) }))
      return true
    } catch (error) {
      if (!isThrottled(error)) throw error
      const { source, external_id, at, event, delivery, status } = entry
      telemetry.warn('change not in the history', { source, external_id, at, event, delivery, status })
      telemetry.count('HistoryThrottled')
      return false
    }
  }
