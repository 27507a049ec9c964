import { messageGroupOf } from '@order-relay/lib/platform/fifo.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { Context } from '../core/context.ts'
import { depthOf } from '../core/queue.ts'
import { DEAD_LETTERS } from '../dead-letters/dead.ts'
import { collect } from '../dead-letters/message.ts'
import type { DeadLetters, DeadLettersOfOrder } from './failing-event.ts'

type Reading = Pick<Awaited<ReturnType<typeof collect>>, 'messages' | 'hidden'>

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
  const waiting = [...byGroup.values()].filter(found => found.some(({ done }) => done !== true))
  return Object.assign(find, { orders: waiting.length })
}
