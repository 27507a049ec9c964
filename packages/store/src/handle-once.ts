import { assertArguments, BOOLEAN } from './arguments.ts'
import type { FeedMessage } from './messages.ts'
import type { Once } from './once.ts'

/** Handles a message once. @throws ArgumentError if `once` does not resolve to a boolean, since it may not have handled it */
export const handleOnce = async <Transaction>(
  once: Once<Transaction>,
  message: FeedMessage,
  handle: (message: FeedMessage, transaction: Transaction) => unknown,
): Promise<void> => {
  const result: unknown = await once(message, transaction => handle(message, transaction))
  assertArguments('acknowledge the message', { 'the result of once': [result, BOOLEAN] })
}
