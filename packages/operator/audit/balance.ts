import { announcedRequests } from '@order-relay/lib/orders/announcements.ts'
import { isKnown, isOpen, requestViews, type StoreRequestKind } from '@order-relay/lib/orders/order.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { isForward } from '@order-relay/lib/protocol/status.ts'
import type { DeliveryRecord } from '@order-relay/lib/webhook/deliveries.ts'
import type { Depth } from '../core/queue.ts'
import { type ComparedOrder, disagreement, hasSucceeded } from './comparison.ts'
import type { Logged } from './logged.ts'
import type { Remedy } from './remedies.ts'

/** The state of the queues at the time of the audit. */
export type QueueState = {
  /** Ids of the deliveries and requests among the visible dead letters. */
  dead: ReadonlySet<string>
  /** Number of dead letters that are not visible. */
  deadHidden: number
  /** Ids of the deliveries and requests that the worker quarantined. */
  quarantined: ReadonlySet<string>
  /** Number of messages in the order queue. */
  waiting: number
  left: { dead: number; quarantined: number }
  /** The stores with undelivered messages, and their number by state. */
  undelivered: Undelivered[]
}

/**
 * `inFlight`: being received, or waiting for a retry after a failure; `dead`: dead letters; `deleted`: dead letters that
 * operators deleted in the period.
 */
export type Undelivered = Depth & { source: string; dead: number; deleted: number }

/** The evidence for an audit. */
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

/** The outcome of a queued delivery or an accepted request. */
const OUTCOMES = ['applied', 'unchanged', 'dead', 'quarantined', 'waiting', 'unaccounted'] as const
type Outcome = (typeof OUTCOMES)[number]

/** A delivery or request that was added to the order queue. */
type Entry = OrderKey & {
  id: string
  /** The order's status according to a delivery. */
  status?: string
  /** The kind of a store's request; undefined for a delivery. */
  kind?: StoreRequestKind
}

/** A discrepancy. */
export type Difference = OrderKey & {
  what: string
  /** Id of the delivery or request. */
  id?: string
  /** What resolves it. */
  remedy: Remedy
}

const entriesOf = ({ logged, recorded, orders, since, until }: Evidence): Entry[] => {
  const entries = new Map<string, Entry>()
  for (const [id, { source, external_id, status, received_at }] of recorded) {
    // The table has whole seconds: at the end of the period, the log is authoritative.
    if ((received_at + 1) * 1000 <= until.getTime() || logged?.queued.has(id))
      entries.set(id, { id, source, external_id, status })
  }
  for (const [id, { source, external_id }] of logged?.queued ?? []) {
    if (!entries.has(id)) entries.set(id, { id, source, external_id })
  }
  for (const [id, { source, external_id, kind }] of logged?.accepted ?? [])
    entries.set(id, { id, source, external_id, kind })
  // The API's log does not have the withdrawals of operators.
  for (const { key, announced } of orders.values()) {
    for (const { id, accepted_at } of announced?.withdrawals ?? [])
      if (accepted_at >= Number(since) && accepted_at <= Number(until))
        entries.set(id, { id, ...key, kind: 'withdrawal' })
  }
  return [...entries.values()]
}

/** Whether the stored order shows that an entry was processed, in case the log does not. */
const isStored = ({ id, status, kind }: Entry, { stored }: ComparedOrder): boolean => {
  if (stored?.erased_at !== undefined) return true
  if (kind !== undefined) return stored !== undefined && isKnown(stored.order, id)
  const held = stored?.order.result?.status
  return held !== undefined && status !== undefined && (held === status || isForward(status, held))
}

/**
 * The order in which events without an outcome are assumed to be waiting: those with a lower rank first. A failing
 * event has saved its request with the order, so the order alone does not show whether an event is done; undefined if
 * the order is the only evidence and shows that it is.
 */
const waitingRank = (entry: Entry, order: ComparedOrder | undefined, hasLog: boolean): number | undefined => {
  if (order === undefined || !isStored(entry, order)) return 0
  if (order.stored?.failing?.delivery === entry.id) return 1
  return hasLog ? 2 : undefined
}

const outcomesOf = (evidence: Evidence): { entry: Entry; outcome: Outcome }[] => {
  const { logged, dead, quarantined, orders, waiting, deadHidden } = evidence
  const knownOutcome = (entry: Entry): Outcome | undefined => {
    const changed = logged?.processed.get(entry.id)
    if (changed !== undefined) return changed ? 'applied' : 'unchanged'
    if (dead.has(entry.id)) return 'dead'
    return quarantined.has(entry.id) ? 'quarantined' : undefined
  }
  const entries = entriesOf(evidence).map(entry => {
    const rank = waitingRank(entry, orders.get(orderName(entry)), logged !== undefined)
    return { entry, known: knownOutcome(entry), rank }
  })
  // SQS counts, but does not return, waiting messages and dead letters behind others of their order.
  const open = entries
    .filter(({ known, rank }) => known === undefined && rank !== undefined)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
  const places = new Map(open.map(({ entry }, index) => [entry, index]))
  return entries.map(({ entry, known, rank }) => {
    const place = places.get(entry) ?? Number.POSITIVE_INFINITY
    if (known !== undefined) return { entry, outcome: known }
    if (place < waiting) return { entry, outcome: 'waiting' }
    if (rank !== 0) return { entry, outcome: 'applied' }
    return { entry, outcome: place < waiting + deadHidden ? 'dead' : 'unaccounted' }
  })
}

