import type { IncomingMessage } from 'node:http'
import { type Fault, type Faults, type Link, NO_ORDER } from './faults.ts'

const ORDER = /o\d{5}/
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
/** Quotes are escaped in a queue message. */
const DELIVERY = /\\*"delivery\\*":\\*"([0-9a-f-]{36})/

/** The order named in a text; empty if there is none. */
export const orderIn = (text: string): string => ORDER.exec(text)?.[0] ?? ''

export const deliveryIn = (text: string): string => DELIVERY.exec(text)?.[1] ?? ''

const increment = <Key>(counts: Map<Key, number>, key: Key): number => {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}

/** A request on a link: its AWS action, if any, and its order. */
export type Passing = { link: Link; name: string; action: string; order: string; body: string }

/** Records the requests and faults of a run, and the facts that the oracle needs. */
export const newJournal = () => {
  const began = performance.now()
  const seen = new Map<string, number>()
  const orderOfDelivery = new Map<string, string>()
  const entries: { at: number; what: string }[] = []
  const faults: Fault[] = []

  const journal = {
    faults: faults as readonly Fault[],
    requests: new Map<Link, number>(),
    /** Webhooks that a fault acknowledged with 200 and never forwarded. */
    swallowed: new Set<string>(),
    /** Orders whose webhook never arrived but whose store was notified. */
    found: new Set<string>(),
    /** Webhooks that SQS accepted for the order queue. */
    queued: new Set<string>(),
    /** First attempts of calls by link and action. */
    calls: new Map<string, number>(),
    /** Violations that concern no single order. */
    violations: [] as string[],
    /** The service's order results at the end. */
    results: [] as unknown[],
    /** Requests in flight that are not awaited. */
    underWay: 0,
    /** Orders whose feed was out of order because the machine was too slow, with the reason. */
    tooSlow: new Map<string, string>(),

    note: (what: string) => void entries.push({ at: Math.round(performance.now() - began), what }),
    /** All events of an order. */
    story: (order: string): string[] =>
      entries
        .filter(({ what }) => what.includes(order))
        .map(({ at, what }) => `${String(at).padStart(7)} ${what}`),

    /**
     * Names a request by its action and order, so that names are stable across runs. A delivery is named by its order
     * once both were seen together, since its id differs from run to run.
     */
    passing(
      link: Link,
      { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
      body: string,
    ): Passing {
      const action = /\.(\w+)$/.exec(String(headers['x-amz-target'] ?? ''))?.[1] ?? ''
      const [id] = ORDER.exec(url) ?? ORDER.exec(body) ?? []
      const [delivery] = UUID.exec(body) ?? []
      if (id !== undefined && delivery !== undefined) orderOfDelivery.set(delivery, id)
      const order = id ?? (delivery && orderOfDelivery.get(delivery))
      const table = /"TableName":"(\w+)"/.exec(body)?.[1]
      const verb = action || `${method} ${url.split('?')[0]?.replace(ORDER, '…') ?? ''}`
      // A retry of the SDK is caused by a fault or a slow machine and is not another call.
      if (!/attempt=[^1]/.test(String(headers['amz-sdk-request'])))
        increment(journal.calls, `${link}: ${verb}`)
      const name = [verb, table, order ?? NO_ORDER].filter(part => part !== undefined).join(' ')
      return { link, name, action, order: order ?? '', body }
    },
    /** Counts a request and returns the fault that hits it. */
    meet(faultsOf: Faults, link: Link, name: string): Fault | undefined {
      increment(journal.requests, link)
      const count = increment(seen, `${link}: ${name}`)
      const fault = faultsOf({ link, name, count })
      if (fault !== undefined) faults.push(fault)
      journal.note(`${link}: ${name} #${count}${fault === undefined ? '' : `   ← ${fault.kind}`}`)
      return fault
    },
    /** Records a successful request. */
    answered({ link, action, body }: Passing): void {
      if (link === 'webhook to AWS' && action === 'SendMessage') journal.queued.add(deliveryIn(body))
    },
  }
  return journal
}

export type Journal = ReturnType<typeof newJournal>
