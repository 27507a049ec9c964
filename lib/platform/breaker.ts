import { type OrderKey, orderName } from '../protocol/order.ts'
import { backoff } from './retry.ts'

const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

/** What an attempt says about the service; `neutral` says nothing. */
export type Outcome = 'success' | 'failure' | 'neutral'

/** An attempt that may be made, or the milliseconds after which another one may be. */
export type Admission = { end: (outcome: Outcome) => void } | { wait: number }

/** What has failed since the last success; open from its first pause on. */
const closed = () => ({
  /** Distinct orders, and their sources, as many as it takes to open. */
  ...{ orders: new Set<string>(), sources: new Set<string>() },
  ...{ pauses: 0, until: 0, isProbing: false },
})
type Circuit = ReturnType<typeof closed>

const isOpen = ({ pauses }: Circuit) => pauses > 0

/**
 * A circuit breaker that tells an outage from the failures of single orders and stores (promise P8). It opens for a
 * source when several of its orders fail without a success of that source in between, and for everybody when orders of
 * more than one source fail without any success in between. After a pause, which grows with every failure from a second
 * to a minute, one attempt at a time probes the service. A success that ends an outage is news for every source.
 *
 * It keeps a few ids for each source that fails, of which there are as many as stores.
 *
 * @param orders number of distinct orders that must fail
 * @param onOpen called when a pause begins, the first or one after a failed probe; not while other sources succeed
 */
export const breaker = ({
  orders,
  now,
  random,
  onOpen = () => undefined,
}: {
  orders: number
  now: () => number
  random: () => number
  onOpen?: () => void
}) => {
  let everybody = closed()
  const bySource = new Map<string, Circuit>()
  let succeededAt = Number.NEGATIVE_INFINITY

  const succeed = (source: string) => {
    succeededAt = now()
    if (isOpen(everybody)) bySource.clear()
    everybody = closed()
    bySource.delete(source)
  }

  /** Whether a pause begins. */
  const fail = (circuit: Circuit, order: OrderKey, sources: number): boolean => {
    if (circuit.orders.size < orders) circuit.orders.add(orderName(order))
    if (circuit.sources.size < sources) circuit.sources.add(order.source)
    if (circuit.orders.size < orders || circuit.sources.size < sources) return false
    circuit.until = now() + backoff(FIRST_PAUSE_MS, MAX_PAUSE_MS, ++circuit.pauses, random())
    return true
  }

  /** Admits an attempt for an order, whose outcome must then be reported, or says how long to wait. */
  return (order: OrderKey): Admission => {
    const { source } = order
    const probed = [bySource.get(source) ?? closed(), everybody].filter(isOpen)
    const wait = Math.max(0, ...probed.map(({ until }) => until - now()))
    if (wait > 0 || probed.some(({ isProbing }) => isProbing)) return { wait }
    for (const circuit of probed) circuit.isProbing = true
    return {
      end(outcome) {
        for (const circuit of probed) circuit.isProbing = false
        if (outcome === 'success') succeed(source)
        if (outcome !== 'failure') return
        const own = bySource.get(source) ?? closed()
        bySource.set(source, own)
        // An attempt that was under way when the breaker opened met the same outage, not a longer one.
        const counts = (circuit: Circuit) => !isOpen(circuit) || probed.includes(circuit)
        const opened = [
          counts(own) && fail(own, order, 1) && now() - succeededAt >= MAX_PAUSE_MS,
          counts(everybody) && fail(everybody, order, 2),
        ]
        if (opened.includes(true)) onOpen()
      },
    }
  }
}
