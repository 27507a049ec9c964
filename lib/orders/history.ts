import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '../platform/clients.ts'
import type { OrderKey } from '../protocol/order.ts'
import type { CallResult, LostCall } from './apply.ts'
import type { OrderEvent } from './events.ts'
import type { FeedMessage } from './feed.ts'
import { type Intent, isSettled, type Order } from './order.ts'

/** A call to the accounting service: of a refusal, its status and code, but not its words, which may quote data. */
export type MadeCall = {
  to: CallResult['to']
  outcome: (CallResult | LostCall)['outcome']
  status?: number
  code?: string
  ms: number
}

export const madeCall = (call: CallResult | LostCall, ms: number): MadeCall => {
  const { status, code } = 'reason' in call ? call.reason : {}
  return { to: call.to, outcome: call.outcome, ...(status && { status }), ...(code && { code }), ms }
}

/** One save of an order by the worker: what led to it, and the order after it. It is never changed. */
export type HistoryEntry = OrderKey & {
  /** The `updated_at` that this save gave the order; ISO 8601. */
  at: string
  /** The order's `updated_at` before; undefined for its first save. */
  previous?: string
  /** The event of the order queue. */
  event: string
  delivery: string
  status?: string
  settled: boolean
  /** Of the messages that were published with it. */
  version: number
  /** The id of a store's request, where it appears for the first time. */
  request?: string
  /** Where it appears or changes. */
  invoice_number?: string
  /** Since the save before. */
  calls: readonly MadeCall[]
  published: readonly Pick<FeedMessage, 'event' | 'delivery'>[]
  /** The requests whose state has changed. */
  requests: readonly Pick<Intent, 'id' | 'kind' | 'state'>[]
  /** The lists were too long, and their ends are missing. */
  cut?: true
}

type Item = Record<string, AttributeValue>

/** What DynamoDB takes as one write unit, in bytes. */
const WRITE_UNIT = 1024

/** The partition of a store's orders, in which `at` sorts the entries by time. */
export const partitionOf = (source: string): string => `orders ${source}`

/** The second part of an entry's key. */
export const positionOf = ({ at, external_id }: Pick<HistoryEntry, 'at' | 'external_id'>): string =>
  `${at}#${external_id}`

/** The size of an item without lists, in bytes; at most a few more than DynamoDB counts. */
export const itemBytes = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, { S, N, B }]) => {
    const bytes = B?.length ?? Buffer.byteLength(S ?? N ?? '1')
    return sum + Buffer.byteLength(name) + bytes
  }, 0)

/** An entry as stored, its lists cut to what fits into one write unit. */
export const entryItem = (entry: HistoryEntry): Item => {
  const { source, external_id, at, calls, published, requests, settled, version, cut: _, ...texts } = entry
  const item = (lists: object): Item => ({
    partition: { S: partitionOf(source) },
    at: { S: positionOf({ at, external_id }) },
    ...Object.fromEntries(Object.entries(texts).map(([name, S]) => [name, { S }])),
    settled: { BOOL: settled },
    version: { N: String(version) },
    details: { S: JSON.stringify(lists) },
  })
  let lists: Pick<HistoryEntry, 'calls' | 'published' | 'requests' | 'cut'> = { calls, published, requests }
  while (itemBytes(item(lists)) > WRITE_UNIT) {
    const { length } =
      [lists.calls, lists.published, lists.requests].toSorted((a, b) => b.length - a.length)[0] ?? []
    if (!length) break
    const shorter = <Each>(list: readonly Each[]) => list.slice(0, length - 1)
    lists = {
      ...{ calls: shorter(lists.calls), published: shorter(lists.published) },
      ...{ requests: shorter(lists.requests), cut: true },
    }
  }
  return item(lists)
}

/** Reads an item of the history table. */
export const entryOf = ({ partition, at, details, settled, version, ...texts }: Item): HistoryEntry => {
  const [time = '', external_id = ''] = at?.S?.split(/#(.*)/s) ?? []
  return {
    event: '',
    delivery: '',
    ...Object.fromEntries(Object.entries(texts).map(([name, { S }]) => [name, S])),
    ...{ source: partition?.S?.slice(partitionOf('').length) ?? '', external_id, at: time },
    ...{ settled: settled?.BOOL === true, version: Number(version?.N) },
    ...JSON.parse(details?.S ?? '{"calls":[],"published":[],"requests":[]}'),
  }
}

/** The service may send anything (spec: Order result); a number longer than this is none. */
const MAX_TEXT = 100

const invoiceNumberOf = ({ result }: Order): string | undefined => {
  const number = result?.invoice_number
  const text = typeof number === 'string' ? number : JSON.stringify(number)
  return /^[\w-]+$/.test(text ?? '') && text.length <= MAX_TEXT && number !== null ? text : undefined
}

/** Describes a save. */
export const historyEntry = (
  before: Order,
  after: Order,
  { event, delivery }: OrderEvent,
  {
    messages,
    ...rest
  }: { at: string; previous?: string; calls: readonly MadeCall[]; messages: readonly FeedMessage[] },
): HistoryEntry => {
  const { source, external_id, result, version } = after
  const stateBefore = (id: string) => before.intents.find(intent => intent.id === id)?.state
  const changed = after.intents.filter(({ id, state }) => stateBefore(id) !== state)
  // A mark may have begun a withdrawal before its event came.
  const knowsRequest = ({ intents, withdrawals }: Order) =>
    intents.some(({ id }) => id === delivery) && !withdrawals.some(({ id }) => id === delivery)
  const invoice_number = invoiceNumberOf(after)
  return {
    ...{ source, external_id, event, delivery, settled: isSettled(after), version },
    ...(result !== undefined && { status: result.status.slice(0, MAX_TEXT).toWellFormed() }),
    ...(knowsRequest(after) && !knowsRequest(before) && { request: delivery }),
    ...(invoice_number !== undefined && invoice_number !== invoiceNumberOf(before) && { invoice_number }),
    ...rest,
    published: messages.map(message => ({ event: message.event, delivery: message.delivery })),
    requests: changed.map(({ id, kind, state }) => ({ id, kind, state })),
  }
}

/** Adds an entry to the history. */
export type RecordChange = (entry: HistoryEntry) => Promise<void>

/**
 * The history table, as the worker writes it. Two workers that save the same order in the same millisecond write
 * the same entry, and only one of them saves.
 */
export const historyRecorder =
  (dynamodb: DynamoDB, table: string): RecordChange =>
  async entry => {
    await dynamodb.send(new PutItemCommand({ TableName: table, Item: entryItem(entry) }))
  }
