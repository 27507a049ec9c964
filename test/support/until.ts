import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Resolves once the condition holds, with what it found; rejects, naming it, when it does not within the time: the
 * machine's, since a test may have a time of day of its own.
 */
export const until = async <Found>(condition: () => Found | Promise<Found>, milliseconds = 30_000) => {
  const end = performance.now() + milliseconds
  for (;;) {
    const found = await condition()
    if (found) return found
    if (performance.now() > end) throw new Error(`Not within ${milliseconds} ms: ${condition}`)
    await sleep(10)
  }
}
