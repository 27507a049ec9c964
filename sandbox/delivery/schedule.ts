const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long after each failed attempt the next one is made: 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h. */
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR]

/**
 * Milliseconds to wait after a failed attempt, or undefined when it was the last.
 *
 * @param tries attempts made so far by the schedule, at least one
 * @param speed how many times faster than real time the schedule runs
 */
export const waitAfter = (tries: number, speed: number): number | undefined => {
  const wait = WAITS[tries - 1]
  return wait === undefined ? undefined : wait / speed
}
