import { entryKeyOf, type HistoryEntry } from '@order-relay/lib/orders/history.ts'
import { BULK_SHARDS } from '@order-relay/lib/orders/repository.ts'
import { referenceIn } from '@order-relay/lib/orders/requests.ts'
import { keyOf, type StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { FAILING_INDEX, HISTORY_INDEXES, TABLES, UNSETTLED_INDEX } from '@order-relay/lib/platform/names.ts'
import { EXTERNAL_ID_MAX, type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { latinDigits } from '@order-relay/web/calendar.ts'
import { inParallel } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { itemsOf } from '../core/table.ts'
import { deliveryWith } from '../deliveries.ts'
import { announcedWithBodies, BATCH, indexItems, orderKeys, readOrders } from '../model/read.ts'
import { changesOf } from './list.ts'

/** The field of an order that begins with the searched text. */
type Match = { by: 'order' | 'request' | 'delivery' | 'invoice' | 'reference'; text: string }

export type Found = { stored: StoredOrder; match: Match }

/** Maximum number of orders found. */
export const MOST = 50

/** Maximum number of concurrent queries; each store and spelling needs one. */
const WIDTH = 50

/** The number of changes examined if no order number begins with the text. */
export const CHANGES = 500

/**
 * The spellings to look up, since DynamoDB compares exactly: as typed, in lower case, in upper case and with an initial
 * capital, always with Latin digits.
 */
const spellings = (text: string): string[] => {
  const forms = [text, latinDigits(text)].flatMap(each => {
    const lower = each.toLowerCase()
    return [each, lower, each.toUpperCase(), lower.replace(/^./u, first => first.toUpperCase())]
  })
  return [...new Set(forms)]
}

/** An invoice number as people write it: `#27`, `invoice 27`, `فاکتور ۲۷`. */
const INVOICE = /^(?:#|(?:invoice|فاکتور)\s+#?)([\d۰-۹٠-٩]+)$/i

type Candidate = OrderKey & Match

type InStore = { source: string; form: string }

/** The store and the number that follows its name: `web-shop 1001`. */
const inNamedStore = (context: Context, text: string): InStore[] =>
  context.stores().flatMap(({ source }) => {
    const isNamed = text.toLowerCase().startsWith(`${source.toLowerCase()} `)
    const number = text.slice(source.length).trim()
    return isNamed && number !== '' ? spellings(number).map(form => ({ source, form })) : []
  })

/** Orders whose number begins with the text: one query for each store and spelling. */
const byNumber = async (context: Context, ranges: readonly InStore[]): Promise<Candidate[]> => {
  const { ordersTable: TableName } = await context.stack()
  const found: Candidate[] = []
  await inParallel(ranges, WIDTH, async ({ source, form }) => {
    const key = { 'source =': source, 'external_id BETWEEN': [form, `${form}\u{10ffff}`] }
    let left = MOST
    for await (const { external_id } of itemsOf(context, { TableName, Limit: MOST }, { key })) {
      found.push({ source, external_id: external_id?.S ?? '', by: 'order', text: external_id?.S ?? '' })
      if (--left === 0) break
    }
  })
  return found
}

/** Orders with exactly this request, invoice number or delivery. */
const byIndex = async (context: Context, forms: readonly string[]): Promise<Candidate[]> => {
  const TableName = context.nameOf(TABLES.history)
  const lookups = forms.flatMap(text => [
    ...HISTORY_INDEXES.map(async IndexName => {
      const found: Candidate[] = []
      const by = IndexName === 'request' ? 'request' : 'invoice'
      const index = { TableName, IndexName, Limit: MOST }
      for await (const item of itemsOf(context, index, { key: { [`${IndexName} =`]: text } })) {
        const { source, external_id } = entryKeyOf(item)
        if (found.push({ source, external_id, by, text }) === MOST) break
      }
      return found
    }),
    deliveryWith(context, text).then((found): Candidate[] =>
      found === undefined
        ? []
        : [{ source: found.source, external_id: found.external_id, by: 'delivery', text }],
    ),
  ])
  return (await Promise.all(lookups)).flat()
}

const textsOf = (entry: HistoryEntry): Match[] => {
  const { delivery, request, reference, invoice_number, requests, published } = entry
  return [
    ...[request, ...requests.map(({ id }) => id)].flatMap(text =>
      text === undefined ? [] : [{ by: 'request', text } as const],
    ),
    ...(invoice_number === undefined ? [] : [{ by: 'invoice', text: invoice_number } as const]),
    ...(reference === undefined ? [] : [{ by: 'reference', text: reference } as const]),
    ...[delivery, ...published.map(each => each.delivery)].map(text => ({ by: 'delivery', text }) as const),
  ]
}

/** The latest changes, searched for the beginning of an id, an invoice number or the reference of a payment. */
const recent = async (context: Context, begins: (text: string) => boolean) => {
  const candidates: Candidate[] = []
  let searched: string | undefined
  let read = 0
  for await (const entry of changesOf(context, {}, CHANGES)) {
    const { source, external_id } = entry
    const match = textsOf(entry).find(({ text }) => begins(text))
    if (match !== undefined) candidates.push({ source, external_id, ...match })
    if (++read < CHANGES) continue
    searched = entry.at
    break
  }
  return { candidates, searched }
}

/** Maximum number of orders whose waiting requests are searched. */
export const BLOCKED = 1000

/** Orders with a failing event or an event in the bulk queue. */
const blockedOrders = async (context: Context) => {
  const { ordersTable: TableName } = await context.stack()
  const keys = (await indexItems(context, FAILING_INDEX, BLOCKED)).map(keyOf)
  const unsettled = { TableName, IndexName: UNSETTLED_INDEX, Limit: BATCH }
  const ofShard = async (shard: string) => {
    for await (const item of itemsOf(context, unsettled, { key: { 'unsettled =': shard } })) {
      if (keys.length >= BLOCKED) break
      keys.push(keyOf(item))
    }
  }
  await Promise.all(BULK_SHARDS.map(ofShard))
  return orderKeys(keys)
}

/**
 * The requests that wait behind an earlier event of their order: until the worker handles them, only their announcements
 * contain their ids and references.
 */
const behindEvents = async (context: Context, begins: (text: string) => boolean): Promise<Candidate[]> => {
  const found: Candidate[] = []
  await inParallel(await blockedOrders(context), WIDTH, async ({ source, external_id }) => {
    const { bodies } = await announcedWithBodies(context, { source, external_id })
    const matches = bodies.flatMap(({ id, body }): Match[] => {
      const reference = referenceIn(body)
      return [
        { by: 'request', text: id },
        ...(reference === undefined ? [] : [{ by: 'reference', text: reference } as const]),
      ]
    })
    const match = matches.find(({ text }) => begins(text))
    if (match !== undefined) found.push({ source, external_id, ...match })
  })
  return found
}

/**
 * Finds orders by the beginning of their number, or by a complete request id, delivery id or invoice number. If there is
 * none, searches the latest changes, and the requests that wait behind an earlier event of their order, for the
 * beginning of an id, an invoice number or the reference of a payment.
 *
 * @returns the orders, exact matches first, then the most recently changed; `searched` is the time of the oldest change
 *   examined, if there are older ones
 */
export const findOrders = async (
  context: Context,
  given: string,
): Promise<{ found: Found[]; searched?: string | undefined }> => {
  const text = given.trim()
  if (text === '' || [...text].length > EXTERNAL_ID_MAX) return { found: [] }
  const [, invoice] = INVOICE.exec(text) ?? []
  // An order number may look like this, too.
  const forms = [text, ...(invoice === undefined ? [] : [invoice])].flatMap(spellings)
  const inStore = inNamedStore(context, text)
  const inAll = context.stores().flatMap(({ source }) => forms.map(form => ({ source, form })))
  const [numbers, ids] = await Promise.all([
    byNumber(context, [...inAll, ...inStore]),
    byIndex(context, forms),
  ])
  const known = [...ids, ...numbers]
  const prefixes = forms.map(form => form.toLowerCase())
  const begins = (found: string) => prefixes.some(prefix => found.toLowerCase().startsWith(prefix))
  const search = async () => {
    const [waiting, changes] = await Promise.all([behindEvents(context, begins), recent(context, begins)])
    return { ...changes, candidates: [...waiting, ...changes.candidates] }
  }
  const { candidates, searched } = known.length > 0 ? { candidates: known } : await search()
  // Keeps the first match of each order.
  const matches = new Map(candidates.toReversed().map(each => [orderName(each), each]))
  const exact = new Set([...forms, ...inStore.map(({ form }) => form)])
  const isExact = ({ match }: Found) => exact.has(match.text)
  const found = [...(await readOrders(context, [...matches.values()]))].flatMap(([name, stored]): Found[] => {
    const match = matches.get(name)
    return match === undefined ? [] : [{ stored, match: { by: match.by, text: match.text } }]
  })
  return {
    found: found
      .toSorted(
        (a, b) =>
          Number(isExact(b)) - Number(isExact(a)) || (a.stored.updated_at < b.stored.updated_at ? 1 : -1),
      )
      .slice(0, MOST),
    searched,
  }
}
