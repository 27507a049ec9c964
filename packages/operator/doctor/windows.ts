import { DAY, HOUR, MINUTE } from '@order-relay/lib/platform/environment.ts'
import { retryDelay } from '@order-relay/lib/platform/retry.ts'
import { RETRY_SECONDS, SENDER_TIMEOUT_SECONDS } from '@order-relay/lib/protocol/webhook.ts'
import { type Finding, judged, problem } from '../core/output.ts'

/** How long the accounting service retries a delivery, in seconds. */
const SENDER_RETRIES = RETRY_SECONDS.reduce<number>((sum, wait) => sum + wait, 0)

/** Durations that must be consistent, in seconds. */
export type Windows = {
  /** How long a delivery is remembered. */
  deliveryTtl: number
  deadRetention: number
  queueRetention: number
  queueVisibility: number
  /** Receives before a message becomes a dead letter; undefined if it never does. */
  maxReceives: number | undefined
  webhookTimeout: number
  workerTimeout: number
}

const shown = (seconds: number) => {
  if (seconds >= 2 * DAY) return `${Math.round(seconds / DAY)} days`
  if (seconds >= 2 * HOUR) return `${Math.round((seconds / HOUR) * 10) / 10} hours`
  return seconds >= 2 * MINUTE ? `${Math.round(seconds / MINUTE)} minutes` : `${seconds} seconds`
}

/** The longest time from the first receive of a message to the last. */
const longestRetry = (receives: number) => {
  let seconds = 0
  for (let receive = 1; receive <= receives; receive++) seconds += retryDelay(receive, 1)
  return seconds
}

const deadLetterCheck = (maxReceives: number | undefined, retention: number): Finding => {
  const name = 'failing messages become dead letters before they expire'
  if (maxReceives === undefined)
    return problem(name, 'the order queue has no dead-letter queue', 'deploy again')
  const longest = longestRetry(maxReceives)
  return judged(
    name,
    longest < retention,
    `${maxReceives} receives within at most ${shown(longest)}; retention is ${shown(retention)}`,
    'lower maxReceiveCount of the order queue, or raise its retention, and deploy',
  )
}

/** Checks that the settings are consistent. Pure. */
export const windowFindings = (windows: Windows): Finding[] => {
  const { deliveryTtl, deadRetention, queueVisibility, webhookTimeout, workerTimeout } = windows
  return [
    judged(
      'deliveries are remembered for as long as the sender retries',
      deliveryTtl > SENDER_RETRIES,
      `remembered for ${shown(deliveryTtl)}, retried for up to ${shown(SENDER_RETRIES)}`,
      'raise DELIVERY_TTL_SECONDS and deploy',
    ),
    judged(
      'deliveries are remembered for as long as dead letters can be replayed',
      deliveryTtl > deadRetention,
      `remembered for ${shown(deliveryTtl)}, dead letters are kept for ${shown(deadRetention)}`,
      'raise DELIVERY_TTL_SECONDS, or lower the retention of dead letters, and deploy',
    ),
    judged(
      'messages stay invisible while the worker processes them',
      queueVisibility >= 6 * workerTimeout,
      `visibility timeout ${shown(queueVisibility)}, worker timeout ${shown(workerTimeout)}; AWS recommends a factor of six`,
      'raise VisibilityTimeout of the order queue, or lower the timeout of the worker, and deploy',
    ),
    judged(
      'the receiver responds before the sender gives up',
      webhookTimeout < SENDER_TIMEOUT_SECONDS,
      `timeout ${shown(webhookTimeout)}, the sender waits ${shown(SENDER_TIMEOUT_SECONDS)}`,
      'lower the timeout of the webhook function and deploy',
    ),
    deadLetterCheck(windows.maxReceives, windows.queueRetention),
  ]
}
