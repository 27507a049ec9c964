import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'
import { QUARANTINE } from '../dead-letters/quarantine.ts'
import { collect, type Message } from '../model/message.ts'

/** Maximum number of messages to read. */
const MOST = 1000

/** Receives from the quarantine only if it is not empty, since SQS hides received messages. */
const readNow = async (context: Context): Promise<readonly Message[]> => {
  const { all } = await depthOf(context, QUEUES.quarantine)
  return all === 0 ? [] : (await collect(context, QUARANTINE, { limit: MOST })).messages
}

/**
 * The ids of an order's messages in the quarantine, for example of a webhook that its headers contradict.
 *
 * @param read reads the quarantine. @default up to 1000 messages
 */
export const quarantinedOf = async (
  context: Context,
  { source, external_id }: OrderKey,
  read: () => Promise<readonly Message[]> = () => readNow(context),
): Promise<string[]> =>
  (await read()).flatMap(({ raw, ...message }) =>
    message.source === source && message.external_id === external_id ? [raw.id] : [],
  )
