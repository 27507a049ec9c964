import { disagreement } from './agreement.ts'
import { type End, type Entry, endsOf, stateOf } from './ends.ts'
import type { Facts } from './facts.ts'

/** Something that does not add up, in words. */
export type Difference = { what: string; id?: string; source: string; external_id: string }

export type Receipt = {
  since: Date
  until: Date
  /** What became of each delivery at the door; undefined without a log. */
  deliveries: { received: number; outcomes: Record<string, number> } | undefined
  /** What became of what went on the order line: deliveries that were queued, requests that were accepted. */
  line: { entered: number } & Record<End, number>
  requests: { accepted: number; states: Record<string, number> }
  /** How far the stores' requests have come, of all orders that changed. */
  intents: Record<string, number>
  orders: { known: number; asked: number; agree: number }
  /** What lies there now, whatever its age. */
  left: { dead: number; quarantined: number }
  differences: Difference[]
}

const tally = (names: Iterable<string>): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0)

const differenceOf = ({ what, id, source, external_id }: Entry, found: string): Difference => ({
  what: `${what} ${found}`,
  id,
  source,
  external_id,
})

const unrecorded = ({ heard, recorded }: Facts): Difference[] =>
  [...(heard?.queued ?? [])]
    .filter(([id]) => !recorded.has(id))
    .map(([id, { source, external_id }]) =>
      differenceOf(
        { what: 'delivery', id, source, external_id },
        'was queued and is not recorded: a repetition would be queued again',
      ),
    )

/** Adds everything up, and names what is left over. Pure. */
export const account = (facts: Facts): Receipt => {
  const { since, until, heard, orders, left } = facts
  const ends = [...endsOf(facts)].map(([entry, end]) => ({ entry, end }))
  const requests = ends
    .filter(({ entry }) => entry.wish !== undefined)
    .map(({ entry, end }) => ({ entry, end, state: stateOf(entry, end, facts) }))
  const compared = [...orders.values()]
    .filter(({ service }) => service !== undefined)
    .map(order => ({ key: order.key, differs: disagreement(order) }))

  const outcomes = Object.fromEntries(heard?.outcomes ?? [])
  const count = (end: End) => ends.filter(other => other.end === end).length
  return {
    since,
    until,
    deliveries: heard === undefined ? undefined : { received: sum(outcomes), outcomes },
    line: {
      entered: ends.length,
      applied: count('applied'),
      unchanged: count('unchanged'),
      dead: count('dead'),
      quarantined: count('quarantined'),
      waiting: count('waiting'),
      unaccounted: count('unaccounted'),
    },
    requests: { accepted: requests.length, states: tally(requests.map(({ state }) => state)) },
    intents: tally(
      [...orders.values()].flatMap(({ held }) =>
        Object.entries(held?.order.intents ?? {}).map(([wish, { state }]) => `${wish} ${state}`),
      ),
    ),
    orders: {
      known: [...orders.values()].filter(({ held }) => held !== undefined).length,
      asked: compared.length,
      agree: compared.filter(({ differs }) => differs === undefined).length,
    },
    left,
    differences: [
      ...unrecorded(facts),
      ...ends
        .filter(({ end }) => end === 'unaccounted')
        .map(({ entry }) => differenceOf(entry, 'went on the order line and left no trace')),
      ...requests
        .filter(({ end, state }) => state === 'unaccounted' && end !== 'unaccounted')
        .map(({ entry }) => differenceOf(entry, 'was worked on, and is not kept with its order')),
      ...compared.flatMap(({ key, differs }) =>
        differs === undefined ? [] : [{ what: `order ${differs}`, ...key }],
      ),
    ],
  }
}
