const FIRST_SECONDS = 5
export const LONGEST_SECONDS = 15 * 60

/**
 * How long a message waits before it is tried again, in seconds: doubling from 5 s to 15 min, with jitter
 * between half and the whole, never less than the service asked for (promise P8).
 *
 * @param receives how often the message has been received, from 1
 * @param random a number from 0 to 1
 * @param retryAfter what the service asked for, in seconds
 */
export const backoffSeconds = (receives: number, random: number, retryAfter = 0): number => {
  const ceiling = Math.min(FIRST_SECONDS * 2 ** (receives - 1), LONGEST_SECONDS)
  const jittered = ceiling / 2 + (ceiling / 2) * random
  // SQS takes at most twelve hours from the first receive on.
  return Math.ceil(Math.min(Math.max(jittered, retryAfter * (1 + random / 10)), 11 * 60 * 60))
}
