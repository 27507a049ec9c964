import type { Sqs } from '../platform/clients.ts'
import { DAY } from '../platform/environment.ts'
import { QUEUES, siblingQueueUrl } from '../platform/names.ts'
import { MAX_RECEIVES, MAX_RETRY_SECONDS, releaseMessages } from '../platform/retry.ts'
import type { Failing, StoredOrder } from './stored.ts'

/** The codes of failed calls to the accounting service whose cause may end for all orders at once. */
const SERVICE_CODES = ['unavailable', 'failed', 'throttled', 'unauthorized', 'not_called']

/** Whether an event waits for the accounting service rather than for AWS or the relay. */
export const isServiceFailure = ({ code }: Pick<Failing, 'code'>): boolean => SERVICE_CODES.includes(code)

/** The mean delay of the retry schedule, in seconds. */
const MEAN_RETRY = (MAX_RETRY_SECONDS * 3) / 4

/** Maximum number of attempts beyond the retry schedule. The remaining ones suffice for a day even if all early ones fail. */
const EARLY_ATTEMPTS = MAX_RECEIVES - DAY / MEAN_RETRY

/** Whether a failing event may be retried early. If not, it waits for its next attempt, even if the cause has ended. */
export const hasEarlyAttempts = (
  { since, receives }: Pick<Failing, 'since' | 'receives'>,
  now: number,
): boolean => receives < (now - Date.parse(since)) / 1000 / MEAN_RETRY + EARLY_ATTEMPTS

/** Whether a failing event is waiting and may be retried before its next attempt is due (promise P8); `now` in milliseconds. */
export const mayRetryEarly = (failing: Failing, now: number): boolean => {
  const { at, next_at, retry_after = 0 } = failing
  return (
    Date.parse(next_at) > now && Date.parse(at) + retry_after * 1000 <= now && hasEarlyAttempts(failing, now)
  )
}

/** Makes the failing event of an order visible. Returns false if it is not waiting or its handle is unknown. */
export const failingReleaser =
  (sqs: Sqs, ordersQueueUrl: string) =>
  async ({ failing, failing_handles: handles = [] }: StoredOrder): Promise<boolean> => {
    if (failing === undefined || handles.length === 0) return false
    return releaseMessages(sqs, siblingQueueUrl(ordersQueueUrl, QUEUES[failing.queue]), handles)
  }
