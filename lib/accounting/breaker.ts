import { backoff } from '../platform/retry.ts'
import { AccountingError } from './errors.ts'

/** Consecutive calls that find the service unavailable before the breaker opens. */
const THRESHOLD = 5
const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000

type Breaker = { failures: number; until: number }

const closed: Breaker = { failures: 0, until: 0 }

/** The breaker after a call. Beyond the threshold each further failure doubles the pause, up to a minute. */
const afterCall = ({ failures }: Breaker, available: boolean, now: number, random: number): Breaker => {
  if (available) return closed
  const count = failures + 1
  if (count < THRESHOLD) return { failures: count, until: 0 }
  const pause = backoff(FIRST_PAUSE_MS, MAX_PAUSE_MS, count - THRESHOLD + 1, random)
  return { failures: count, until: now + pause }
}

/**
 * Stops calling a service that is down for everybody: while the breaker is open, calls fail immediately.
 * After the pause one call probes the service, and its outcome decides for all (promise P8).
 */
export const withBreaker = ({
  now,
  random,
  onOpen,
}: {
  now: () => number
  random: () => number
  /** A pause begins, the first or one after a failed probe: an outage shows as long as it lasts. */
  onOpen: () => void
}) => {
  let breaker = closed
  let probing = false

  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const wait = Math.max(0, breaker.until - now())
    if (wait > 0 || (probing && breaker.until > 0)) {
      throw new AccountingError(
        'unavailable',
        'The breaker is open: the accounting service was unavailable',
        {
          retryAfter: Math.max(1, Math.ceil(wait / 1000)),
          isBreakerOpen: true,
        },
      )
    }
    const isProbe = breaker.until > 0
    if (isProbe) probing = true
    try {
      const result = await call()
      breaker = closed
      return result
    } catch (error) {
      const available = !(error instanceof AccountingError && error.code === 'unavailable')
      const before = breaker
      // A call that was under way when the breaker opened met the same outage, not a longer one.
      if (available || isProbe || before.until === 0) breaker = afterCall(before, available, now(), random())
      if (breaker !== before && breaker.until > 0) onOpen()
      throw error
    } finally {
      if (isProbe) probing = false
    }
  }
}
