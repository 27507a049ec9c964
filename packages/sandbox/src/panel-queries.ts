import { DEFAULT_SOURCE, text } from '@order-relay/lib/protocol/order.ts'
import { date } from '@order-relay/lib/protocol/requests.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import * as v from 'valibot'
import { nonEmptyText, searchText } from './requests.ts'
import { DAYS, DOCUMENT_KINDS } from './store/document-list.ts'
import { RECEIPT_TYPES } from './store/documents.ts'
import { BALANCES, SORTS } from './store/orders.ts'
import { MOVE_KINDS } from './store/stock-moves.ts'

/** Whether a code is added that must not exist yet. */
export const addQuery = v.object({
  new: v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
})

const fromDigits = [
  v.regex(/^\d{1,15}$/, 'must be a whole number'),
  v.transform(Number),
  v.number(),
  v.integer(),
] as const

const identifier = v.pipe(text, ...fromDigits, v.metadata({ minimum: 0, maximum: 999_999_999_999_999 }))

const limit = (preset: number) =>
  v.pipe(
    v.optional(text, String(preset)),
    ...fromDigits,
    v.minValue(1, 'must be at least 1'),
    v.maxValue(500, 'must be at most 500'),
    v.metadata({ default: preset }),
  )

/** The filter of orders. */
export const sumsQuery = v.object({
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`)),
  balance: v.optional(v.picklist(BALANCES, `must be one of ${BALANCES.join(', ')}`)),
  source: v.optional(text),
  from: v.optional(date),
  to: v.optional(date),
  q: v.optional(searchText),
})

const exportQuery = v.object({
  ...sumsQuery.entries,
  sort: v.optional(v.picklist(SORTS, `must be one of ${SORTS.join(', ')}`), '-invoice_number'),
})

const spreadsheet = {
  language: v.optional(v.picklist(['en', 'fa'], 'must be en or fa'), 'en'),
  calendar: v.optional(v.picklist(['gregory', 'persian'], 'must be gregory or persian'), 'gregory'),
}

/** An export for spreadsheets, in a language and calendar. */
export const spreadsheetQuery = v.object({ ...exportQuery.entries, ...spreadsheet })

/** The filter of receipts, returns and repayments. */
const documentFilter = {
  kind: v.optional(v.picklist(DOCUMENT_KINDS, `must be one of ${DOCUMENT_KINDS.join(', ')}`)),
  type: v.optional(v.picklist(RECEIPT_TYPES, `must be one of ${RECEIPT_TYPES.join(', ')}`)),
  account: v.optional(text),
  days: v.optional(v.picklist(DAYS, `must be one of ${DAYS.join(', ')}`), 'document'),
  from: v.optional(date),
  to: v.optional(date),
  q: v.optional(searchText),
}

export const documentSpreadsheetQuery = v.object({ ...documentFilter, ...spreadsheet })

export const documentsQuery = v.object({
  ...documentFilter,
  limit: limit(50),
  before: v.optional(
    v.pipe(
      text,
      v.regex(
        RegExp(`^\\d{4}-\\d\\d-\\d\\d\\.(${DOCUMENT_KINDS.join('|')})\\.\\d{1,15}$`),
        'must be `next` of the previous page',
      ),
    ),
  ),
})

export const ordersQuery = v.object({
  ...exportQuery.entries,
  limit: limit(50),
  before: v.optional(identifier),
})

/** The refused orders that were not registered since, or those that were. */
export const refusalsQuery = v.object({
  state: v.optional(v.picklist(['open', 'resolved'], 'must be open or resolved'), 'open'),
  limit: limit(50),
})

export const refusalQuery = v.object({
  external_id: v.pipe(text, v.nonEmpty('must not be empty')),
  source: v.optional(nonEmptyText, DEFAULT_SOURCE),
})

export const faultsQuery = v.object({ id: v.optional(identifier) })

export const deliveriesQuery = v.object({
  order: v.optional(text),
  limit: limit(50),
})

export const accountsQuery = v.object({ from: v.optional(date) })

export const productsQuery = v.object({ q: v.optional(searchText) })

export const movesQuery = v.object({
  kind: v.optional(v.picklist(MOVE_KINDS, `must be one of ${MOVE_KINDS.join(', ')}`)),
  from: v.optional(date),
  to: v.optional(date),
  limit: limit(50),
  before: v.optional(identifier),
})

export const customersQuery = v.object({ q: v.optional(searchText), limit: limit(500) })

export type SpreadsheetQuery = v.InferOutput<typeof spreadsheetQuery>
export type DocumentsQuery = v.InferOutput<typeof documentsQuery>
export type DocumentSpreadsheetQuery = v.InferOutput<typeof documentSpreadsheetQuery>
export type AccountsQuery = v.InferOutput<typeof accountsQuery>
export type MovesQuery = v.InferOutput<typeof movesQuery>
export type RefusalsQuery = v.InferOutput<typeof refusalsQuery>
export type OrdersQuery = v.InferOutput<typeof ordersQuery>
