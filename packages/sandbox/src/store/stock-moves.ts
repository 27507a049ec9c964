import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Clock } from '../clock.ts'
import { type Decimal, shown } from '../decimal.ts'
import type { Sql } from './query.ts'

/** Why stock changed: a step of an invoice, or a number that was entered. */
export const MOVE_KINDS = ['issued', 'returned', 'return_reversed', 'reviewed', 'corrected', 'set'] as const

/** Why the stock of a product changes, and for which invoice, if any. */
export type MoveCause = { kind: (typeof MOVE_KINDS)[number]; invoice_number: number | null }

/** A change of the stock of a product; the order is that of the invoice. */
export type StockMove = MoveCause & { number: number; at: string; before: string; after: string } & {
  [Field in keyof OrderKey]: OrderKey[Field] | null
}

type NewMove = MoveCause & { sku: string; before: Decimal; after: Decimal }

/** A page of a list: `before` is the last number of the previous page. */
type MovePage = { before?: number | undefined; limit: number }

export const stockMoves = ({ all, insert }: Sql, { iso }: Clock) => ({
  add: ({ before, after, ...move }: NewMove) =>
    insert('stock_moves', { ...move, at: iso(), before: shown(before), after: shown(after) }),
  /** The changes of the stock of a product, newest first. */
  list: (sku: string, { before = Number.MAX_SAFE_INTEGER, limit }: MovePage) =>
    all<StockMove>(
      `SELECT m.number, m.at, m.kind, m.before, m.after, invoice_number, o.source, o.external_id
       FROM stock_moves m LEFT JOIN orders o USING (invoice_number)
       WHERE m.sku = ? AND m.number < ? ORDER BY m.number DESC LIMIT ?`,
      ...[sku, before, limit],
    ),
})
