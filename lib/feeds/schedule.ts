import { DAY } from '../platform/environment.ts'
import { boundedDelay, MAX_RETRY_SECONDS } from '../platform/retry.ts'

const FIRST_SECONDS = 5

/**
 * SQS counts at most 1,000 receives, which are reached in ten days with one receive every 15 minutes. After half a day, a
 * message is therefore received only every 22 to 25 minutes.
 */
const SLOW_RETRY_SECONDS = 22 * 60
const SLOW_AFTER = DAY / 2

/**
 * The seconds until the next planned receive of a message, at least 5. The plan depends only on the message, so that a
 * receive in between, such as a manual retry, does not postpone the next one.
 *
 * @param age seconds since the plan began
 * @param pauseAfter the pause after a planned receive at an age
 */
const untilPlanned = (age: number, pauseAfter: (age: number) => number): number => {
  let planned = 0
  while (planned <= age) planned += pauseAfter(planned)
  return Math.max(planned - age, FIRST_SECONDS)
}

/**
 * The delay before a failed message is retried, in seconds: from 5 s to 15 min, after half a day from 22 to 25 min, and
 * never less than `retryAfter` (promise P8).
 *
 * @param age seconds since the message was first received
 * @param share a number from 0 to 1, always the same for a message
 * @param retryAfter the store's `Retry-After`, in seconds
 */
export const failureDelay = (age: number, share: number, retryAfter = 0): number => {
  const jitter = (1 + share) / 2
  const delay = untilPlanned(age, planned =>
    planned < SLOW_AFTER
      ? Math.min(planned + FIRST_SECONDS * jitter, MAX_RETRY_SECONDS * jitter)
      : SLOW_RETRY_SECONDS * (1 + share / 10),
  )
  return boundedDelay(delay, share, retryAfter)
}

/**
 * The delay until a message without a registered URL is received again, in seconds: a quarter of its age, at least 5
 * seconds and at most 22 to 25 minutes. A store that registers its URL within minutes receives the message within a minute.
 *
 * @param age seconds since the message was sent
 * @param share a number from 0 to 1, always the same for a message
 */
export const registrationDelay = (age: number, share: number): number =>
  Math.ceil(
    untilPlanned(
      age,
      planned => Math.min(Math.max(planned / 4, FIRST_SECONDS), SLOW_RETRY_SECONDS) * (1 + share / 10),
    ),
  )
