/** How many times shorter everything takes that waits; what is decided stays the same. */
export type Pace = {
  /** Retry delays of messages and pauses of the breaker. */
  retries: number
  /** Timeouts of the functions and of their calls by HTTP. */
  timeouts: number
}

export const REAL_TIME: Pace = { retries: 1, timeouts: 1 }

export type Speed = Pace & {
  /** Visibility timeout of the queues in seconds; longer than a function may run. */
  visibility: number
  /** Orders under way at once. */
  atOnce: number
}

/** A call takes a third of the function's time at most, as in Lambda, and messages are out for twice as long. */
export const FULL: Speed = { retries: 20, timeouts: 5, visibility: 12, atOnce: 60 }

/** For a few orders on an idle machine. */
export const QUICK: Speed = { retries: 40, timeouts: 10, visibility: 5, atOnce: 60 }
