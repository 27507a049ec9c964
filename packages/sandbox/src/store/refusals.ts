import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Clock } from '../clock.ts'
import type { Sql } from './query.ts'

/** Maximum number of refused orders that are kept; with the bodies, at most 32 MB. */
const KEPT = 500

/** An order that was refused, by its last refusal. */
export type RefusedOrder = OrderKey & {
  code: string
  message: string
  field: string | null
  /** The request as JSON; null if it is too large to keep. */
  body: string | null
  attempts: number
  first_at: string
  last_at: string
  /** When the order was registered after all. */
  resolved_at: string | null
}

/** What a refusal says about an order. */
export type NewRefusal = Pick<RefusedOrder, 'code' | 'message' | 'field' | 'body'>

const STATES = { open: 'resolved_at IS NULL', resolved: 'resolved_at IS NOT NULL' } as const

export type RefusalState = keyof typeof STATES

export const refusals = ({ one, all, run, insert, update }: Sql, { iso }: Clock) => ({
  /** Most recently refused first. */
  list: (state: RefusalState, limit: number) =>
    all<RefusedOrder>(
      `SELECT source, external_id, code, message, field, body, attempts, first_at, last_at, resolved_at
       FROM refusals WHERE ${STATES[state]} ORDER BY last_at DESC, number DESC LIMIT ?`,
      limit,
    ),
  count: (state: RefusalState) =>
    one<{ count: number }>(`SELECT count(*) AS count FROM refusals WHERE ${STATES[state]}`)?.count ?? 0,
  add: ({ source, external_id }: OrderKey, refusal: NewRefusal) => {
    const at = iso()
    insert(
      'refusals',
      { source, external_id, ...refusal, attempts: 1, first_at: at, last_at: at },
      `ON CONFLICT (source, external_id) DO UPDATE SET attempts = attempts + 1, last_at = excluded.last_at,
         code = excluded.code, message = excluded.message, field = excluded.field, body = excluded.body`,
    )
    run(
      `DELETE FROM refusals WHERE number IN
         (SELECT number FROM refusals ORDER BY last_at DESC, number DESC LIMIT -1 OFFSET ?)`,
      KEPT,
    )
  },
  resolve: ({ source, external_id }: OrderKey) =>
    update('refusals', { source, external_id }, { resolved_at: iso() }),
  remove: ({ source, external_id }: OrderKey) =>
    run('DELETE FROM refusals WHERE source = ? AND external_id = ?', source, external_id),
})
