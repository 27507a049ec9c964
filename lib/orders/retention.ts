import { DAY } from '../platform/environment.ts'
import { PROBE_SOURCE } from '../platform/names.ts'
import type { OrderKey } from '../protocol/order.ts'

/** How long a settled order and each entry of its history are kept after they are written, in seconds; undefined: forever. */
export type KeepFor = (order: Pick<OrderKey, 'source'>) => number | undefined

/**
 * The retention of orders.
 *
 * An order may return after its deletion, and its store ignores older versions (promise P9). While orders are deleted,
 * the versions of new orders therefore start at the Unix time in minutes: an order changes less than once a minute.
 *
 * @param days how long settled orders are kept; 0: forever
 * @throws if it is not a number of days
 */
export const retentionOf = (days: string) => {
  const keep = Number(days) * DAY
  if (!(keep >= 0))
    throw new Error(`Cannot start: DELETE_ORDERS_AFTER_DAYS is "${days}"; set a number of days, such as 365`)
  // The probe creates an order every five minutes.
  const keepFor: KeepFor = ({ source }) => (source === PROBE_SOURCE ? DAY : keep || undefined)
  return { keepFor, firstVersion: (now: number): number => (keep === 0 ? 0 : Math.floor(now / 60_000)) }
}
