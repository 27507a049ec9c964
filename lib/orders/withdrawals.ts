import type { Refusal } from '../protocol/errors.ts'
import { doubted, end, endIntents, isDone, isKnown, leaderOf } from './intents.ts'
import type { Intent, Order, RequestKind, WithdrawalMark } from './order.ts'

/**
 * Adds a withdrawal. What waits may have been sent by a worker that died, so the order is read before anything is
 * withdrawn. The same id is the same withdrawal.
 */
export const addWithdrawal = (order: Order, { id, of }: WithdrawalMark): Order => {
  if (isKnown(order, id)) return order
  const intent: Intent = { id, kind: 'withdrawal', of, state: 'waiting' }
  const next: Order = { ...order, intents: [...order.intents, intent] }
  return leaderOf(order, of)?.state === 'waiting' ? doubted(next) : next
}

/**
 * Begins, ahead of their events, the withdrawals of what would be sent now. A mark holds until its event has
 * come, since more requests may stand in front of it.
 */
export const honourMarks = (order: Order): Order =>
  order.withdrawals.reduce((next, mark) => {
    if (leaderOf(next, mark.of)?.state !== 'waiting') return next
    return next.intents.some(({ id, state }) => id === mark.id && state === 'registered')
      ? doubted(next)
      : addWithdrawal(next, mark)
  }, order)

const conflict = (code: string, message: string): Refusal => ({ status: 409, code, message })

/** Decides on the withdrawals, now that the order is known, and withdraws what a mark names. */
export const settleWithdrawals = (order: Order): Order =>
  order.intents
    .filter(
      ({ id, kind, state }) =>
        kind === 'withdrawal' && (state === 'waiting' || order.withdrawals.some(mark => mark.id === id)),
    )
    .reduce(withdraw, order)

const withdraw = (order: Order, withdrawal: Intent): Order => {
  const { of = 'create', state } = withdrawal
  const leader = leaderOf(order, of)
  if (state !== 'waiting') {
    return state === 'registered' && leader?.state === 'waiting' ? withdrawOpen(order, of, leader) : order
  }
  const no = (code: string, message: string) => end(order, withdrawal, 'rejected', conflict(code, message))
  if (leader === undefined) return no('nothing_waits', `No ${of} of this order waits`)
  if (leader.state === 'held') {
    return no('held', 'The accounting service holds the payment and registers it by itself')
  }
  const next = withdrawOpen(order, of, leader)
  return isDone(order, of)
    ? end(next, withdrawal, 'rejected', conflict('registered', `The order has its ${of} already`))
    : end(next, withdrawal, 'registered')
}

const withdrawOpen = (order: Order, kind: RequestKind, { sent }: Intent): Order => {
  if (!isDone(order, kind)) return endIntents(order, kind, 'withdrawn')
  return endIntents(order, kind, sent ? 'registered' : 'duplicate')
}
