import type { OrderEvent } from '../../lib/orders/events.ts'
import type { Context } from '../core/context.ts'
import type { QueueMessage } from '../core/queue.ts'

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
  /** Why it was quarantined. */
  reason?: string
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
  /** "no dead letters", "nothing in quarantine". */
  none: string
  /** "among the dead letters", "in quarantine". */
  where: string
  queues: readonly string[]
  read: (raw: QueueMessage, queue: string) => Message
  /** Additional properties of a message in output. */
  details: (message: Message) => Readonly<Record<string, string | number | boolean | undefined>>
  /** The columns of a listing, by heading. */
  columns: Readonly<Record<string, (message: Message) => string | number | undefined>>
  /** The exact content of a message, for JSON output. */
  content: (message: Message) => object
  planner: (context: Context) => (message: Message) => Promise<Plan>
}
