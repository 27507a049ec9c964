import { setTimeout as sleep } from 'node:timers/promises'

/** Returns a function that resolves at most `rate` times a second. */
export const pace = (rate: number): (() => Promise<unknown>) => {
  let next = Date.now()
  return () => {
    const wait = next - Date.now()
    next = Math.max(next, Date.now()) + 1000 / rate
    return wait > 0 ? sleep(wait) : Promise.resolve()
  }
}
