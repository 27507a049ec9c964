import type { Answer } from '../../lib/orders/absorb.ts'
import type { Wish } from '../../lib/orders/order.ts'
import { jsonOf } from '../queues/said.ts'

type Result = Extract<Answer, { answer: 'result' }>['result']

/** An order as the service has it: its result, or why there is none. */
export type AtService = { result: Result } | { unknown: { status: number; message: string } }

/** What a change would do at the service: its answer, the order afterwards, and in words. */
export type Presumed = { answer: Answer; after: AtService; outcome: string }

const STATUS_AFTER = { create: 'invoiced', payment: 'paid', refund: 'refunded' } as const

/** Statuses in which a request registers nothing (spec: States and transitions). */
const NOTHING_LEFT: Readonly<Record<Wish, readonly string[]>> = {
  create: ['needs_review', 'invoiced', 'paid', 'refunded'],
  payment: ['paid', 'refunded'],
  refund: ['refunded'],
}

const isPaid = (request: string) => {
  const json = jsonOf(request)
  return typeof json === 'object' && json !== null && 'payment' in json && json.payment !== null
}

/**
 * What the service would answer to a change, by the transitions of the spec. That a new order cannot be
 * finalized, or is refused for what it says, only the service knows.
 *
 * @param now the order as the service has it
 */
export const presume = (
  to: Wish,
  request: string,
  order: { source: string; external_id: string },
  now: AtService,
): Presumed => {
  if ('unknown' in now) {
    if (to !== 'create') {
      return {
        answer: { to, answer: 'unknown order', reason: now.unknown },
        after: now,
        outcome: `rejected, for the service does not know the order`,
      }
    }
    const status = isPaid(request) ? 'paid' : STATUS_AFTER.create
    const result = { source: order.source, external_id: order.external_id, status }
    return { answer: { to, answer: 'result', result }, after: { result }, outcome: `presumably "${status}"` }
  }

  const { result } = now
  if (NOTHING_LEFT[to].includes(result.status)) {
    return {
      answer: { to, answer: 'result', result },
      after: now,
      outcome: `registers nothing, it is "${result.status}"`,
    }
  }
  if (result.status === 'needs_review') {
    const reason = { status: 400, message: 'the invoice is not finalized' }
    const outcome =
      to === 'payment' ? 'held until the invoice is finalized' : 'refused until the invoice is finalized'
    return { answer: { to, answer: 'refused', reason }, after: now, outcome }
  }
  const after = { ...result, status: STATUS_AFTER[to] }
  return {
    answer: { to, answer: 'result', result: after },
    after: { result: after },
    outcome: `presumably "${after.status}"`,
  }
}
