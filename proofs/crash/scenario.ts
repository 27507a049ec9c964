import type { Telemetry } from '../../lib/platform/telemetry.ts'
import type { Lifecycle } from '../../test/support/scenarios.ts'
import type { Act } from '../../test/support/service-order.ts'
import type { TableOptions } from './dynamodb.ts'
import type { Instance, Mode } from './faults.ts'
import type { Adjust } from './functions.ts'
import type { Place } from './places.ts'
import type { EndpointAnswer } from './store.ts'
import type { World } from './world.ts'

export type PlannedOrder = Lifecycle & {
  /** @default 'shop' */
  source?: string
  /** The service does not answer for this order until this many milliseconds after the start. */
  downUntil?: number
  /** The service answers 500 for this order until this many milliseconds after the start. */
  failsUntil?: number
  /** How long the service takes to answer for this order, in milliseconds. */
  slow?: number
  /** When its lifecycle begins, counted from the start. @default 0 */
  at?: number
  /** When the store reads it, counted from the start. */
  readAt?: number
  /** Its events may fail and be retried even in a run without a fault. */
  mayRetry?: boolean
}

/** Orders that begin one after the other, `apart` milliseconds apart, the first one when the planned order does. */
export const every = (apart: number, count: number, name: string, planned: PlannedOrder) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number): [string, PlannedOrder] => [
      `${name}${number}`,
      { ...planned, at: (planned.at ?? 0) + number * apart },
    ]),
  )

/** Orders and what surrounds them; everything that is not given works as it should. Times in milliseconds. */
export type Scenario = {
  name: string
  /** By `external_id`. */
  orders: Readonly<Record<string, PlannedOrder>>
  /** The time the n-th webhook, from 1, takes before its first attempt; `never` when it is lost. */
  transit?: (count: number, cause: Act | undefined) => number | 'never'
  /** How far the sender's clock is ahead, so long after the start. */
  skew?: (elapsed: number) => number
  /** How long the service takes to answer, so long after the start. */
  slowness?: (elapsed: number) => number
  /** What answers with an error instead of doing what it is asked, so long after the start. */
  outage?: (place: Place, elapsed: number) => Error | undefined
  /** How far the functions' clock is ahead, so long after the start. */
  relaySkew?: (elapsed: number) => number
  /** How the endpoint of a store with an HTTP feed answers, so long after the start. */
  endpoint?: (elapsed: number, source: string) => EndpointAnswer
  /** How many entries of its first calls `ChangeMessageVisibilityBatch` fails to change. */
  failingEntries?: number
  /** When the schedule starts the reconciliation. */
  reconcileAt?: readonly number[]
  /** A simulation: what strikes, and everything in which it differs from a short story. */
  chance?: Chance
  /** How many environments of the worker, and of the feeder for each queue, run at a time. @default 2, or 10 by chance */
  concurrency?: number
  /** Environments of webhook and api serve more than one request. @default false, or true by chance */
  warm?: boolean
  /** What must be in quarantine in the end, byte for byte. */
  quarantined?: readonly string[]
  /** The feed messages that must be dead-lettered in the end. */
  deadLettered?: readonly string[]
  telemetry?: Telemetry
  /** Replaces dependencies of the functions. */
  adjust?: Adjust
  /** What else happens, beside the lifecycles of the orders. */
  happens?: (world: World) => void
}

/** What a simulation decides by chance. */
type Chance = Pick<TableOptions, 'indexLag' | 'expiryLag'> & {
  /** How long it lasts, in milliseconds. */
  lasts: number
  /** How long a message may wait, in milliseconds: somewhat longer than the longest outage. */
  patience: { orders: number; feeds: number }
  random: () => number
  /** How a call goes wrong that is made now. */
  strike: (place: Place) => Mode | undefined
  isSqsDown: () => boolean
  /** Whether the store that reads its own queue is down, or dies before it deletes what it has received. */
  consumer: () => 'up' | 'down' | 'dies'
  onCall?: ((place: Place, mode: Mode | undefined, instance: Instance) => void) | undefined
}
