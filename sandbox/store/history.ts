import type { DatabaseSync } from 'node:sqlite'
import { command, query } from './query.ts'

type HistoryKind = 'created' | 'held' | 'finalized' | 'paid' | 'refunded' | 'retried' | 'refused' | 'webhook'

/** One thing that happened to an order, in words for the accountant. */
export type HistoryEntry = { at: string; kind: HistoryKind; message: string }

export const history = (db: DatabaseSync) => {
  const ofInvoice = query<HistoryEntry>(
    db,
    'SELECT at, kind, message FROM history WHERE invoice_number = ? ORDER BY position',
  )
  const insert = command(
    db,
    `INSERT INTO history (invoice_number, position, at, kind, message)
     SELECT ?1, coalesce(max(position), 0) + 1, ?2, ?3, ?4 FROM history WHERE invoice_number = ?1`,
  )
  return {
    list: (invoice_number: number) => ofInvoice.all(invoice_number),
    add: (invoice_number: number, { at, kind, message }: HistoryEntry) =>
      insert(invoice_number, at, kind, message),
  }
}
