import { DAY, HOUR, MINUTE } from '@order-relay/lib/platform/environment.ts'
import { MAX_RECEIVES, retryDelay } from '@order-relay/lib/platform/retry.ts'
import { RETRY_SECONDS, SENDER_TIMEOUT_SECONDS } from '@order-relay/lib/protocol/webhook.ts'
import { type Finding, say } from '../core/findings.ts'
import { judged, ok, problem } from '../core/output.ts'

/** How long the accounting service retries a delivery, in seconds. */
const SENDER_RETRIES = RETRY_SECONDS.reduce<number>((sum, wait) => sum + wait, 0)

/** Durations that must be consistent, in seconds. */
export type Windows = {
  /** How long a delivery is remembered. */
  deliveryTtl: number
  deadRetention: number
  queueRetention: number
  queueVisibility: number
  /** Receives before a message becomes a dead letter, by queue; undefined if it never does. */
  maxReceives: Readonly<Record<string, number | undefined>>
  webhookTimeout: number
  workerTimeout: number
}

const shown = (seconds: number) => {
  if (seconds >= 2 * DAY) return say('days', { count: Math.round(seconds / DAY) })
  if (seconds >= 2 * HOUR) return say('hours', { count: Math.round((seconds / HOUR) * 10) / 10 })
  if (seconds >= 2 * MINUTE) return say('minutes', { count: Math.round(seconds / MINUTE) })
  return say('seconds', { count: seconds })
}

/** The longest time from the first receive of a message to the last. */
const longestRetry = (receives: number) => {
  let seconds = 0
  for (let receive = 1; receive <= receives; receive++) seconds += retryDelay(receive, 1)
  return seconds
}

const deadLetterCheck = (queue: string, maxReceives: number | undefined, retention: number): Finding => {
  const fails = say('expires-first', { queue })
  if (maxReceives === undefined) return problem(fails, say('no-dead-letter-queue'), say('deploy-again'))
  const longest = longestRetry(maxReceives)
  const values = { count: maxReceives, time: shown(longest) }
  const found = say('receive-window', { ...values, kept: shown(retention) })
  if (longest >= retention) return problem(fails, found, say('lower-receives'))
  if (maxReceives === MAX_RECEIVES) return ok(say('dead-before-expiry', { queue }), found)
  const set = MAX_RECEIVES
  return problem(
    say('receives-differ', { queue }),
    say('receives-found', { ...values, set, longest: shown(longestRetry(set)) }),
    say('restore-receives', { set }),
  )
}

/** Checks that the settings are consistent. Pure. */
export const windowFindings = (windows: Windows): Finding[] => {
  const { deliveryTtl, deadRetention, queueVisibility, webhookTimeout, workerTimeout } = windows
  const time = shown(deliveryTtl)
  return [
    judged(
      deliveryTtl > SENDER_RETRIES,
      [say('remembers-retries'), say('forgets-retries')],
      say('retry-window', { time, longest: shown(SENDER_RETRIES) }),
      say('raise-ttl'),
    ),
    judged(
      deliveryTtl > deadRetention,
      [say('remembers-replays'), say('forgets-replays')],
      say('replay-window', { time, kept: shown(deadRetention) }),
      say('raise-ttl-or-lower-retention'),
    ),
    judged(
      queueVisibility >= 6 * workerTimeout,
      [say('stays-invisible'), say('reappears')],
      say('visibility-window', { time: shown(queueVisibility), limit: shown(workerTimeout) }),
      say('raise-visibility'),
    ),
    judged(
      webhookTimeout < SENDER_TIMEOUT_SECONDS,
      [say('receiver-responds'), say('receiver-late')],
      say('receiver-window', { time: shown(webhookTimeout), limit: shown(SENDER_TIMEOUT_SECONDS) }),
      say('lower-webhook-timeout'),
    ),
    ...Object.entries(windows.maxReceives).map(([queue, receives]) =>
      deadLetterCheck(queue, receives, windows.queueRetention),
    ),
  ]
}
