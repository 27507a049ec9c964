import type { StoreRequestKind } from '@order-relay/lib/orders/order.ts'
import { PROBE_SOURCE } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import * as v from 'valibot'
import type { LogLine } from '../core/log.ts'
import { outcomeOf } from '../deliveries.ts'

/** The content of the functions' log for a period. */
export type Logged = {
  /** Number of deliveries by outcome: `queued`, `ignored: foreign source`, `refused: the body is too large`. */
  outcomes: Map<string, number>
  /** By delivery id. */
  queued: Map<string, OrderKey>
  /** Kinds of requests, by the id the store was given. */
  accepted: Map<string, OrderKey & { kind: StoreRequestKind }>
  /** Whether an event changed its order, by the id of the delivery, request or check. */
  processed: Map<string, boolean>
}

const orderKey = { source: v.string(), external_id: v.string() }
const delivery = v.object({
  outcome: v.string(),
  why: v.optional(v.string()),
  source: v.optional(v.string()),
})
const queued = v.object({ outcome: v.literal('queued'), delivery: v.string(), ...orderKey })
const accepted = v.object({
  action: v.picklist(['create', 'payment', 'refund', 'withdraw']),
  // Regardless of the status: a request refused before acceptance has none.
  delivery: v.string(),
  ...orderKey,
})
const processed = v.object({ delivery: v.string(), changed: v.boolean() })

const outcomeName = (...given: Parameters<typeof outcomeOf>) => {
  const { outcome, why } = outcomeOf(...given)
  return why === undefined ? outcome : `${outcome}: ${why}`
}

export const emptyLog = (): Logged => ({
  outcomes: new Map(),
  queued: new Map(),
  accepted: new Map(),
  processed: new Map(),
})

/**
 * Adds a line of the log.
 *
 * @param until the end of the period: later arrivals do not count, later processing does
 */
export const addLine = (logged: Logged, { message, fields, at }: LogLine, until: Date): void => {
  const { outcomes } = logged
  const countOutcome = (name: string) => outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
  switch (message) {
    case 'delivery received': {
      if (at > until || !v.is(delivery, fields) || fields.why === 'probe' || fields.source === PROBE_SOURCE)
        return
      countOutcome(outcomeName(fields))
      if (v.is(queued, fields)) logged.queued.set(fields.delivery, v.parse(v.object(orderKey), fields))
      return
    }
    case 'delivery deferred':
    case 'delivery failed':
      if (at <= until) countOutcome(message.replace('delivery ', ''))
      return
    case 'request answered':
      if (at > until || !v.is(accepted, fields)) return
      logged.accepted.set(fields.delivery, {
        ...v.parse(v.object(orderKey), fields),
        kind: fields.action === 'withdraw' ? 'withdrawal' : fields.action,
      })
      return
    default:
      addLateLine(logged, { message, fields })
  }
}

/** Adds a line, possibly again, of an event that has been processed in the meantime. */
export const addLateLine = (
  { processed: known }: Logged,
  { message, fields }: Pick<LogLine, 'message' | 'fields'>,
): void => {
  if (message !== 'event processed' || !v.is(processed, fields)) return
  // After a crash, an event is processed again and may find its change already applied.
  known.set(fields.delivery, fields.changed || known.get(fields.delivery) === true)
}
