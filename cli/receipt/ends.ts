import type { Wish } from '../../lib/orders/order.ts'
import { type OrderKey, STATUSES } from '../../lib/protocol/order.ts'
import { type Compared, type Facts, nameOf } from './facts.ts'

/** Where a queued delivery or an accepted request has ended. */
export type End = 'applied' | 'unchanged' | 'dead' | 'quarantined' | 'waiting' | 'unaccounted'

/** A delivery or a request that went on the order line through a door. */
export type Entry = OrderKey & {
  id: string
  what: string
  /** What a delivery said the order's status is. */
  status?: string
  /** What a store asked for. */
  wish?: Wish
}

const rank = (status: string) => (STATUSES as readonly string[]).indexOf(status)

/** Everything that has gone on the order line through the doors: deliveries and requests. */
const entriesOf = ({ heard, recorded, since, until }: Facts): Entry[] => {
  const entries = new Map<string, Entry>()
  for (const [id, { source, external_id, status, at }] of recorded) {
    // The table has whole seconds: on the edge of the time, the log decides.
    const isWithin = at >= since && at.getTime() + 1000 <= until.getTime()
    if (isWithin || heard?.queued.has(id)) {
      entries.set(id, { id, source, external_id, status, what: 'delivery' })
    }
  }
  for (const [id, { source, external_id }] of heard?.queued ?? []) {
    if (!entries.has(id)) entries.set(id, { id, source, external_id, what: 'delivery' })
  }
  for (const [id, { source, external_id, wish }] of heard?.accepted ?? []) {
    entries.set(id, { id, source, external_id, wish, what: `${wish} request` })
  }
  return [...entries.values()]
}

/** Whether the table shows that something was absorbed, should the log have lost it. */
const isInTable = ({ id, status, wish }: Entry, { held }: Compared): boolean => {
  if (wish !== undefined) return held?.order.intents[wish]?.id === id
  const result = held?.order.result
  return result !== undefined && status !== undefined && rank(result.status) >= rank(status)
}

/** Where each of them has ended. */
export const endsOf = (facts: Facts): Map<Entry, End> => {
  const ends = new Map<Entry, End>()
  const { heard, dead, quarantined, orders } = facts
  const open: Entry[] = []
  for (const entry of entriesOf(facts)) {
    const changed = heard?.advanced.get(entry.id)
    const order = orders.get(nameOf(entry))
    if (changed !== undefined) ends.set(entry, changed ? 'applied' : 'unchanged')
    else if (dead.has(entry.id)) ends.set(entry, 'dead')
    else if (quarantined.has(entry.id)) ends.set(entry, 'quarantined')
    else if (order !== undefined && isInTable(entry, order)) ends.set(entry, 'applied')
    else open.push(entry)
  }
  // What waits on the line, or dead behind another of its order, SQS counts but does not show.
  const { waiting, deadHidden } = facts
  for (const [index, entry] of open.entries()) {
    const hidden = index < waiting ? 'waiting' : index < waiting + deadHidden ? 'dead' : 'unaccounted'
    ends.set(entry, hidden)
  }
  return ends
}

/** How far an accepted request has come, by what is kept of its order. */
export const stateOf = ({ id, wish, ...key }: Entry, end: End, { orders }: Facts): string => {
  const intent = wish && orders.get(nameOf(key))?.held?.order.intents[wish]
  if (intent?.id === id) return intent.state
  if (end !== 'applied' && end !== 'unchanged') return end
  // An order keeps one request of each kind: the last.
  return intent === undefined ? 'unaccounted' : 'followed by another'
}
