import { setTimeout as sleep } from 'node:timers/promises'
import type { Player } from './cast.ts'
import { changesOf } from './plan.ts'
import type { FloodOptions } from './run.ts'

/** When nothing has moved for so long, nothing will. */
const STALL_MS = 60_000
const LOOK_MS = 200

/**
 * Waits until everything is sent and the last change told.
 *
 * @throws Error when the sender fails, nothing moves any more, or the time is over
 */
export const allTold = async (
  { plan, minutes, progress }: FloodOptions,
  sender: Player,
  arrived: () => number,
  signal: AbortSignal,
): Promise<void> => {
  const due = changesOf(plan)
  const begun = Date.now()
  let moved = { at: begun, sum: 0 }
  let ended: string | undefined
  sender.ended.then(how => {
    ended = how
  })
  while (arrived() < due || ended === undefined) {
    signal.throwIfAborted()
    const { sent = 0, answers } = sender.said
    const now = Date.now()
    const seconds = Math.round((now - begun) / 1000)
    if (sent + arrived() !== moved.sum) moved = { at: now, sum: sent + arrived() }
    progress(`${sent} of ${plan.deliveries} sent, ${arrived()} of ${due} told, ${seconds} s`)
    if (ended !== undefined && answers === undefined) throw new Error(`The sender ${ended}`)
    if (now - moved.at > STALL_MS) throw new Error(`Nothing has moved for ${STALL_MS / 1000} seconds`)
    if (now - begun > minutes * 60_000) throw new Error(`It is not over after ${minutes} minutes`)
    await sleep(LOOK_MS, undefined, { signal })
  }
}
