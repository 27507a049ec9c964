import PQueue from 'p-queue'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { QUARANTINE } from '../dead-letters/quarantine.ts'
import { collect } from '../model/message.ts'

export const KINDS = { dead: DEAD_LETTERS, quarantine: QUARANTINE }

type Command = keyof typeof KINDS

/** Maximum number of messages read from a queue and shown; a plan contains all selected ones. */
const LIMIT = 1000

/** Maximum age of a reading, in milliseconds: an unchanged depth does not prove that the messages are the same. */
const KEPT_MS = 60_000

/**
 * Readings of the dead letters and of the quarantine, shared by all pages. SQS shows a message to one reader at a time,
 * so a queue is read by one reader at a time, and a reading is kept until the depth changes or a user requests a new one.
 */
export const createReadings = (context: Context) => {
  const readings = new Map<Command, ReturnType<typeof readNow>>()
  const ended = new Map<Command, Awaited<ReturnType<typeof readNow>>>()
  const turns = { dead: new PQueue({ concurrency: 1 }), quarantine: new PQueue({ concurrency: 1 }) }
  /** The number of running actions on each queue, which hide its messages. */
  const acting = new Map<Command, number>()

  const readNow = (name: Command) =>
    turns[name].add(async () => ({
      at: new Date(),
      ...(await collect(context, KINDS[name], { limit: LIMIT })),
    }))
  const depthsOf = async (name: Command) => {
    const depths = await Promise.all(KINDS[name].queues(context).map(queue => depthOf(context, queue)))
    return depths.reduce((sum, { all }) => sum + all, 0)
  }
  return {
    of: async (name: Command) => {
      const before = readings.get(name)
      const known = await before
      const isFresh =
        known !== undefined &&
        (acting.has(name) ||
          // Another reader may have hidden all messages.
          ((known.messages.length > 0 || known.total === 0) &&
            Date.now() - known.at.getTime() < KEPT_MS &&
            known.total === (await depthsOf(name))))
      if (isFresh) return known
      // Another page may have started a reading in the meantime.
      const begun = readings.get(name)
      if (begun !== undefined && begun !== before) return begun
      const reading = readNow(name)
      readings.set(name, reading)
      reading.then(
        read => ended.set(name, read),
        () => readings.delete(name),
      )
      return reading
    },
    /**
     * The last reading, if the queue still has messages. Receives no messages, since this would hide them from the
     * pages of the queue.
     */
    last: async (name: Command) => {
      const known = ended.get(name)
      return known !== undefined && (await depthsOf(name)) > 0 ? known : undefined
    },
    forget: (name: Command) => {
      ended.delete(name)
      readings.delete(name)
    },
    /** Runs an action on the messages while no reading hides them. */
    inTurn: async <Result>(name: Command, act: () => Promise<Result>): Promise<Result> => {
      acting.set(name, (acting.get(name) ?? 0) + 1)
      try {
        return await turns[name].add(act)
      } finally {
        const others = (acting.get(name) ?? 1) - 1
        if (others > 0) acting.set(name, others)
        else acting.delete(name)
      }
    },
  }
}

export type Readings = ReturnType<typeof createReadings>
