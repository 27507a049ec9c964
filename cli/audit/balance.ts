import { isDeepStrictEqual } from 'node:util'
import { isKnown, isOpen, requestViews, type StoreRequestKind } from '../../lib/orders/order.ts'
import type { StoredOrder } from '../../lib/orders/stored.ts'
import { type OrderKey, orderName } from '../../lib/protocol/order.ts'
import { isForward } from '../../lib/protocol/status.ts'
import type { DeliveryRecord } from '../../lib/webhook/deliveries.ts'
import type { ServiceOrder } from '../core/accounting.ts'
import type { Logged } from './logged.ts'

/** An order as the relay has it and, unless it was not asked, as the service has it. */
export type ComparedOrder = {
  key: OrderKey
  stored: StoredOrder | undefined
  service: ServiceOrder | { unread: string } | undefined
}

/** The state of the queues at the time of the audit. */
export type QueueState = {
  /** Ids of the deliveries and requests among the dead letters that SQS shows. */
  dead: ReadonlySet<string>
  /** Number of dead letters that it does not show. */
  deadHidden: number
  /** Ids of the deliveries and requests that the worker quarantined. */
  quarantined: ReadonlySet<string>
  /** Number of messages in the order queue. */
  waiting: number
  left: { dead: number; quarantined: number }
}

/** What an audit is based on. */
export type Evidence = QueueState & {
  since: Date
  until: Date
  /** Undefined without a log. */
  logged: Logged | undefined
  /** The deliveries recorded since the start of the period, by delivery id. */
  recorded: ReadonlyMap<string, DeliveryRecord>
  /** By `orderName`. */
  orders: ReadonlyMap<string, ComparedOrder>
}

/** What became of a queued delivery or an accepted request. */
const OUTCOMES = ['applied', 'unchanged', 'dead', 'quarantined', 'waiting', 'unaccounted'] as const
type Outcome = (typeof OUTCOMES)[number]

/** A delivery or request that was added to the order queue. */
type Entry = OrderKey & {
  id: string
  /** The order's status according to a delivery. */
  status?: string
  /** What a store requested; undefined for a delivery. */
  kind?: StoreRequestKind
}

/** Something that does not add up. */
export type Difference = OrderKey & {
  what: string
  /** Of the delivery or request. */
  id?: string
  /** Whether the order would agree with the service if the worker read it there. */
  outdated?: true
}

const entriesOf = ({ logged, recorded, until }: Evidence): Entry[] => {
  const entries = new Map<string, Entry>()
  for (const [id, { source, external_id, status, received_at }] of recorded) {
    // The table has whole seconds: at the end of the period the log decides.
    if ((received_at + 1) * 1000 <= until.getTime() || logged?.queued.has(id))
      entries.set(id, { id, source, external_id, status })
  }
  for (const [id, { source, external_id }] of logged?.queued ?? []) {
    if (!entries.has(id)) entries.set(id, { id, source, external_id })
  }
  for (const [id, { source, external_id, kind }] of logged?.accepted ?? [])
    entries.set(id, { id, source, external_id, kind })
  return [...entries.values()]
}

/** Whether the stored order shows that an entry was processed, in case the log has lost it. */
const isStored = ({ id, status, kind }: Entry, { stored }: ComparedOrder): boolean => {
  if (kind !== undefined) return stored !== undefined && isKnown(stored.order, id)
  const held = stored?.order.result?.status
  return held !== undefined && status !== undefined && (held === status || isForward(status, held))
}

const outcomesOf = (evidence: Evidence): { entry: Entry; outcome: Outcome }[] => {
  const { logged, dead, quarantined, orders, waiting, deadHidden } = evidence
  const knownOutcome = (entry: Entry): Outcome | undefined => {
    const changed = logged?.processed.get(entry.id)
    if (changed !== undefined) return changed ? 'applied' : 'unchanged'
    if (dead.has(entry.id)) return 'dead'
    if (quarantined.has(entry.id)) return 'quarantined'
    const order = orders.get(orderName(entry))
    return order !== undefined && isStored(entry, order) ? 'applied' : undefined
  }
  // SQS counts waiting messages, and dead letters behind others of their order, without showing them.
  let open = 0
  return entriesOf(evidence).map(entry => {
    const known = knownOutcome(entry)
    if (known !== undefined) return { entry, outcome: known }
    const index = open++
    if (index < waiting) return { entry, outcome: 'waiting' }
    return { entry, outcome: index < waiting + deadHidden ? 'dead' : 'unaccounted' }
  })
}

/** The state of an accepted request, according to its stored order. */
const requestState = (
  entry: Entry,
  kind: StoreRequestKind,
  outcome: Outcome,
  { orders }: Evidence,
): string => {
  const order = orders.get(orderName(entry))?.stored?.order
  const requests = order === undefined ? [] : requestViews(order)
  const request = requests.find(({ id }) => id === entry.id)
  if (request !== undefined) return request.state
  if (outcome !== 'applied' && outcome !== 'unchanged') return outcome
  // An order keeps only the last requests that have ended.
  return requests.some(other => other.kind === kind && !isOpen(other.state)) ? 'superseded' : 'unaccounted'
}

