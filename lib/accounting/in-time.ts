import { TIMEOUT_MS } from './client.ts'
import { AccountingError } from './errors.ts'

/** What saving an order and telling its store may take after a call. */
const AFTERWARDS_MS = 4000

/**
 * Makes a call only while there is time for its whole timeout and for keeping what it says. A function that
 * is cut off in the middle would bring back its whole batch, other orders too.
 *
 * @param left milliseconds until the function is cut off
 */
export const whileTimeIsLeft =
  <Call extends unknown[], Answer>(ask: (...call: Call) => Promise<Answer>, left: () => number) =>
  async (...call: Call): Promise<Answer> => {
    if (left() < TIMEOUT_MS + AFTERWARDS_MS) {
      throw new AccountingError('unavailable', 'No time is left for another call in this run')
    }
    return ask(...call)
  }
