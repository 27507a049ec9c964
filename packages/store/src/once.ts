import { assertArguments, COUNT, FUNCTION, isObject, type Kind, OBJECT, optional, TEXT } from './arguments.ts'
import type { FeedMessage } from './messages.ts'

/** What a store remembers of an order: the last version and its handled messages. */
export type Seen = { version: number; deliveries: readonly string[] }

const SEEN: Kind = [
  'what it returned for the last message, or undefined',
  value => isObject(value) && COUNT[1](value.version) && Array.isArray(value.deliveries),
]

/**
 * What to remember after a message; undefined if the message or a higher version was already handled. Messages of one
 * version differ in `delivery`.
 *
 * @example
 * ```ts
 * import { nextSeen } from 'order-relay-store'
 *
 * const seen = nextSeen(undefined, { version: 2, delivery: 'b' })
 * console.log(seen?.version) // 2
 * console.log(nextSeen(seen, { version: 1, delivery: 'a' })) // undefined
 * ```
 */
export const nextSeen = (
  seen: Seen | undefined,
  message: Pick<FeedMessage, 'version' | 'delivery'>,
): Seen | undefined => {
  assertArguments('compare versions', { seen: [seen, optional(SEEN)], message: [message, OBJECT] })
  const { version, delivery } = message
  assertArguments('compare versions', { version: [version, COUNT], delivery: [delivery, TEXT] })
  if (seen === undefined || version > seen.version) return { version, deliveries: [delivery] }
  if (version < seen.version || seen.deliveries.includes(delivery)) return undefined
  return { version, deliveries: [...seen.deliveries, delivery] }
}

/**
 * Calls `handle` unless {@link nextSeen} returns undefined, and remembers the message, in one transaction of the
 * store's database, which is passed to `handle`. Calls for one order must not overlap. Resolves to whether `handle` was called.
 */
export type Once<Transaction = undefined> = (
  message: FeedMessage,
  handle: (transaction: Transaction) => unknown,
) => Promise<boolean>

/** How the messages of a feed are handled. */
export type Handling<Transaction> = {
  /** Called once for each message, in the sequence of an order's versions. If it throws, the message is redelivered. */
  handle: (message: FeedMessage, transaction: Transaction) => unknown
  /** Called with every failure; the feed then continues. @default console.error */
  onError?: (error: unknown) => void
} & (undefined extends Transaction
  ? {
      /** Remembers the versions. @default in memory, lost at a restart */
      once?: Once<Transaction>
    }
  : { once: Once<Transaction> })

/**
 * Remembers in memory, for tests and for handlers that may be repeated after a restart.
 *
 * @example
 * ```ts
 * import { onceInMemory } from 'order-relay-store'
 * import { orderUpdated } from 'order-relay-store/testing'
 *
 * const once = onceInMemory()
 * const message = orderUpdated({ external_id: '1001' })
 * console.log(await once(message, () => undefined)) // true
 * console.log(await once(message, () => undefined)) // false
 * ```
 */
export const onceInMemory = (): Once => {
  const orders = new Map<string, Seen>()
  const last = new Map<string, Promise<unknown>>()
  return async (message, handle) => {
    assertArguments('handle a message', { message: [message, OBJECT], handle: [handle, FUNCTION] })
    const { source, external_id } = message.data
    const order = JSON.stringify([source, external_id])
    const run = async () => {
      const seen = nextSeen(orders.get(order), message)
      if (seen === undefined) return false
      await handle(undefined)
      orders.set(order, seen)
      return true
    }
    const result = (last.get(order) ?? Promise.resolve()).then(run)
    const settled = result.catch(() => undefined)
    last.set(order, settled)
    settled.finally(() => last.get(order) === settled && last.delete(order))
    return result
  }
}
