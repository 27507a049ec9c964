import type { Clock } from './clock.ts'

export type QueuedMessage = {
  id: string
  group: string
  body: string
  sentAt: number
  /** Not received before this time. */
  visibleAt: number
  /** When it was received, each time. */
  receivedAt: number[]
  deletedAt?: number
}

/** A received message; the receipt handle is valid until the message is received again. */
export type Received = QueuedMessage & { handle: string }

export type QueueOptions = {
  /** The visibility timeout, in milliseconds. */
  visibility: number
  /** After this many receives a message is moved to the dead-letter queue. */
  maxReceives: number
  /** Called with every message that was stored and not dropped as a duplicate. */
  onStored?: (message: QueuedMessage) => void
}

const FIVE_MINUTES = 5 * 60 * 1000

/**
 * An SQS FIFO queue: drops duplicates of the last five minutes, hands out the messages of a group in order and
 * none of a group of which one is in flight, and moves what was received too often to its dead letters.
 */
export const fifoQueue = (
  clock: Pick<Clock, 'now' | 'after'>,
  { visibility, maxReceives, onStored }: QueueOptions,
) => {
  let messages: QueuedMessage[] = []
  const dead: QueuedMessage[] = []
  const deduplicated = new Map<string, number>()
  const listeners: (() => void)[] = []
  let count = 0
  const changed = () => {
    for (const listener of listeners) listener()
  }
  const handleOf = ({ id, receivedAt }: QueuedMessage) => `${id} ${receivedAt.length}`
  const inFlight = (handle: string) =>
    messages.find(message => handleOf(message) === handle && message.visibleAt > clock.now())

  return {
    onChange: (listener: () => void) => void listeners.push(listener),
    waiting: () => messages,
    dead: () => dead,

    /** @param age how long the message has been in the queue already, in milliseconds */
    send({ group, dedup, body, age = 0 }: { group: string; dedup: string; body: string; age?: number }) {
      const key = JSON.stringify([group, dedup])
      if ((deduplicated.get(key) ?? Number.NEGATIVE_INFINITY) > clock.now()) return
      deduplicated.set(key, clock.now() + FIVE_MINUTES)
      const sentAt = clock.now() - age
      const message = { id: `m${++count}`, group, body, sentAt, visibleAt: sentAt, receivedAt: [] }
      messages.push(message)
      onStored?.(message)
      changed()
    },

    receive(max: number): Received[] {
      const now = clock.now()
      const locked = new Set(messages.filter(({ visibleAt }) => visibleAt > now).map(({ group }) => group))
      const spent = messages.filter(
        message => !locked.has(message.group) && message.receivedAt.length >= maxReceives,
      )
      dead.push(...spent)
      messages = messages.filter(message => !spent.includes(message))
      const batch = messages.filter(({ group }) => !locked.has(group)).slice(0, max)
      for (const message of batch) {
        message.receivedAt.push(now)
        message.visibleAt = now + visibility
        clock.after(visibility, changed)
      }
      return batch.map(message => ({ ...message, handle: handleOf(message) }))
    },

    delete(handle: string) {
      const message = inFlight(handle)
      if (message !== undefined) message.deletedAt = clock.now()
      messages = messages.filter(other => other !== message)
      changed()
    },

    changeVisibility(handle: string, ms: number) {
      const message = inFlight(handle)
      if (message === undefined) return
      message.visibleAt = clock.now() + ms
      clock.after(ms, changed)
    },
  }
}

export type Queue = ReturnType<typeof fifoQueue>
