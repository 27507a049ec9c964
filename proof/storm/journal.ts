import type { Fault, Link, Weather } from './faults.ts'

/** Something that happened, and how many milliseconds after the beginning. */
type Entry = { at: number; what: string }

const add = <Key>(counts: Map<Key, number>, key: Key): number => {
  const sum = (counts.get(key) ?? 0) + 1
  counts.set(key, sum)
  return sum
}

/** What happened in a storm. */
export const newJournal = () => {
  const began = performance.now()
  const seen = new Map<string, number>()
  const arrived = new Map<string, number>()
  const entries: Entry[] = []
  const faults: Fault[] = []
  const requests = new Map<Link, number>()
  const overtaken = new Map<Link, number>()
  const note = (what: string) => void entries.push({ at: Math.round(performance.now() - began), what })

  return {
    entries,
    faults,
    requests,
    /** How many requests arrived after one about the same order that had set out later. */
    overtaken,
    /** Webhooks that the service sent. */
    webhooks: new Set<string>(),
    /** How far the relay knows each order to be, from all that it was told. */
    known: new Map<string, number>(),
    /** Webhooks that told of a status behind the one that the relay knew when they arrived. */
    outdated: new Set<string>(),
    /** Webhooks that were answered in the relay's name and that it never got. */
    swallowed: new Set<string>(),
    /** Webhooks that were put on the order line. */
    queued: new Set<string>(),
    /** Webhooks, and their orders, that were recorded before the line had them; a death in between would lose them. */
    recordedFirst: new Set<string>(),
    /** Webhooks that a stranger made up. */
    forged: new Set<string>(),
    /** Messages that were handled well, by their receipt handle, and the order that they are about. */
    handled: new Map<string, string>(),
    /** Likewise, messages that could not be handled. */
    failed: new Map<string, string>(),
    /** Messages, by their receipt handle, whose deletion was asked for. */
    deleted: new Set<string>(),
    /** Messages, by their receipt handle, whose function died before it could answer. */
    unanswered: new Set<string>(),
    /** Messages of the order line by their delivery and order: their ids at SQS, and when they were sent. */
    onLine: new Map<string, Map<string, number>>(),
    /** How often the table took each revision of an order: “3 of o00017”. */
    revisions: new Map<string, number>(),
    /** How much is at work that nobody waits for: functions, and requests whose connection broke. */
    underWay: 0,
    /**
     * Orders whose feed this machine was too slow to keep in order, and why: what timed out arrived late, or two
     * workers had one order; see docs/proof.md, "What is assumed".
     */
    tooSlow: new Map<string, string>(),
    note,
    /** Counts a request and answers with the fault that strikes it. */
    meet(weather: Weather, link: Link, name: string): Fault | undefined {
      add(requests, link)
      const count = add(seen, `${link}: ${name}`)
      const fault = weather({ link, name, count })
      if (fault !== undefined) faults.push(fault)
      note(`${link}: ${name} #${count}${fault === undefined ? '' : `   ← ${fault.kind}`}`)
      return fault
    },
    /** A request about an order sets out; what is returned is to be called when it arrives. */
    setOut(link: Link, about: string) {
      const stream = `${link} about ${about}`
      const number = add(seen, stream)
      return () => {
        if (number < (arrived.get(stream) ?? 0)) add(overtaken, link)
        else arrived.set(stream, number)
      }
    },
  }
}

export type Journal = ReturnType<typeof newJournal>

/** All that happened to an order, in order. */
export const storyOf = ({ entries }: Journal, id: string): string[] =>
  entries.filter(({ what }) => what.includes(id)).map(({ at, what }) => `${String(at).padStart(7)} ${what}`)
