import type { Runtime, Sleep } from './environment.ts'

/** Returns a function that resolves at most `rate` times a second, in the sequence of its calls. */
export const pace = (
  rate: number,
  { now, sleep }: Pick<Runtime, 'now'> & { sleep: Sleep },
): (() => Promise<unknown>) => {
  let next = now()
  return () => {
    const wait = next - now()
    next = Math.max(next, now()) + 1000 / rate
    return wait > 0 ? sleep(wait) : Promise.resolve()
  }
}
