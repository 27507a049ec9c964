import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'
import { deadOf, type ReadDead, readExplained } from '../feeds/dead.ts'
import type { DeadLetter, DeadLetters, DeadLettersOfOrder } from '../model/failing-event.ts'
import type { Message } from '../model/message.ts'

/** Messages by the message group of their order. One that was not sent by the relay may be in another group. */
const byOrder = (messages: readonly Message[]) =>
  Map.groupBy(messages, ({ raw, source, external_id }) =>
    source === undefined || external_id === undefined ? raw.group : messageGroupOf({ source, external_id }),
  )

const letterOf = ({ event, delivery, error, done, superseded_by, queue, at }: Message): DeadLetter => ({
  event,
  delivery,
  error,
  done,
  superseded_by,
  queue,
  since: at.toISOString(),
})

/**
 * Reads the dead letters of orders: their events, and their messages to some stores. Receives from a queue only if it is not
 * empty, since SQS hides received messages. Read the orders first, so that an event that becomes a dead letter in the meantime
 * is found.
 *
 * @param sources the stores whose messages are read. @default none
 * @param read reads the dead letters, for example from a shared reading. @default reads up to 1000
 */
export const deadLettersOf = async (
  context: Context,
  { sources = [], read = readExplained(context) }: { sources?: readonly string[]; read?: ReadDead } = {},
): Promise<DeadLetters> => {
  const [{ attributes, all: orders }, { all: bulk }] = await Promise.all([
    depthOf(context, QUEUES.orders),
    depthOf(context, QUEUES.bulk),
  ])
  // Counted last, so that an event that becomes a dead letter in the meantime is in one of the queues.
  const { all } = await depthOf(context, QUEUES.ordersDead)
  const { maxReceiveCount } = JSON.parse(attributes.RedrivePolicy ?? '{}')
  const maxReceives = Number(maxReceiveCount ?? Number.POSITIVE_INFINITY)
  const { messages, hidden: unread } =
    all === 0 ? { messages: [], hidden: 0 } : await read([QUEUES.ordersDead])
  const stores = context.stores().filter(({ source }) => sources.includes(source))
  const feeds = await deadOf(context, stores, read)
  const byGroup = byOrder(messages.filter(({ from }) => from === 'order queue'))
  const undelivered = byOrder(feeds.messages)
  const find = (order: OrderKey): DeadLettersOfOrder => ({
    letters: (byGroup.get(messageGroupOf(order)) ?? []).map(letterOf),
    undelivered: (undelivered.get(messageGroupOf(order)) ?? []).map(letterOf),
    unread,
    maxReceives,
    queued: { orders, bulk },
  })
  const waiting = [...byGroup.values()].filter(found => found.some(({ done }) => done !== true))
  return Object.assign(find, { orders: waiting.length, unread })
}