/** The state of an accepted request, according to its stored order. */
const requestState = (
  entry: Entry,
  kind: StoreRequestKind,
  outcome: Outcome,
  { orders }: Evidence,
): string => {
  const stored = orders.get(orderName(entry))?.stored
  if (stored?.erased_at !== undefined) return 'erased'
  const order = stored?.order
  const requests = order === undefined ? [] : requestViews(order)
  const request = requests.find(({ id }) => id === entry.id)
  if (request !== undefined) return request.state
  if (outcome !== 'applied' && outcome !== 'unchanged') return outcome
  // An order keeps only the most recently ended requests.
  return requests.some(other => other.kind === kind && !isOpen(other.state)) ? 'superseded' : 'unaccounted'
}

/** A member of a count of the balance. */
export type Member = OrderKey & { id?: string }

const counts = (groups: Readonly<Partial<Record<string, readonly Member[]>>>): Record<string, number> =>
  Object.fromEntries(Object.entries(groups).map(([name, members = []]) => [name, members.length]))

const differenceOf = (
  { id, kind, source, external_id }: Entry,
  found: string,
  remedy: Remedy = kind === undefined ? 'lost-delivery' : 'lost-request',
): Difference => ({
  what: `${kind === undefined ? 'delivery' : `${kind} request`} ${found}`,
  id,
  source,
  external_id,
  remedy,
})

/** Balances everything received against its outcome, and names every difference. Pure. */
export const balance = (evidence: Evidence) => {
  const { since, until, logged, recorded, orders, left, undelivered } = evidence
  const all = outcomesOf(evidence)
  const requests = all.flatMap(({ entry, outcome }) =>
    entry.kind === undefined
      ? []
      : [{ entry, outcome, state: requestState(entry, entry.kind, outcome, evidence) }],
  )
  const asked = [...orders.values()].filter(({ service }) => service !== undefined)
  const isUnread = ({ service }: ComparedOrder) => service !== undefined && 'unread' in service
  const compared = asked.filter(order => !isUnread(order))
  const unread = Map.groupBy(asked.filter(isUnread), ({ service = { unread: '' } }) =>
    'unread' in service ? service.unread : '',
  )
  const disagreements = compared.flatMap(order => {
    const found = disagreement(order)
    if (found === undefined || order.service === undefined) return []
    const unknown = hasSucceeded(order) ? 'unregistered' : 'unrequested'
    const remedy: Remedy = 'result' in order.service ? 'outdated' : unknown
    return [{ what: `order ${found}`, ...order.key, remedy }]
  })

  const stored = [...orders.values()].flatMap(({ key, stored, announced }) =>
    stored === undefined
      ? []
      : [...requestViews(stored.order), ...announcedRequests(stored.order, announced)].map(
          ({ id, kind, state }) => ({ ...key, id, name: `${kind} ${state}` }),
        ),
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
    orders: {
      known: known.map(({ key }) => key),
      asked: compared.map(({ key }) => key),
      ...(unread.size > 0 && { unread: [...unread.values()].flat().map(({ key }) => key) }),
    },
  } satisfies Record<string, Partial<Record<string, readonly Member[]>>>
  const outcomes = Object.fromEntries(logged?.outcomes ?? [])
  const received = Object.values(outcomes).reduce((sum, number) => sum + number, 0)
  const counted = OUTCOMES.map(outcome => [outcome, lists.queue[outcome]?.length ?? 0])
  const differences: Difference[] = [
    ...[...(logged?.queued ?? [])]
      .filter(([id]) => !recorded.has(id))
      .map(([id, key]) =>
        differenceOf(
          { id, ...key },
          'was queued but not recorded: a repetition would be queued again',
          'unrecorded',
        ),
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
    /** Outcomes of the received deliveries; undefined without a log. */
    deliveries: logged === undefined ? undefined : { received, outcomes },
    /** Outcomes of the events added to the order queue. */
    queue: { entered: all.length, ...(Object.fromEntries(counted) as Record<Outcome, number>) },
    /** States of the accepted requests. */
    requests: { accepted: requests.length, states: counts(lists.requests) },
    /** States of all requests of the orders that changed. */
    stored: counts(lists.stored),
    orders: { known: known.length, asked: compared.length, agree: compared.length - disagreements.length },
    /** The number of orders that were not compared with the service, for each reason. */
    unread: [...unread].map(([reason, { length: orders }]) => ({ reason, orders })),
    /** Messages that wait for a person, regardless of their age. */
    left,
    /** The messages that stores have not received, regardless of their age, and those deleted in the period. */
    undelivered,
    /** The members of the counts of events, requests and orders. */
    lists,
    differences,
  }
}

export type Balance = ReturnType<typeof balance>
