import { type OrderKey, orderName } from '../protocol/order.ts'
import { backoff } from './retry.ts'

const FIRST_PAUSE_MS = 1000
/** Short: after an outage, released events wait for the end of a pause. */
const MAX_PAUSE_MS = 15_000
/** How long a success of another source proves that the service is up. */
const PROOF_MS = 60_000

/** The outcome of an attempt; `neutral` is no evidence about the service. */
export type Outcome = 'success' | 'failure' | 'neutral'

/** An admitted attempt, or the milliseconds to wait before the next one. */
export type Admission = { end: (outcome: Outcome) => void } | { wait: number }

/** The failures since the last success. The breaker is open once there is a pause. */
const closed = () => ({
  /** Distinct orders and their sources, up to the number that opens the breaker. */
  orders: new Set<string>(),
  sources: new Set<string>(),
  pauses: 0,
  until: 0,
  isProbing: false,
})
type Circuit = ReturnType<typeof closed>

const isOpen = ({ pauses }: Circuit) => pauses > 0

/**
 * A circuit breaker that distinguishes an outage from failures of single orders and stores (promise P8). It opens for a
 * source when several of its orders fail without a success of that source in between, and for all sources when orders
 * of more than one source fail without any success in between. After a pause, which grows with each failure from one
 * second to fifteen, one attempt at a time probes the service. The first success closes the breaker for all sources.
 *
 * Memory is bounded: a few ids per failing source, and there are only as many sources as stores.
 *
 * @param orders number of distinct orders that must fail
 * @param onOpen called at the start of each pause, but not while other sources succeed
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

  /** Whether a pause is starting. */
  const fail = (circuit: Circuit, order: OrderKey, sources: number): boolean => {
    if (circuit.orders.size < orders) circuit.orders.add(orderName(order))
    if (circuit.sources.size < sources) circuit.sources.add(order.source)
    if (circuit.orders.size < orders || circuit.sources.size < sources) return false
    circuit.until = now() + backoff(FIRST_PAUSE_MS, MAX_PAUSE_MS, ++circuit.pauses, random())
    return true
  }

  /** Admits an attempt for an order, whose outcome must then be reported, or returns the time to wait. */
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
        // The failure of an attempt that was in flight when the breaker opened must not lengthen the pause.
        const counts = (circuit: Circuit) => !isOpen(circuit) || probed.includes(circuit)
        const opened = [
          counts(own) && fail(own, order, 1) && now() - succeededAt >= PROOF_MS,
          counts(everybody) && fail(everybody, order, 2),
        ]
        if (opened.includes(true)) onOpen()
      },
    }
  }
}
