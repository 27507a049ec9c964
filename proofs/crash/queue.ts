import type { Clock } from './clock.ts'

export type QueuedMessage = {
  id: string
  group: string
  /** Empty once the message is deleted. */
  body: string
  sentAt: number
  /** Invisible until this time. */
  visibleAt: number
  /** The times of the receives. */
  receivedAt: number[]
  /** The times at which a change of its visibility made the message visible. */
  releasedAt: number[]
  deletedAt?: number
}

/** A received message; the receipt handle is valid until the message is received again. */
export type Received = QueuedMessage & { handle: string }

export type QueueOptions = {
  /** The visibility timeout, in milliseconds. */
  visibility: number
  /** Number of receives after which a message moves to the dead-letter queue. */
  maxReceives: number
  /** @default '' */
  name?: string
  /** Called with each stored message, but not with dropped duplicates. */
  onStored?: (message: QueuedMessage) => void
  /** Whether to remember deleted messages. @default false */
  remembers?: boolean
}

const FIVE_MINUTES = 5 * 60 * 1000

/** The maximum number of in-flight messages of a FIFO queue; above it, SQS returns none, without an error. */
const MAX_IN_FLIGHT = 120_000

/**
 * A model of an SQS FIFO queue: drops duplicates within five minutes, delivers the messages of a group in sequence and
 * none while one of them is in flight, and moves messages received too often to its dead letters.
 */
export const fifoQueue = (
  clock: Pick<Clock, 'now' | 'after'>,
  { visibility, maxReceives, name = '', onStored, remembers = false }: QueueOptions,
) => {
  const groups = new Map<string, QueuedMessage[]>()
  /** Groups without a message in flight, in the sequence in which they became ready. */
  const ready = new Set<string>()
  const stored = new Map<string, QueuedMessage>()
  /** Received, but neither deleted nor visible again. */
  const flying = new Set<QueuedMessage>()
  const dead: QueuedMessage[] = []
  const history: QueuedMessage[] = []
  /** The expiry of each deduplication id, earliest first. */
  const deduplicated = new Map<string, number>()
  const listeners: (() => void)[] = []
  let count = 0
  let longestWait = 0
  const changed = () => {
    for (const listener of listeners) listener()
  }
  const messagesOf = (group: string) => groups.get(group) ?? []
  const handleOf = ({ id, receivedAt }: QueuedMessage) => `${id} ${receivedAt.length}`
  const inFlight = (handle: string) => {
    const message = stored.get(handle.slice(0, handle.indexOf(' ')))
    return message !== undefined && handleOf(message) === handle && message.visibleAt > clock.now()
      ? message
      : undefined
  }
  const remove = (message: QueuedMessage) => {
    stored.delete(message.id)
    flying.delete(message)
    const rest = messagesOf(message.group).filter(other => other !== message)
    if (rest.length > 0) groups.set(message.group, rest)
    else groups.delete(message.group)
  }
  /** Makes a group ready unless one of its messages is in flight. */
  const release = (group: string) => {
    const messages = messagesOf(group)
    if (messages.length === 0) ready.delete(group)
    else if (messages.every(({ visibleAt }) => visibleAt <= clock.now())) ready.add(group)
    changed()
  }
  const hide = (message: QueuedMessage, ms: number) => {
    message.visibleAt = clock.now() + ms
    flying.add(message)
    clock.after(ms, () => {
      if (!stored.has(message.id) || message.visibleAt > clock.now()) return
      flying.delete(message)
      release(message.group)
    })
  }

  return {
    name,
    onChange: (listener: () => void) => void listeners.push(listener),
    /** Lets the readers poll again, for example after an outage. */
    wake: changed,
    /** The longest time from sending a message to its deletion, in milliseconds. */
    longestWait: () => longestWait,
    waiting: () => [...stored.values()],
    dead: () => dead,
    /** All messages ever stored, if remembered. */
    history: () => history,

    /**
     * @param message.age the time that the message has already been in the queue, in milliseconds
     * @param message.receivedAt the times of earlier receives
     */
    send({
      group,
      dedup,
      body,
      age = 0,
      receivedAt = [],
    }: Pick<QueuedMessage, 'group' | 'body'> & { dedup: string; age?: number; receivedAt?: number[] }) {
      const now = clock.now()
      for (const [key, until] of deduplicated) {
        if (until > now) break
        deduplicated.delete(key)
      }
      const key = `${group} ${dedup}`
      if (deduplicated.has(key)) return
      deduplicated.set(key, now + FIVE_MINUTES)
      const sentAt = now - age
      const message: QueuedMessage = {
        id: `${name}#${++count}`,
        group,
        body,
        sentAt,
        visibleAt: sentAt,
        receivedAt,
        releasedAt: [],
      }
      stored.set(message.id, message)
      const messages = groups.get(group)
      if (messages === undefined) groups.set(group, [message])
      else messages.push(message)
      if (remembers) history.push(message)
      onStored?.(message)
      release(group)
    },

    /** Returns up to `max` messages: every message of a group before the next group. */
    receive(max: number): Received[] {
      const now = clock.now()
      const batch: QueuedMessage[] = []
      if (flying.size >= MAX_IN_FLIGHT) return []
      for (const group of ready) {
        for (const spent of messagesOf(group).filter(each => each.receivedAt.length >= maxReceives)) {
          dead.push(spent)
          remove(spent)
        }
        batch.push(...messagesOf(group).slice(0, max - batch.length))
        ready.delete(group)
        if (batch.length === max) break
      }
      for (const message of batch) {
        message.receivedAt.push(now)
        hide(message, visibility)
      }
      return batch.map(message => ({ ...message, handle: handleOf(message) }))
    },

    delete(handle: string) {
      const message = inFlight(handle)
      if (message === undefined) return
      message.deletedAt = clock.now()
      longestWait = Math.max(longestWait, message.deletedAt - message.sentAt)
      remove(message)
      release(message.group)
    },

    /** Returns whether the message was in flight. */
    changeVisibility(handle: string, ms: number): boolean {
      const message = inFlight(handle)
      if (message !== undefined) hide(message, ms)
      if (ms === 0) message?.releasedAt.push(clock.now())
      return message !== undefined
    },
  }
}

export type Queue = ReturnType<typeof fifoQueue>
