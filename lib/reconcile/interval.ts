const MINUTE = 60
const HOUR = 60 * MINUTE

/** Soon after a change, then ever more seldom: an order may wait for its accountant for weeks. */
const INTERVALS = [10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 24 * HOUR]

/**
 * How long until an unsettled order is checked again, in seconds: from ten minutes to a day, with a tenth of
 * jitter either way, so that orders of one outage do not come back together.
 *
 * @param checks how often it has been checked since it last changed
 * @param random a number from 0 to 1
 */
export const checkInterval = (checks: number, random: number): number => {
  const interval = INTERVALS[Math.min(checks, INTERVALS.length - 1)] ?? 24 * HOUR
  return Math.round(interval * (0.9 + random / 5))
}
