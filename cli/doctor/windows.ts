import { backoffSeconds } from '../../lib/line/backoff.ts'
import { type Finding, ok, problem } from './finding.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE

/** How long the accounting service goes on trying, seconds: 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h. */
const SENDER_RETRIES = 5 + 30 + 2 * MINUTE + 10 * MINUTE + HOUR + 6 * HOUR + 24 * HOUR

/** How long it waits for an answer, seconds. */
const SENDER_PATIENCE = 10

/** Times that must fit each other; all in seconds. */
export type Windows = {
  /** How long a delivery is remembered. */
  memory: number
  deadRetention: number
  lineRetention: number
  lineVisibility: number
  /** Receives before a message is dead; undefined when it never is. */
  maxReceives: number | undefined
  webhookTimeout: number
  workerTimeout: number
}

const shown = (seconds: number) => {
  if (seconds >= 48 * HOUR) return `${Math.round(seconds / HOUR / 24)} days`
  if (seconds >= 2 * HOUR) return `${Math.round((seconds / HOUR) * 10) / 10} hours`
  return seconds >= 2 * MINUTE ? `${Math.round(seconds / MINUTE)} minutes` : `${seconds} seconds`
}

const check = (name: string, holds: boolean, found: string, remedy: string): Finding =>
  holds ? ok(name, found) : problem(name, found, remedy)

/** Longest time that a message can be tried until it is dead. */
const triedFor = (receives: number) =>
  Array.from({ length: receives }, (_, index) => backoffSeconds(index + 1, 1)).reduce(
    (sum, wait) => sum + wait,
    0,
  )

/** Whether the settings of the parts compose: each is right only beside the others. Pure. */
export const windowFindings = (windows: Windows): Finding[] => {
  const { memory, deadRetention, lineRetention, lineVisibility, maxReceives, webhookTimeout, workerTimeout } =
    windows
  const tried = maxReceives === undefined ? Number.POSITIVE_INFINITY : triedFor(maxReceives)
  return [
    check(
      'deliveries are remembered while the sender repeats them',
      memory > SENDER_RETRIES,
      `remembered for ${shown(memory)}, repeated for up to ${shown(SENDER_RETRIES)}`,
      'raise DELIVERY_TTL_SECONDS and deploy',
    ),
    check(
      'deliveries are remembered while dead letters can be replayed',
      memory > deadRetention,
      `remembered for ${shown(memory)}, dead letters are kept for ${shown(deadRetention)}`,
      'raise DELIVERY_TTL_SECONDS, or lower the retention of the dead letters, and deploy',
    ),
    check(
      'a message is not handed out again while the worker has it',
      lineVisibility >= 6 * workerTimeout,
      `hidden for ${shown(lineVisibility)}, the worker takes up to ${shown(workerTimeout)}; AWS asks for six times that`,
      'raise VisibilityTimeout of the order line, or lower the timeout of the worker, and deploy',
    ),
    check(
      'the receiver answers before the sender gives up',
      webhookTimeout < SENDER_PATIENCE,
      `it may take ${shown(webhookTimeout)}, the sender waits ${shown(SENDER_PATIENCE)}`,
      'lower the timeout of the webhook function and deploy',
    ),
    maxReceives === undefined
      ? problem(
          'a message that always fails becomes a dead letter',
          'the order line has no dead-letter queue',
          'deploy',
        )
      : check(
          'a message that always fails becomes a dead letter before it expires',
          tried < lineRetention,
          `tried ${maxReceives} times, within ${shown(tried)} at most; kept for ${shown(lineRetention)}`,
          'lower maxReceiveCount of the order line, or raise its retention, and deploy',
        ),
  ]
}
