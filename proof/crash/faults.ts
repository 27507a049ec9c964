import type { Clock } from './clock.ts'
import { isPlace, type Place } from './places.ts'

/** How a call can end badly. */
export const MODES = ['killed before', 'killed after', 'lost', 'unanswered', 'late'] as const
export type Mode = (typeof MODES)[number]

/** For people: what each mode means. */
export const MEANING: Readonly<Record<Mode, string>> = {
  'killed before': 'the function ends before the call is made',
  'killed after': 'the call takes effect and the function ends before it hears the answer',
  lost: 'the call times out and never takes effect',
  unanswered: 'the call times out although it took effect',
  late: 'the call times out and takes effect only ten minutes later',
}

/** The n-th call of a run, counted from 0 over everything that can die, ends in this way. */
export type Fault = { at: number; mode: Mode }

/** A function's execution environment: it can end at any moment, and then nothing of it happens any more. */
export type Instance = { alive: boolean; ended: (() => void)[] }

export const startInstance = (): Instance => ({ alive: true, ended: [] })

export const end = (instance: Instance): void => {
  if (!instance.alive) return
  instance.alive = false
  for (const tell of instance.ended) tell()
}

/** One way over the network, in milliseconds. */
const WAY = 5
const TEN_MINUTES = 10 * 60 * 1000

/**
 * A message to the feed that was given up cannot come after the next attempt's, which is 3 s later at the
 * soonest: a feed has no condition that could refuse it, see docs/proof.md, "What is assumed".
 */
const LATENESS: Partial<Record<Place, number>> = { 'worker: tell the store': 2000 }

/**
 * Makes a call from an instance to a part: it takes its time to get there, takes effect, and the answer takes
 * its time back.
 *
 * @param effect what happens at the part
 * @param timedOut the error that the caller sees when no answer comes
 */
export type MakeCall = <Result>(
  instance: Instance,
  place: string,
  effect: () => Result,
  timedOut?: () => Error,
) => Promise<Result>

const noAnswer = () => new Error('TimeoutError: no answer')

/** The code did something that the models do not know: a gap in the harness, not a fault of the code. */
export class NotModelled extends Error {}

/** What a part answers instead of doing what it is asked, while it is in trouble. */
export type Trouble = (place: Place) => Error | undefined

export const callsWith = (clock: Clock, faults: readonly Fault[], trouble: Trouble = () => undefined) => {
  const visits: Place[] = []
  const gaps: string[] = []

  const noted = <Result>(effect: () => Result): Result => {
    try {
      return effect()
    } catch (error) {
      if (error instanceof NotModelled) gaps.push(error.message)
      throw error
    }
  }

  const call: MakeCall = (instance, place, effect, timedOut = noAnswer) =>
    new Promise((resolve, reject) => {
      if (!instance.alive) return
      if (!isPlace(place)) {
        gaps.push(`the await "${place}" is in no list of places`)
        return
      }
      const mode = faults.find(({ at }) => at === visits.length)?.mode
      visits.push(place)
      const fail = () => instance.alive && reject(timedOut())
      const quietly = () => {
        try {
          noted(effect)
        } catch {
          // A refusal that nobody hears.
        }
      }
      switch (mode) {
        case 'killed before':
          return end(instance)
        case 'killed after':
          return clock.after(WAY, () => {
            quietly()
            end(instance)
          })
        case 'lost':
          return clock.after(2 * WAY, fail)
        case 'unanswered':
          clock.after(WAY, quietly)
          return clock.after(2 * WAY, fail)
        case 'late':
          clock.after(LATENESS[place] ?? TEN_MINUTES, quietly)
          return clock.after(2 * WAY, fail)
        case undefined:
          return clock.after(WAY, () => {
            try {
              const refusal = trouble(place)
              if (refusal !== undefined) throw refusal
              const result = noted(effect)
              clock.after(WAY, () => instance.alive && resolve(result))
            } catch (error) {
              clock.after(WAY, () => instance.alive && reject(error))
            }
          })
      }
    })

  return { call, visits, gaps }
}

const isMode = (text: string): text is Mode => (MODES as readonly string[]).includes(text)

/**
 * Reads faults as complaints write them, such as `7:late,12:lost`.
 *
 * @throws Error when a part is not a number and a mode
 */
export const faultsFrom = (text: string): Fault[] =>
  text
    .split(',')
    .filter(part => part !== '')
    .map(part => {
      const [at = '', mode = ''] = part.split(':')
      if (!/^\d+$/.test(at) || !isMode(mode))
        throw new Error(
          `Cannot read the fault "${part}": write the number of a call and one of ${MODES.join(', ')}`,
        )
      return { at: Number(at), mode }
    })
