import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Clock } from '../clock.ts'
import { type Decimal, shown } from '../decimal.ts'
import type { Sql } from './query.ts'

const STEPS = ['issued', 'returned', 'return_reversed', 'reviewed', 'corrected'] as const

/** Why stock changed: a step of an invoice, or a new number or a difference that the accountant entered. */
export const MOVE_KINDS = [...STEPS, 'set', 'adjusted'] as const

/** Why the stock of a product changes, and for which invoice, if any. An adjustment has the accountant's reason. */
export type MoveCause = {
  kind: (typeof MOVE_KINDS)[number]
  invoice_number: number | null
  reason?: string
}

/** A change of the stock of a product, with the order of its invoice, if any. */
export type StockMove = Omit<MoveCause, 'reason'> & {
  reason: string | null
} & { number: number; at: string; before: string; after: string } & {
  [Field in keyof OrderKey]: OrderKey[Field] | null
}

type NewMove = MoveCause & { sku: string; before: Decimal; after: Decimal }

/** The filter and page of a list of changes: `before` is the last number of the previous page. */
type MovePage = {
  kind?: MoveCause['kind'] | undefined
  from?: string | undefined
  to?: string | undefined
  before?: number | undefined
  limit: number
}

export const stockMoves = ({ all, insert }: Sql, { iso, beginningOf }: Clock) => ({
  add: ({ before, after, ...move }: NewMove) =>
    insert('stock_moves', { ...move, at: iso(), before: shown(before), after: shown(after) }),
  /** The changes of the stock of a product, newest first. */
  list: (sku: string, { kind, from, to, before = Number.MAX_SAFE_INTEGER, limit }: MovePage) =>
    all<StockMove>(
      `SELECT m.number, m.at, m.kind, m.reason, m.before, m.after, invoice_number, o.source, o.external_id
       FROM stock_moves m LEFT JOIN orders o USING (invoice_number)
       WHERE m.sku = ?1 AND m.number < ?2 AND (?4 IS NULL OR m.kind = ?4)
         AND (?5 IS NULL OR m.at >= ?5) AND (?6 IS NULL OR m.at < ?6)
       ORDER BY m.number DESC LIMIT ?3`,
      sku,
      before,
      limit,
      kind ?? null,
      from === undefined ? null : beginningOf(from),
      to === undefined ? null : beginningOf(to, 1),
    ),
})
