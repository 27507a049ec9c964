import type { Telemetry } from '../../lib/platform/telemetry.ts'
import type { Lifecycle } from '../../test/support/scenarios.ts'
import type { Act } from '../../test/support/service-order.ts'
import type { TableOptions } from './dynamodb.ts'
import type { Instance, Mode } from './faults.ts'
import type { Adjust } from './functions.ts'
import type { Place } from './places.ts'
import type { EndpointAnswer } from './store.ts'

export type PlannedOrder = Lifecycle & {
  /** @default 'shop' */
  source?: string
  /** The service does not respond for this order until this many milliseconds after the start. */
  downUntil?: number
  /** The service returns 500 for this order until this many milliseconds after the start. */
  failsUntil?: number
  /** The service's response time for this order, in milliseconds. */
  slow?: number
  /** The time from the start to the beginning of its lifecycle. @default 0 */
  at?: number
  /** The times from the start at which the store reads it. */
  readAt?: number
  /** Whether its events may fail and be retried in a run without a fault. */
  mayRetry?: boolean
}

/** Orders that begin `apart` milliseconds after each other, the first one at the time of the planned order. */
export const every = (apart: number, count: number, name: string, planned: PlannedOrder) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number): [string, PlannedOrder] => [
      `${name}${number}`,
      { ...planned, at: (planned.at ?? 0) + number * apart },
    ]),
  )

/** Orders and their environment, which works normally unless specified. Times in milliseconds. */
export type Conditions = {
  name: string
  /** By `external_id`. */
  orders: Readonly<Record<string, PlannedOrder>>
  /** The delay of the n-th webhook, from 1, before its first attempt; `never` if it is lost. */
  transit?: (count: number, cause: Act | undefined) => number | 'never'
  /** How far the sender's clock is ahead at a time after the start. */
  skew?: (elapsed: number) => number
  /** The service's response time at a time after the start. */
  slowness?: (elapsed: number) => number
  /** The part that returns errors at a time after the start. */
  outage?: (place: Place, elapsed: number) => Error | undefined
  /** How far the functions' clock is ahead at a time after the start. */
  relaySkew?: (elapsed: number) => number
  /** The response of the HTTP feed's endpoint at a time after the start. */
  endpoint?: (elapsed: number, source: string) => EndpointAnswer
  /** The number of entries that the first calls of `ChangeMessageVisibilityBatch` fail to change. */
  failingEntries?: number
  /** The times at which the schedule starts `reconcile`. */
  reconcileAt?: readonly number[]
  /** The settings of a simulation; undefined for a short scenario. */
  chance?: Chance
  /** Concurrent environments of the worker, and of the feeder per queue. @default 2, or 10 by chance */
  concurrency?: number
  /** Whether environments of webhook and api serve several requests. @default false, or true by chance */
  warm?: boolean
  /** The bodies that must be in quarantine at the end, byte for byte. */
  quarantined?: readonly string[]
  /** The feed messages that must be dead-lettered at the end. */
  deadLettered?: readonly string[]
  telemetry?: Telemetry
  /** Replaces dependencies of the functions. */
  adjust?: Adjust
}

/** The random decisions of a simulation. */
type Chance = Pick<TableOptions, 'indexLag' | 'expiryLag'> & {
  /** Its duration, in milliseconds. */
  lasts: number
  /** The maximum age of a message in milliseconds, slightly above the longest outage. */
  patience: { orders: number; feeds: number }
  random: () => number
  /** The fault of a call made now, if any. */
  strike: (place: Place) => Mode | undefined
  isSqsDown: () => boolean
  /** Whether the store with an SQS feed is down, or dies before it deletes the received messages. */
  consumer: () => 'up' | 'down' | 'dies'
  onCall?: ((place: Place, mode: Mode | undefined, instance: Instance) => void) | undefined
}