const differingFields = (ours: Record<string, unknown>, theirs: Record<string, unknown>) =>
  [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
    field => !isDeepStrictEqual(ours[field], theirs[field]),
  )

/** How an order differs from the service's; undefined when it does not, or was not compared. */
const disagreement = ({ stored, service }: ComparedOrder): string | undefined => {
  if (service === undefined) return undefined
  if ('unread' in service) return `cannot be read from the service: ${service.unread}`
  const ours = stored?.order.result
  if ('unknown' in service)
    return ours === undefined ? undefined : `is "${ours.status}" here and unknown to the service`
  const theirs = service.result
  if (ours === undefined) return `is unknown here and "${theirs.status}" at the service`
  const fields = differingFields(ours, theirs)
  if (fields.length === 0) return undefined
  return ours.status === theirs.status
    ? `differs in ${fields.join(', ')}`
    : `is "${ours.status}" here and "${theirs.status}" at the service`
}

/** What a number of the balance counts. */
export type Member = OrderKey & { id?: string }

const counts = (groups: Readonly<Partial<Record<string, readonly Member[]>>>): Record<string, number> =>
  Object.fromEntries(Object.entries(groups).map(([name, members = []]) => [name, members.length]))

const differenceOf = ({ id, kind, source, external_id }: Entry, found: string): Difference => ({
  what: `${kind === undefined ? 'delivery' : `${kind} request`} ${found}`,
  id,
  source,
  external_id,
})

/** Balances what came in against what became of it, and names every difference. Pure. */
export const balance = (evidence: Evidence) => {
  const { since, until, logged, recorded, orders, left } = evidence
  const all = outcomesOf(evidence)
  const requests = all.flatMap(({ entry, outcome }) =>
    entry.kind === undefined
      ? []
      : [{ entry, outcome, state: requestState(entry, entry.kind, outcome, evidence) }],
  )
  const asked = [...orders.values()].filter(({ service }) => service !== undefined)
  const disagreements = asked.flatMap(order => {
    const found = disagreement(order)
    const isOutdated = order.service !== undefined && 'result' in order.service
    return found === undefined
      ? []
      : [{ what: `order ${found}`, ...order.key, ...(isOutdated && ({ outdated: true } as const)) }]
  })

  const stored = [...orders.values()].flatMap(({ key, stored }) =>
    stored === undefined
      ? []
      : requestViews(stored.order).map(({ id, kind, state }) => ({ ...key, id, name: `${kind} ${state}` })),
  )
  const known = [...orders.values()].filter(({ stored }) => stored !== undefined)
  const lists = {
    queue: Object.groupBy(
      all.map(({ entry, outcome }) => ({ ...entry, outcome })),
      ({ outcome }) => outcome,
    ),
    requests: Object.groupBy(
      requests.map(({ entry, state }) => ({ ...entry, state })),
      ({ state }) => state,
    ),
    stored: Object.groupBy(stored, ({ name }) => name),
    orders: { known: known.map(({ key }) => key), asked: asked.map(({ key }) => key) },
  } satisfies Record<string, Partial<Record<string, readonly Member[]>>>
  const outcomes = Object.fromEntries(logged?.outcomes ?? [])
  const received = Object.values(outcomes).reduce((sum, number) => sum + number, 0)
  const counted = OUTCOMES.map(outcome => [outcome, lists.queue[outcome]?.length ?? 0])
  const differences: Difference[] = [
    ...[...(logged?.queued ?? [])]
      .filter(([id]) => !recorded.has(id))
      .map(([id, key]) =>
        differenceOf({ id, ...key }, 'was queued but not recorded: a repetition would be queued again'),
      ),
    ...all
      .filter(({ outcome }) => outcome === 'unaccounted')
      .map(({ entry }) => differenceOf(entry, 'was added to the order queue and left no trace')),
    ...requests
      .filter(({ outcome, state }) => state === 'unaccounted' && outcome !== 'unaccounted')
      .map(({ entry }) => differenceOf(entry, 'was processed but is not stored with its order')),
    ...disagreements,
  ]
  return {
    since,
    until,
    /** Outcomes of the deliveries received; undefined without a log. */
    deliveries: logged === undefined ? undefined : { received, outcomes },
    /** Outcomes of what was added to the order queue. */
    queue: { entered: all.length, ...(Object.fromEntries(counted) as Record<Outcome, number>) },
    /** States of the accepted requests. */
    requests: { accepted: requests.length, states: counts(lists.requests) },
    /** States of all requests of the orders that changed. */
    stored: counts(lists.stored),
    orders: { known: known.length, asked: asked.length, agree: asked.length - disagreements.length },
    /** What waits for a person, whatever its age. */
    left,
    /** What the numbers of events, requests and orders count. */
    lists,
    differences,
  }
}

export type Balance = ReturnType<typeof balance>
