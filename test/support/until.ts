import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Resolves once the condition holds; rejects, naming it, when it does not within the time: the machine's, since
 * a test may have a time of day of its own.
 */
export const until = async (condition: () => boolean | Promise<boolean>, milliseconds = 30_000) => {
  const end = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Not within ${milliseconds} ms: ${condition}`)
    await sleep(10)
  }
}
