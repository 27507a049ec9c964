import * as v from 'valibot'
import type { Wish } from '../../lib/orders/order.ts'
import type { LogLine } from '../logs/line.ts'

/** A webhook that went on the order line. */
type Queued = { source: string; external_id: string; at: Date }

/** A request of a store that was accepted. */
type Accepted = Queued & { wish: Wish }

/** What the functions' log says of a time. */
export type Heard = {
  /** How often each came of a delivery: `queued`, `duplicate`, `ignored: foreign source`, `refused: forged, stale`. */
  outcomes: Map<string, number>
  /** By delivery id. */
  queued: Map<string, Queued>
  /** By the id that the store was given. */
  accepted: Map<string, Accepted>
  /** Whether something changed by it, by the id of the delivery, request or check. */
  advanced: Map<string, boolean>
}

const key = { source: v.string(), external_id: v.string() }
const queued = v.object({ outcome: v.literal('queued'), delivery: v.string(), ...key })
const outcome = v.object({ outcome: v.string(), why: v.optional(v.string()) })
const accepted = v.object({
  status: v.literal(202),
  action: v.picklist(['create', 'payment', 'refund']),
  id: v.string(),
  ...key,
})
const advanced = v.object({ delivery: v.string(), changed: v.boolean() })

/** What became of a delivery, in one word and its reason. */
const outcomeName = (outcome: string, why?: string) => {
  if (outcome === 'unreadable') return 'quarantined'
  const name = ['forged', 'contradictory', 'too large'].includes(outcome) ? `refused: ${outcome}` : outcome
  return why === undefined ? name : `${name}${name.includes(':') ? ',' : ':'} ${why}`
}

const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

export const nothingHeard = (): Heard => ({
  outcomes: new Map(),
  queued: new Map(),
  accepted: new Map(),
  advanced: new Map(),
})

/**
 * Takes a line of the log into account.
 *
 * @param until what comes in later is of the next receipt; what became of something counts all the same
 */
export const hear = (heard: Heard, { message, fields, at }: LogLine, until: Date): void => {
  switch (message) {
    case 'delivery received': {
      if (at > until || !v.is(outcome, fields)) return
      add(heard.outcomes, outcomeName(fields.outcome, fields.why))
      if (v.is(queued, fields)) heard.queued.set(fields.delivery, { ...v.parse(v.object(key), fields), at })
      return
    }
    case 'delivery not kept':
      if (at <= until) add(heard.outcomes, 'not kept')
      return
    case 'request answered':
      if (at > until || !v.is(accepted, fields)) return
      heard.accepted.set(fields.id, { ...v.parse(v.object(key), fields), wish: fields.action, at })
      return
    case 'order advanced':
      if (!v.is(advanced, fields)) return
      // Done twice after a crash, it changed something if it did so once.
      heard.advanced.set(fields.delivery, fields.changed || heard.advanced.get(fields.delivery) === true)
  }
}
