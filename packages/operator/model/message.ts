import { hash } from 'node:crypto'
import { RETENTION_SECONDS } from '@order-relay/deploy/queues.ts'
import type { OrderEvent } from '@order-relay/lib/orders/events.ts'
import { causeOf } from '@order-relay/lib/worker/failing.ts'
import type { Coded } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { browse, type QueueMessage } from '../core/queue.ts'
import { jsonOf } from '../core/webhook.ts'
import type { WaitingCode } from './waiting-texts.ts'

/** The event in a message and its text, or why the relay cannot read it. */
export type Reading = { event: OrderEvent; text: string } | { unreadable: string }

/** A message that waits for an operator: a dead letter or a quarantined one. */
export type Message = {
  raw: QueueMessage
  /** Its queue. */
  queue: string
  /** Where it failed. */
  from: 'order queue' | 'feed' | 'webhook' | 'worker' | 'unknown'
  source?: string | undefined
  external_id?: string | undefined
  event?: string | undefined
  /** Id of the delivery or request. */
  delivery?: string | undefined
  at: Date
  /** Why it failed, if known. */
  error?: string | undefined
  /** The order shows that the message is already done: a replay would change nothing. */
  done?: true | undefined
  /** For a message of a feed: the latest version of its order, if a later one has been published. */
  superseded_by?: number | undefined
  /** The content that the relay received. */
  body: Buffer
  reading: Reading
  /** Additional properties in output. */
  details: Readonly<Record<string, string | number | boolean>>
  /** The exact content, for JSON output. */
  content: object
}

/** What became of a sent message: `quarantined` if the worker could not read it. */
export type Sent = 'replayed' | 'quarantined' | 'failed'

/** A replay that failed, and why. */
export type FailedReplay = { failed: string }

/** The action on a message. */
export type Step =
  /** Sends it. `event` is what the worker will read; `note` says what follows when it reads none. */
  | { outcome: 'replayed'; send: () => Promise<Sent | FailedReplay>; event?: OrderEvent; note: string }
  /** Only deletes it: as requested, or because the same delivery was received again in the meantime. */
  | { outcome: 'discarded' | 'duplicate' }
  /** Keeps it: it is unreadable, of an unknown store, behind another message of its order, or failed again. */
  | { outcome: 'unreadable' | 'foreign' | 'behind' }

export type Outcome = Step['outcome'] | Sent

/** Whether nothing is left to do. */
export const isDone = (outcome: Outcome): boolean =>
  outcome === 'replayed' || outcome === 'duplicate' || outcome === 'discarded'

export const isKept = (outcome: Outcome): boolean => outcome !== 'quarantined' && !isDone(outcome)

/** The commands for messages. */
export const MESSAGE_COMMANDS = ['dead', 'quarantine'] as const

/** The effect of deleting a message, and a command that prevents it. */
export type Deletion = { deletion: Coded<WaitingCode>; prevention?: string }

/** The differences between dead letters and the quarantine. */
export type Kind = {
  command: (typeof MESSAGE_COMMANDS)[number]
  /** The key of the messages in JSON output. */
  key: 'letters' | 'entries'
  /** "No dead letters", "Nothing in quarantine". */
  none: string
  /** "among the visible dead letters", "in quarantine". */
  where: string
  queues: (context: Context) => readonly string[]
  read: (raw: QueueMessage, queue: string) => Message
  /** The columns of a listing, by heading. */
  columns: Readonly<Record<string, (message: Message) => string | number | boolean | Date | undefined>>
  /** Adds the cause of the failure from the tables. */
  explain?: (context: Context) => (message: Message) => Promise<Message>
  /** The effect of deleting a message. */
  whenDeleted?: (context: Context, message: Message) => Promise<Deletion | undefined>
  planner: (context: Context) => (message: Message) => Promise<Step>
  /** Runs before a message is deleted without being handled. */
  beforeDeletion?: (context: Context, message: Message) => Promise<void>
}

/** The messages that a command acts on. */
export type Selection = {
  /** Ids of messages or of the deliveries or requests in them. @default any */
  ids?: readonly string[] | undefined
  source?: string | undefined
  event?: string | undefined
  since?: Date | undefined
  order?: string | undefined
  /** A group of failures, by its name. */
  group?: string | undefined
  /** Only messages that are already done. */
  done?: true | undefined
  /** Maximum number of messages to read from each queue. */
  limit: number
}

