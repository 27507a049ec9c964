import type { LineMessage } from '../../lib/line/messages.ts'
import { type Answer, absorb } from '../../lib/orders/absorb.ts'
import type { Order } from '../../lib/orders/order.ts'
import { type Call, plan } from '../../lib/orders/plan.ts'
import { type AtService, presume } from './presumed.ts'

/** As many as the worker makes for one message. */
const MAX_CALLS = 12

/** A call that the worker would make, and what would come of it. */
export type ForeseenCall = { to: Call['to']; request?: string; outcome: string }

/** An order here and at the service. */
export type Seen = { order: Order; service: AtService }

const readAnswer = (service: AtService): Answer =>
  'unknown' in service
    ? { to: 'read', answer: 'unknown order', reason: service.unknown }
    : { to: 'read', answer: 'result', result: service.result }

const readText = (service: AtService) =>
  'unknown' in service ? 'not known there' : `"${service.result.status}"`

/**
 * Which calls to the accounting service a message would lead to, by the worker's own rules, and what would
 * come of them, by the spec's. Pure: no call is made.
 */
export const foresee = (before: Seen, message: LineMessage): Seen & { calls: ForeseenCall[] } => {
  const calls: ForeseenCall[] = []
  let { service } = before
  let order = absorb({ ...before.order, news: [] }, message)
  for (let call = plan(order); call !== undefined && calls.length < MAX_CALLS; call = plan(order)) {
    if (call.to === 'read') {
      calls.push({ to: 'read', outcome: readText(service) })
      order = absorb(order, readAnswer(service))
      continue
    }
    const { answer, after, outcome } = presume(call.to, call.request, order, service)
    calls.push({ to: call.to, request: call.request, outcome })
    service = after
    order = absorb(order, answer)
  }
  return { order, service, calls }
}
