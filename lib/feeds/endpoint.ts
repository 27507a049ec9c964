import { LONGEST_SECONDS } from '../line/backoff.ts'

/** What this process knows of a store's endpoint, in milliseconds of the clock. */
export type Endpoint = {
  /** When a message was last taken. */
  taken: number
  /** Until when no message is sent, since the endpoint counts as disabled; 0 while it does not. */
  silentUntil: number
}

export const unknownEndpoint: Endpoint = { taken: 0, silentUntil: 0 }

/** How long no message may be sent, in seconds; 0 when one may. */
export const silence = ({ silentUntil }: Endpoint, now: number): number =>
  Math.max(0, Math.ceil((silentUntil - now) / 1000))

const silenced = (endpoint: Endpoint, now: number): Endpoint => ({
  ...endpoint,
  silentUntil: now + LONGEST_SECONDS * 1000,
})

/** The endpoint while a message is on its way: a disabled one is probed with a single message. */
export const probed = (endpoint: Endpoint, now: number): Endpoint =>
  endpoint.silentUntil === 0 ? endpoint : silenced(endpoint, now)

export const afterSuccess = (now: number): Endpoint => ({ taken: now, silentUntil: 0 })

/**
 * The endpoint after a message failed that nobody had taken since before `limit`. It counts as disabled,
 * unless it took other messages meanwhile: then it is the message, and the others shall not wait for it.
 */
export const afterLongFailure = (endpoint: Endpoint, limit: number, now: number): Endpoint =>
  endpoint.taken > limit ? endpoint : silenced(endpoint, now)
