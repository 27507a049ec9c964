import type { Clock } from './clock.ts'

export type QueuedMessage = {
  id: string
  group: string
  body: string
  sentAt: number
  /** Not handed out before this time. */
  visibleAt: number
  receives: number
  /** When it was removed. */
  leftAt?: number
}

/** A message as it was handed out; the handle is good until the message is handed out again. */
export type Received = QueuedMessage & { handle: string }

export type Options = {
  /** How long a message that was handed out is kept back, in milliseconds. */
  visibility: number
  /** After so many receives a message is put aside. */
  maxReceives: number
  /** Hears of every message that was taken in and not dropped as a duplicate. */
  taken?: (message: QueuedMessage) => void
}

const FIVE_MINUTES = 5 * 60 * 1000

/**
 * An SQS FIFO queue: drops a duplicate of the last five minutes, hands out a group's messages in order and
 * none of a group of which one is out, and puts aside what was received too often.
 */
export const fifoQueue = (clock: Clock, { visibility, maxReceives, taken = () => undefined }: Options) => {
  let messages: QueuedMessage[] = []
  const dead: QueuedMessage[] = []
  const seen = new Map<string, number>()
  let count = 0
  const listeners: (() => void)[] = []
  const changed = () => {
    for (const tell of listeners) tell()
  }
  const handleOf = ({ id, receives }: QueuedMessage) => `${id} ${receives}`
  const heldBy = (handle: string) =>
    messages.find(message => handleOf(message) === handle && message.visibleAt > clock.now())

  return {
    onChange: (tell: () => void) => listeners.push(tell),
    waiting: () => messages,
    dead: () => dead,

    send({ group, dedup, body }: { group: string; dedup: string; body: string }) {
      const key = JSON.stringify([group, dedup])
      if ((seen.get(key) ?? Number.NEGATIVE_INFINITY) > clock.now()) return
      seen.set(key, clock.now() + FIVE_MINUTES)
      const sentAt = clock.now()
      const message = { id: `m${++count}`, group, body, sentAt, visibleAt: sentAt, receives: 0 }
      messages.push(message)
      taken(message)
      changed()
    },

    receive(max: number): Received[] {
      const now = clock.now()
      const locked = new Set(messages.filter(({ visibleAt }) => visibleAt > now).map(({ group }) => group))
      const spent = messages.filter(message => !locked.has(message.group) && message.receives >= maxReceives)
      dead.push(...spent)
      messages = messages.filter(message => !spent.includes(message))
      const batch = messages.filter(({ group }) => !locked.has(group)).slice(0, max)
      for (const message of batch) {
        message.receives++
        message.visibleAt = now + visibility
        clock.after(visibility, changed)
      }
      return batch.map(message => ({ ...message, handle: handleOf(message) }))
    },

    remove(handle: string) {
      const held = heldBy(handle)
      if (held !== undefined) held.leftAt = clock.now()
      messages = messages.filter(message => message !== held)
      changed()
    },

    hide(handle: string, ms: number) {
      const held = heldBy(handle)
      if (held === undefined) return
      held.visibleAt = clock.now() + ms
      clock.after(ms, changed)
    },
  }
}

export type Queue = ReturnType<typeof fifoQueue>
