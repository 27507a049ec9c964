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

/**
 * Takes one message of the order line: absorbs it, asks the service for whatever follows from it, tells the
 * store and keeps the order (promises P6–P9).
 *
 * Told first, kept second: a crash in between tells the same again. Whatever is news is told and kept before
 * the next call, so that a crash can cut short one piece of news and never a row of them, of which it could
 * not be known how many a store has heard. When the service cannot be asked, what is known by then is told
 * and kept all the same, and then the failure is passed on, so that the message comes again.
 */
export const advance = async (message: LineMessage, { orders, ask, tell, now }: Ports): Promise<Advanced> => {
  const { source, external_id } = message.data
  const held = await orders.get({ source, external_id })
  let kept = held?.order ?? newOrder({ source, external_id })
  let revision = held?.revision ?? 0
  let messages = 0

  const keep = async (order: Order): Promise<Order> => {
    if (isDeepStrictEqual(kept, order)) return order
    for (const news of feedMessages(order, message)) await tell(news)
    messages += order.news.length
    kept = told(order)
    await orders.save(kept, revision++, now())
    return kept
  }

  let order = absorb(kept, message)
  let calls = 0
  let failure: { error: unknown } | undefined
  for (let call = plan(order); call !== undefined && failure === undefined; call = plan(order)) {
    if (order.news.length > 0) order = await keep(order)
    try {
      if (calls === MAX_CALLS) throw new Error(`Cannot settle order: ${MAX_CALLS} calls did not suffice`)
      calls++
      order = absorb(order, await ask(call, order))
    } catch (error) {
      failure = { error }
    }
  }
  await keep(order)
  if (failure !== undefined) throw failure.error
  return { changed: revision > (held?.revision ?? 0), calls, told: messages, status: order.result?.status }
}
