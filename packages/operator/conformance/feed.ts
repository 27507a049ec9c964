import type { Finding } from '../core/findings.ts'
import type { Sent } from '../model/sample-messages.ts'

export type Remedy = NonNullable<Finding['remedy']>

/** What a store did wrong, and how to fix it if the check does not say. */
export type Fault = {
  wrong: string | false | undefined
  remedy?: Remedy
  /** How to fix it if this was the first message, before the store has shown that it can handle any. */
  firstRemedy?: Remedy
}

/** Delivers the messages of the checks to a store, as the relay does. */
export type Feed = {
  /** The remedy for a store that does not handle the first message, if the fault has none. */
  startRemedy: Remedy
  /** The remedy for a store that loses a message that it could not handle, or handles a later one first. */
  failureRemedy: Remedy
  /** The remedy for a store that loses or repeats changes when it is killed. */
  killRemedy: Remedy
  /** What the store did wrong if it did not handle a message that is neither waiting nor refused. */
  lost: (message: Sent) => Fault
  /** The same for a store that was killed, which may have handled the message without logging it. */
  lostAtKill: Feed['lost']
  /**
   * Publishes messages; does not wait for a store that is down.
   *
   * @param onAcknowledged called at each acknowledgement, which a queue does not show
   */
  publish: (messages: readonly Sent[], onAcknowledged?: () => void) => Promise<void>
  /** Resolves once all published messages are acknowledged, otherwise with the reason. */
  settle: () => Promise<Fault | undefined>
  /** Removes a message that the store could not handle and left in the queue, ahead of the next one, if it did. */
  takeBack: (message: Sent, behind: Sent) => Promise<'yes' | 'no' | Fault>
  /** Starts the store, if the command may; resolves once it is reachable and waiting messages are being sent. */
  resume: (start: () => Promise<unknown>) => Promise<void>
}

export const LOST_OR_UNLOGGED =
  'either the change is lost, or the store was killed after it had applied the change and before it logged it'

/** Begins the remedy for a store that is killed. */
export const IN_TRANSACTION =
  'handle the message and write the log in one transaction, or print the delivery before the commit'
