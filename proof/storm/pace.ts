/** How fast a storm goes. What waits, waits less long; what is decided stays the same. */
export type Pace = {
  /** How many times shorter a message waits before it is tried again. */
  faster: number
  /** How long a function may run, in milliseconds; in Lambda the worker has 30 s. */
  functionTime: number
  /** How long a message is out, in seconds; longer than a function may run. */
  visibility: number
  /** How long one try of a call to AWS may take, in milliseconds. */
  awsTimeout: number
  /** How long one call to the service, or to a store, may take, in milliseconds. */
  serviceTimeout: number
  /** Lives that are under way at once. */
  atOnce: number
  /** The longest that a store or an accountant thinks before the next step, in milliseconds. */
  thinks: number
}

/** Calls that take long are a third of the function's time, as in Lambda, and messages are out for twice as long. */
export const FULL: Pace = {
  faster: 20,
  functionTime: 6000,
  visibility: 12,
  awsTimeout: 1000,
  serviceTimeout: 1500,
  atOnce: 60,
  thinks: 400,
}

/** For a few orders on an idle machine. */
export const QUICK: Pace = {
  faster: 40,
  functionTime: 3000,
  visibility: 5,
  awsTimeout: 700,
  serviceTimeout: 800,
  atOnce: 60,
  thinks: 250,
}
