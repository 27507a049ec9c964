import type { Clock } from './clock.ts'
import { isPlace, type Place } from './places.ts'

/**
 * How a call can fail:
 *
 * - `killed before`: the function is killed before the call is made
 * - `killed after`: the call takes effect, and the function is killed before the response arrives
 * - `lost`: the call times out and never takes effect
 * - `unanswered`: the call times out although it took effect
 * - `late`: the call times out and takes effect ten minutes later
 * - `repeated`: only the response is lost, the client resends the request, and it takes effect twice
 */
export const MODES = ['killed before', 'killed after', 'lost', 'unanswered', 'late', 'repeated'] as const
export type Mode = (typeof MODES)[number]

/** A fault in the n-th call of a run, counted from 0 over all functions. */
export type Fault = { at: number; mode: Mode }

/** An execution environment of a function. After it is killed, none of its code has an effect. */
export type Instance = {
  alive: boolean
  /** Called when it is killed. */
  onEnd: (() => void) | undefined
  /** The message groups of its current batch. */
  groups: readonly string[]
}

export const startInstance = (onEnd?: () => void): Instance => ({ alive: true, onEnd, groups: [] })

export const end = (instance: Instance): void => {
  if (!instance.alive) return
  instance.alive = false
  instance.onEnd?.()
}

/** One-way network latency, in milliseconds. */
const WAY = 5
const TEN_MINUTES = 10 * 60 * 1000

/**
 * A timed-out message to an SQS feed cannot arrive after the next attempt, which is made at least 3 s later: a feed
 * could not reject it, see docs/crash.md.
 */
const LATENESS: Partial<Record<Place, number>> = {
  'worker: publish to the feed': 2000,
  'worker: publish to the HTTP feed': 2000,
}

type CallOptions = {
  /** The caller's timeout, in milliseconds. */
  timeout?: number
  /** The response time of the called part, in milliseconds. */
  takes?: number
}

/** Makes a call from an instance to another part, where `effect` runs. */
export type MakeCall = <Result>(
  instance: Instance,
  place: string,
  effect: () => Result,
  options?: CallOptions,
) => Promise<Result>

/** The code used something that the models lack: a gap in the harness, not a bug in the code. */
export class NotModeled extends Error {}

export type Circumstances = {
  /** The fault of the n-th call of the run, from 0. */
  strike: (place: Place, at: number) => Mode | undefined
  /** An error that a part returns instead of acting. */
  outage: (place: Place) => Error | undefined
  /** Called for each failed call. */
  onTrouble: (instance: Instance, place: Place, mode: Mode | undefined) => void
  /** Called with every call. */
  onCall?: ((place: Place, mode: Mode | undefined, instance: Instance) => void) | undefined
}

export const callsWith = (clock: Clock, { strike, outage, onTrouble, onCall }: Circumstances) => {
  /** All calls of the run, in sequence. */
  const calls: Place[] = []
  const gaps: string[] = []
  let struck = 0

  const noted = <Result>(effect: () => Result): Result => {
    try {
      return effect()
    } catch (error) {
      if (error instanceof NotModeled) gaps.push(error.message)
      throw error
    }
  }

  const call: MakeCall = (instance, place, effect, { timeout = 2 * WAY, takes = 0 } = {}) =>
    new Promise((resolve, reject) => {
      if (!instance.alive) return
      if (!isPlace(place)) {
        gaps.push(`the call "${place}" is not in the list of places`)
        return
      }
      const mode = strike(place, calls.length)
      calls.push(place)
      onCall?.(place, mode, instance)
      if (mode !== undefined) {
        struck++
        onTrouble(instance, place, mode)
      }
      const timeOut = () =>
        clock.after(timeout, () => instance.alive && reject(new Error('TimeoutError: no response')))
      const unanswered = () => {
        try {
          noted(effect)
        } catch {
          // A refusal without a recipient.
        }
      }
      const answer = () => {
        const back = Math.min(WAY + takes, timeout - WAY)
        try {
          const error = outage(place)
          if (error !== undefined) {
            onTrouble(instance, place, undefined)
            throw error
          }
          const result = noted(effect)
          if (back < WAY + takes) {
            onTrouble(instance, place, 'lost')
            throw new Error('TimeoutError: the response takes too long')
          }
          clock.after(back, () => instance.alive && resolve(result))
        } catch (error) {
          clock.after(back, () => instance.alive && reject(error))
        }
      }
      switch (mode) {
        case 'killed before':
          return end(instance)
        case 'killed after':
          return clock.after(WAY, () => {
            unanswered()
            end(instance)
          })
        case 'lost':
          return timeOut()
        case 'unanswered':
          clock.after(WAY, unanswered)
          return timeOut()
        case 'late':
          clock.after(LATENESS[place] ?? TEN_MINUTES, unanswered)
          return timeOut()
        case 'repeated':
          clock.after(WAY, unanswered)
          return clock.after(2 * WAY, answer)
        case undefined:
          return clock.after(WAY, answer)
      }
    })

  return { call, calls, gaps, struck: () => struck }
}

const isMode = (text: string): text is Mode => (MODES as readonly string[]).includes(text)

/**
 * Reads faults such as `7:late,12:lost`.
 *
 * @throws Error when a part is not a number and a mode
 */
export const parseFaults = (text: string): Fault[] =>
  text
    .split(',')
    .filter(part => part !== '')
    .map(part => {
      const [at = '', mode = ''] = part.split(':')
      if (!/^\d+$/.test(at) || !isMode(mode))
        throw new Error(
          `Cannot read the fault "${part}": write <number of the call>:<mode>, with a mode of ${MODES.join(', ')}`,
        )
      return { at: Number(at), mode }
    })
