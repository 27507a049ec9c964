import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import type { DynamoDB } from '../platform/clients.ts'
import { type Item, itemBytes, WRITE_UNIT } from '../platform/dynamodb.ts'
import type { Refusal } from '../protocol/errors.ts'
import type { OrderKey } from '../protocol/order.ts'
import type { CallResult } from './apply.ts'
import type { FeedMessage } from './feed.ts'
import { isSettled, type Order, type RequestView, requestViews } from './order.ts'

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
  /** The order's `updated_at` before this save; undefined for the first one. */
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
  /** Only in entries where it appears or changes. */
  invoice_number?: string | undefined
  /** Calls since the previous save. */
  calls: readonly MadeCall[]
  published: readonly Pick<FeedMessage, 'event' | 'delivery'>[]
  /** The requests whose state changed. */
  requests: readonly Pick<RequestView, 'id' | 'kind' | 'state'>[]
  /** Whether lists were truncated. */
  cut?: true
}

/** The partition of a store's orders, in which `at` sorts the entries by time. */
export const partitionOf = (source: string): string => `orders ${source}`

/** The sort key of an entry. */
export const positionOf = ({ at, external_id }: Pick<HistoryEntry, 'at' | 'external_id'>): string =>
  `${at}#${external_id}`

/** An entry as stored, with lists truncated to fit into one write unit. */
export const entryItem = (entry: HistoryEntry): Item => {
  const itemOf = ({ source, external_id, at, request, invoice_number, ...details }: HistoryEntry): Item => ({
    partition: { S: partitionOf(source) },
    at: { S: positionOf({ at, external_id }) },
    ...(request !== undefined && { request: { S: request } }),
    ...(invoice_number !== undefined && { invoice_number: { S: invoice_number } }),
    details: { S: JSON.stringify(details) },
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
export const entryKeyOf = ({ partition, at }: Item): OrderKey & { at: string } => {
  const [time = '', external_id = ''] = at?.S?.split(/#(.*)/s) ?? []
  return { source: partition?.S?.slice(partitionOf('').length) ?? '', external_id, at: time }
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
  }: Pick<HistoryEntry, 'at' | 'previous' | 'event' | 'delivery' | 'request' | 'calls'> & {
    messages: readonly FeedMessage[]
  },
): HistoryEntry => {
  const { source, external_id, result, version } = after
  const states = new Map(requestViews(before).map(({ id, state }) => [id, state]))
  const changed = requestViews(after).filter(({ id, state }) => states.get(id) !== state)
  const number = invoiceNumberOf(after)
  return {
    ...{ source, external_id, settled: isSettled(after), version },
    status: result?.status.slice(0, MAX_TEXT).toWellFormed(),
    invoice_number: number === invoiceNumberOf(before) ? undefined : number,
    ...rest,
    published: messages.map(message => ({ event: message.event, delivery: message.delivery })),
    requests: changed.map(({ id, kind, state }) => ({ id, kind, state })),
  }
}

/** Adds an entry to the history. */
export type RecordChange = (entry: HistoryEntry) => Promise<void>

/**
 * The history table, as the worker writes it. Two workers that save the same order in the same millisecond write the
 * same entry, which may then describe the refused save.
 */
export const historyRecorder =
  (dynamodb: DynamoDB, table: string): RecordChange =>
  async entry => {
    await dynamodb.send(new PutItemCommand({ TableName: table, Item: entryItem(entry) }))
  }
