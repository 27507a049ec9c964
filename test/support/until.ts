import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves once the condition holds; rejects, naming it, when it does not within the time. */
export const until = async (condition: () => boolean | Promise<boolean>, milliseconds = 10_000) => {
  const end = Date.now() + milliseconds
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not within ${milliseconds} ms: ${condition}`)
    await sleep(10)
  }
}
