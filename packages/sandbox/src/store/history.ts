import type { Clock } from '../clock.ts'
import type { Sql } from './query.ts'

type HistoryKind =
  | 'created'
  | 'held'
  | 'payment_held'
  | 'payment_repeated'
  | 'finalized'
  | 'paid'
  | 'received'
  | 'reversed'
  | 'refunded'
  | 'returned'
  | 'return_reversed'
  | 'repaid'
  | 'repayment_reversed'
  | 'retried'
  | 'stocked'
  | 'reviewed'
  | 'corrected'
  | 'refused'
  | 'webhook'

/** An entry in the history of an order, described for the accountant. */
export type HistoryEntry = { at: string; kind: HistoryKind; message: string }

export const history = ({ all, run }: Sql, { iso }: Clock) => ({
  list: (invoice_number: number) =>
    all<HistoryEntry>(
      'SELECT at, kind, message FROM history WHERE invoice_number = ? ORDER BY position',
      invoice_number,
    ),
  add: (invoice_number: number, kind: HistoryKind, message: string) =>
    run(
      `INSERT INTO history (invoice_number, position, at, kind, message)
       SELECT ?1, coalesce(max(position), 0) + 1, ?2, ?3, ?4 FROM history WHERE invoice_number = ?1`,
      invoice_number,
      iso(),
      kind,
      message,
    ),
})