/** Ids by which a message can be named. */
export const idsOf = ({ raw, delivery }: Message): readonly string[] =>
  delivery === undefined ? [raw.id] : [raw.id, delivery]

/** The messages with an id that begins with a text, ignoring case. */
export const withId = (messages: readonly Message[], text: string): Message[] => {
  const start = text.trim().toLowerCase()
  return messages.filter(message => idsOf(message).some(id => id.toLowerCase().startsWith(start)))
}

/** The identifying fields of a message, for output. */
export const summaryOf = (message: Message) => {
  const { raw, from, source, external_id, event, delivery, at, error, done, superseded_by, details } = message
  return {
    id: raw.id,
    from,
    source,
    external_id,
    event,
    delivery,
    at,
    error,
    done,
    superseded_by,
    ...details,
  }
}

/** The body for people, indented if it is JSON. */
export const textOf = ({ body }: Message): string => {
  const json = jsonOf(body)
  return json === undefined ? body.toString('utf8') : JSON.stringify(json, null, 2)
}

/** When SQS deletes it. In a FIFO queue, retention restarts when a message becomes a dead letter. */
export const deletedAt = ({ raw }: Message): Date => new Date(raw.sent.getTime() + RETENTION_SECONDS * 1000)

/** The group of a failure: its error or, if unknown, its store and event. */
export const failureOf = ({ from, error, event = 'message', source }: Message): string => {
  if (error !== undefined) return `${from}: ${causeOf(error)}`
  return source === undefined ? `${from}: ${event} without a store` : `${from}: ${event} of ${source}`
}

export const groupOf = (message: Message): string => hash('sha256', failureOf(message)).slice(0, 8)

/** Messages grouped by failure, the most frequent first. */
export const groupsOf = (messages: readonly Message[]) =>
  [...Map.groupBy(messages, groupOf)]
    .map(([group, found]) => {
      const times = found.map(({ at }) => at.getTime())
      return {
        group,
        count: found.length,
        first: new Date(Math.min(...times)),
        last: new Date(Math.max(...times)),
        failure: found.map(failureOf)[0],
      }
    })
    .toSorted((a, b) => b.count - a.count)

/** A message without the field of a filter is not selected. */
const isSelected = (
  message: Message,
  { ids, source, order, event, since, group, done }: Selection,
): boolean =>
  (ids === undefined || idsOf(message).some(id => ids.includes(id))) &&
  (source === undefined || message.source === source) &&
  (order === undefined || message.external_id === order) &&
  (event === undefined || message.event === event) &&
  (group === undefined || groupOf(message) === group) &&
  (done === undefined || message.done === done) &&
  (since === undefined || message.at >= since)

/**
 * Visits the selected messages of every queue of a kind; all others are kept.
 *
 * @returns the total number of messages, and how many of those that are left could not be read
 */
export const visitSelected = async (
  context: Context,
  kind: Kind,
  selection: Selection,
  visit: (message: Message) => Promise<'delete' | 'keep'>,
  skip: (message: Message) => void = () => undefined,
): Promise<{ total: number; hidden: number }> => {
  let total = 0
  let hidden = 0
  const awaited = new Set(selection.ids)
  const explain = kind.explain?.(context)
  // Several messages may contain one delivery.
  const isDone = () => selection.ids !== undefined && awaited.size === 0
  for (const queue of kind.queues(context)) {
    const counts = await browse(
      context,
      queue,
      selection.limit,
      async raw => {
        awaited.delete(raw.id)
        const message = kind.read(raw, queue)
        const explained = (await explain?.(message)) ?? message
        if (isSelected(explained, selection)) return visit(explained)
        skip(explained)
        return 'keep'
      },
      isDone,
    )
    total += counts.total
    hidden += counts.hidden
  }
  return { total, hidden }
}

/** Reads the selected messages, and keeps them. */
export const collect = async (context: Context, kind: Kind, selection: Selection) => {
  const messages: Message[] = []
  const counts = await visitSelected(context, kind, selection, async message => {
    messages.push(message)
    return 'keep'
  })
  return { messages, ...counts }
}
