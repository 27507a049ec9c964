import type { Failing } from '@order-relay/lib/orders/stored.ts'
import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'
import { DEAD_LETTERS } from '../dead-letters/kinds.ts'
import { collect, type Message } from '../dead-letters/message.ts'

/** An event of an order in the dead-letter queue. Times are ISO 8601. */
export type DeadLetter = Pick<Message, 'event' | 'delivery' | 'error' | 'done'> & { since: string }

/** The dead letters of an order. */
export type DeadLettersOfOrder = {
  letters: readonly DeadLetter[]
  /** The number of dead letters, of any order, that could not be read. */
  unread: number
  /** The number of receives after which an event becomes a dead letter. */
  maxReceives: number
  /** The approximate number of events in the queues from which they are processed. */
  queued: Readonly<Record<Failing['queue'], number>>
}

type Reading = Pick<Awaited<ReturnType<typeof collect>>, 'messages' | 'hidden'>

/** Finds the dead letters of an order in a reading; `orders` is the number of orders with dead letters. */
export type DeadLetters = ((order: OrderKey) => DeadLettersOfOrder) & { orders: number }

/** Maximum number of dead letters to read for the state of orders. */
const LIMIT = 1000

const readNow = (context: Context) =>
  collect(context, { ...DEAD_LETTERS, queues: () => [QUEUES.ordersDead] }, { limit: LIMIT })

/**
 * Reads the dead letters of orders. Receives from the queue only if it is not empty, since SQS hides received messages.
 * Read the orders first, so that an event that becomes a dead letter in the meantime is found.
 *
 * @param read reads the dead letters, for example from a shared reading. @default reads up to 1000
 */
export const deadLettersOf = async (
  context: Context,
  read: () => Promise<Reading> = () => readNow(context),
): Promise<DeadLetters> => {
  const [{ attributes, all: orders }, { all: bulk }] = await Promise.all([
    depthOf(context, QUEUES.orders),
    depthOf(context, QUEUES.bulk),
  ])
  // Counted last, so that an event that becomes a dead letter in the meantime is in one of the queues.
  const { all } = await depthOf(context, QUEUES.ordersDead)
  const { maxReceiveCount } = JSON.parse(attributes.RedrivePolicy ?? '{}')
  const maxReceives = Number(maxReceiveCount ?? Number.POSITIVE_INFINITY)
  const { messages, hidden: unread } = all === 0 ? { messages: [], hidden: 0 } : await read()
  const byGroup = Map.groupBy(
    messages.filter(({ from }) => from === 'order queue'),
    ({ raw }) => raw.group,
  )
  const find = (order: OrderKey): DeadLettersOfOrder => ({
    letters: (byGroup.get(messageGroupOf(order)) ?? []).map(({ event, delivery, error, done, at }) => ({
      event,
      delivery,
      error,
      done,
      since: at.toISOString(),
    })),
    unread,
    maxReceives,
    queued: { orders, bulk },
  })
  return Object.assign(find, { orders: byGroup.size })
}
