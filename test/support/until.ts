import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Resolves once the condition holds, with what it found; rejects, naming it, when it does not within the time: the
 * machine's, since a test may have a time of day of its own.
 */
export const until = async <Found>(condition: () => Found | Promise<Found>, milliseconds = 30_000) => {
  const begin = performance.now()
  for (;;) {
    const found = await condition()
    if (found) return found
    const passed = performance.now() - begin
    if (passed > milliseconds) throw new Error(`Not within ${milliseconds} ms: ${condition}`)
    // Asking more often would take the time of what is waited for.
    await sleep(Math.min(100, 10 + passed / 10))
  }
}
