import { isOpen, type Order } from './order.ts'

/**
 * Whether nothing more is expected to happen to an order by itself. While it is in review, or something a
 * store asked for is open, a webhook is expected, and one that never comes must be found (promise P10).
 */
export const isSettled = ({ result, doubt, intents }: Order): boolean =>
  !doubt && result?.status !== 'needs_review' && !Object.values(intents).some(isOpen)
