import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Resolves with the value of the condition once it holds; rejects with its name after a timeout, measured by the real
 * clock since a test may have its own.
 */
export const until = async <Found>(condition: () => Found | Promise<Found>, milliseconds = 30_000) => {
  const begin = performance.now()
  for (;;) {
    const found = await condition()
    if (found) return found
    const passed = performance.now() - begin
    if (passed > milliseconds) throw new Error(`Not within ${milliseconds} ms: ${condition}`)
    // Polling more often would slow down the awaited work.
    await sleep(Math.min(100, 10 + passed / 10))
  }
}
