import { setTimeout as sleep } from 'node:timers/promises'
import { inspect, isDeepStrictEqual } from 'node:util'

const shown = (value: unknown) => inspect(value, { depth: 6, breakLength: 110 })

/** A failed expectation. */
class Unexpected extends Error {
  constructor(what: string, expected: unknown, found: unknown) {
    super(`${what}\n    expected: ${shown(expected)}\n    found:    ${shown(found)}`)
  }
}

/** @throws Unexpected when the values differ */
export const expect = (what: string, found: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(found, expected)) throw new Unexpected(what, expected, found)
}

const EVERY_MS = 100

/**
 * Polls until `look` returns a value, and returns it.
 *
 * @param found the state to report when the time is up
 */
export const eventually = async <Value>(
  what: string,
  seconds: number,
  look: () => Promise<Value | undefined>,
  found: () => unknown = () => 'nothing',
): Promise<Value> => {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    if (Date.now() > until) throw new Unexpected(what, `within ${seconds} s`, await found())
    await sleep(EVERY_MS)
  }
}

/** A failed step, by name. */
export class StepFailed extends Error {
  readonly step: string
  constructor(step: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.step = step
  }
}

/** Runs a named step and prints its result. */
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
