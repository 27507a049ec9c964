import { AccountingError } from './errors.ts'

/** How many calls in a row may find the service unavailable before it is left alone. */
const THRESHOLD = 5
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

type Breaker = { failures: number; until: number }

const closed: Breaker = { failures: 0, until: 0 }

/** How long calls are still refused, in milliseconds; 0 when one may be made. */
const pause = ({ until }: Breaker, now: number): number => Math.max(0, until - now)

/** The breaker after a call. Beyond the threshold each further failure doubles the pause, up to a minute. */
const after = ({ failures }: Breaker, available: boolean, now: number, random: number): Breaker => {
  if (available) return closed
  const count = failures + 1
  if (count < THRESHOLD) return { failures: count, until: 0 }
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** (count - THRESHOLD), LONGEST_PAUSE_MS)
  return { failures: count, until: now + longest / 2 + (longest / 2) * random }
}

/**
 * Leaves a service alone that is down for everybody: while the breaker is open, calls fail at once without
 * being made; when the pause is over, one call tries, and its outcome decides for all (promise P8).
 *
 * @param opened hears when the breaker opens
 */
export const withBreaker = ({
  now,
  random,
  opened,
}: {
  now: () => number
  random: () => number
  opened: () => void
}) => {
  let breaker = closed
  let probing = false

  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const wait = pause(breaker, now())
    if (wait > 0 || (probing && breaker.until > 0)) {
      throw new AccountingError('unavailable', 'The accounting service is left alone: it was unavailable', {
        retryAfter: Math.max(1, Math.ceil(wait / 1000)),
      })
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
      // What was under way when the breaker opened has met the same outage, not a longer one.
      if (available || isProbe || before.until === 0) breaker = after(before, available, now(), random())
      if (before.until === 0 && breaker.until > 0) opened()
      throw error
    } finally {
      if (isProbe) probing = false
    }
  }
}
