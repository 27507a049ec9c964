import type { OrderEvent } from '../../lib/orders/events.ts'
import type { Context } from '../core/context.ts'
import { browse, type QueueMessage } from '../core/queue.ts'

/** The event in a message and its text, or why the relay cannot read it. */
export type Reading = { event: OrderEvent; text: string } | { unreadable: string }

/** A message that waits for a person's decision: a dead letter, or one in quarantine. */
export type Message = {
  raw: QueueMessage
  /** The queue it is in. */
  queue: string
  /** Where it failed. */
  from: 'order queue' | 'feed' | 'webhook' | 'worker' | 'unknown'
  source?: string | undefined
  external_id?: string | undefined
  event?: string | undefined
  /** Id of the delivery or request. */
  delivery?: string | undefined
  at: Date
  /** What the relay received. */
  body: Buffer
  reading: Reading
  /** Additional properties in output. */
  details: Readonly<Record<string, string | number | boolean>>
  /** The exact content, for JSON output. */
  content: object
}

/** What a replay does with a message. */
export type Plan =
  /**
   * Sends it; `send` resolves to false when it failed again. `event` is what the worker will read; `note` says what
   * follows when it reads none.
   */
  | { outcome: 'replayed'; send: () => Promise<boolean>; event?: OrderEvent; note: string }
  /** Only deletes it: the same delivery was received again in the meantime. */
  | { outcome: 'duplicate' }
  /** Keeps it: unreadable, of no store in stores.yml, behind another message of its order, or failed again. */
  | { outcome: 'unreadable' | 'foreign' | 'behind' | 'failed' }

/** What distinguishes dead letters from the quarantine. */
export type Kind = {
  command: 'dead' | 'quarantine'
  /** The key of the messages in JSON output. */
  key: 'letters' | 'entries'
  /** "No dead letters", "Nothing in quarantine". */
  none: string
  /** "among the visible dead letters", "in quarantine". */
  where: string
  queues: (context: Context) => readonly string[]
  read: (raw: QueueMessage, queue: string) => Message
  /** The columns of a listing, by heading. */
  columns: Readonly<Record<string, (message: Message) => string | number | boolean | undefined>>
  planner: (context: Context) => (message: Message) => Promise<Plan>
}

/** Which messages a command acts on. */
export type Selection = {
  /** Ids of messages or of the deliveries or requests in them; empty for any. */
  ids: readonly string[]
  source?: string | undefined
  event?: string | undefined
  since?: Date | undefined
  order?: string | undefined
  /** Maximum number of messages to read from each queue. */
  limit: number
}

/** Ids by which a message can be named. */
export const idsOf = ({ raw, delivery }: Message): readonly string[] =>
  delivery === undefined ? [raw.id] : [raw.id, delivery]

/** A message that does not say what a filter asks for is not selected. */
const isSelected = (message: Message, { ids, source, order, event, since }: Selection): boolean =>
  (ids.length === 0 || idsOf(message).some(id => ids.includes(id))) &&
  (source === undefined || message.source === source) &&
  (order === undefined || message.external_id === order) &&
  (event === undefined || message.event === event) &&
  (since === undefined || message.at >= since)

/**
 * Visits the selected messages of every queue of a kind; all others are kept.
 *
 * @returns how many messages there are in all, and how many of them could not be read
 */
export const visitSelected = async (
  context: Context,
  kind: Kind,
  selection: Selection,
  visit: (message: Message) => Promise<'delete' | 'keep'>,
  skip: (message: Message) => void = () => undefined,
): Promise<{ total: number; hidden: number }> => {
  let total = 0
  let visited = 0
  for (const queue of kind.queues(context)) {
    total += await browse(context, queue, selection.limit, async raw => {
      visited++
      const message = kind.read(raw, queue)
      if (isSelected(message, selection)) return visit(message)
      skip(message)
      return 'keep'
    })
  }
  return { total, hidden: Math.max(0, total - visited) }
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
