import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'
import { deadOf, type ReadDead, readExplained } from '../feeds/dead.ts'
import type { DeadLetter, DeadLetters, DeadLettersOfOrder } from '../model/failing-event.ts'
import type { Message } from '../model/message.ts'

/** The message group of the order that a message names. One that was not sent by the relay may be in another group. */
const groupOf = ({ source, external_id }: Message) =>
  source === undefined || external_id === undefined ? undefined : messageGroupOf({ source, external_id })

const byOrder = (messages: readonly Message[]) =>
  Map.groupBy(messages, message => groupOf(message) ?? message.raw.group)

const letterOf = ({ raw, event, delivery, error, done, superseded_by, queue, at }: Message): DeadLetter => ({
  id: raw.id,
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
  const events = messages.filter(({ from }) => from === 'order queue')
  const byGroup = byOrder(events)
  const undelivered = byOrder(feeds.messages)
  const find = (order: OrderKey): DeadLettersOfOrder => ({
    letters: (byGroup.get(messageGroupOf(order)) ?? []).map(letterOf),
    undelivered: (undelivered.get(messageGroupOf(order)) ?? []).map(letterOf),
    unread,
    maxReceives,
    queued: { orders, bulk },
  })
  const named = events.filter(event => groupOf(event) !== undefined)
  const waiting = new Set(named.filter(({ done }) => done !== true).map(groupOf)).size
  return Object.assign(find, { orders: waiting, unnamed: events.length - named.length, unread, maxReceives })
}
