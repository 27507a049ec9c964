import { setTimeout as sleep } from 'node:timers/promises'
import { inspect, isDeepStrictEqual } from 'node:util'

const shown = (value: unknown) => inspect(value, { depth: 6, breakLength: 110 })

/** Something was not as it should be; `message` says what was expected and what was found. */
class Unexpected extends Error {
  constructor(what: string, expected: unknown, found: unknown) {
    super(`${what}\n    expected: ${shown(expected)}\n    found:    ${shown(found)}`)
  }
}

/** @throws Unexpected when what was found is not what was expected */
export const expect = (what: string, found: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(found, expected)) throw new Unexpected(what, expected, found)
}

const EVERY_MS = 100

/**
 * Looks again and again until something is there, and answers with it.
 *
 * @param look answers with undefined while it is not there yet
 * @param found what to show as found when the time is up
 */
export const eventually = async <Value>(
  what: string,
  seconds: number,
  look: () => Promise<Value | undefined>,
  found: () => unknown = () => 'nothing of the kind',
): Promise<Value> => {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    if (Date.now() > until) throw new Unexpected(what, `to be there within ${seconds} s`, await found())
    await sleep(EVERY_MS)
  }
}

/** A step of the proof failed; `name` is its name. */
export class StepFailed extends Error {
  readonly step: string
  constructor(step: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.step = step
  }
}

/** Does one named step of the proof and says how it went. */
export const step = async <Result>(name: string, act: () => Promise<Result>): Promise<Result> => {
  const began = Date.now()
  process.stdout.write(`${name} … `)
  try {
    const result = await act()
    process.stdout.write(`ok (${((Date.now() - began) / 1000).toFixed(1)} s)\n`)
    return result
  } catch (error) {
    process.stdout.write('FAILED\n')
    throw new StepFailed(name, error)
  }
}
