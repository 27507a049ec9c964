import { isDeepStrictEqual } from 'node:util'
import { feedMessages, told } from '../feeds/message.ts'
import type { Tell } from '../feeds/sqs.ts'
import type { LineMessage } from '../line/messages.ts'
import type { OrderKey } from '../protocol/order.ts'
import { type Answer, absorb } from './absorb.ts'
import { newOrder, type Order } from './order.ts'
import { type Call, plan } from './plan.ts'
import type { Orders } from './table.ts'

/** A payment and a refund, each tried twice with a read behind, and a create: more is a loop. */
const MAX_CALLS = 12

export type Ports = {
  orders: Orders
  /** Asks the accounting service; rejects when it gives no answer that says anything of the order. */
  ask: (call: Call, order: OrderKey) => Promise<Answer>
  tell: Tell
  now: () => Date
}

export type Advanced = { changed: boolean; calls: number; told: number; status: string | undefined }

const same = (a: Order, b: Order) =>
  isDeepStrictEqual({ ...a, news: [] }, { ...b, news: [] }) && a.news.length === b.news.length

/**
 * Takes one message of the order line: absorbs it, asks the service for whatever follows from it, tells the
 * store and keeps the order (promises P6–P9).
 *
 * Told first, saved second: a crash in between tells the same again. When the service cannot be asked, what
 * is known by then is told and kept all the same, and then the failure is passed on, so that the message
 * comes again.
 */
export const advance = async (message: LineMessage, { orders, ask, tell, now }: Ports): Promise<Advanced> => {
  const { source, external_id } = message.data
  const held = await orders.get({ source, external_id })
  const before = held?.order ?? newOrder({ source, external_id })

  let order = absorb(before, message)
  let calls = 0
  let failure: { error: unknown } | undefined
  try {
    for (let call = plan(order); call !== undefined; call = plan(order)) {
      if (calls === MAX_CALLS) throw new Error(`Cannot settle order: ${MAX_CALLS} calls did not suffice`)
      calls++
      order = absorb(order, await ask(call, order))
    }
  } catch (error) {
    failure = { error }
  }

  const changed = !same(before, order)
  const messages = feedMessages(order, message)
  for (const news of messages) await tell(news)
  if (changed) await orders.save(told(order), held?.revision ?? 0, now())
  if (failure !== undefined) throw failure.error
  return { changed, calls, told: messages.length, status: order.result?.status }
}
