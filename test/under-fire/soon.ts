import { setTimeout as sleep } from 'node:timers/promises'

const PATIENCE_MS = 10_000

/** Resolves once the condition holds; by the machine's time, since the time of day is not what it was. */
export const soon = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + PATIENCE_MS
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Not within ${PATIENCE_MS} ms: ${condition}`)
    await sleep(5)
  }
}
