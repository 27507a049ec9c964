import type { Promised } from '../../proof/storm/live.ts'
import type { Life } from '../../proof/storm/lives.ts'
import type { Source } from '../../proof/storm/parts.ts'
import { orderOf } from '../../proof/storm/service.ts'
import type { Relay } from './relay.ts'

export type Lived = Life & { promised: Promised }

/** An order that a store books by the relay, that needs a review, and that will be mended, paid and, maybe, returned. */
export const lifeOf = (id: string, source: Source, { returns = false } = {}): Lived => ({
  ...{ id, source, bookedBy: 'relay', unknownProduct: false, paidAtOnce: false },
  ...{ review: true, mendedAfter: 0, pays: true, returns, repeats: 'never', thinks: [0, 0, 0] },
  promised: { create: true, payment: true, ...(returns && { refund: true }) },
})

const BODIES = {
  create: ({ id, source }: Life) => ({ path: '', body: orderOf(source, id, false) }),
  payment: ({ id, source }: Life) => ({ path: `${id}/payment/`, body: { source, method: 'card' } }),
  refund: ({ id, source }: Life) => ({ path: `${id}/refund/`, body: { source, reason: 'under fire' } }),
}

/** The store asks the relay for something once; answers with the status. */
export const asks = ({ ask }: Relay, life: Life, wish: keyof typeof BODIES): Promise<number> => {
  const { path, body } = BODIES[wish](life)
  return ask('POST', life.source, path, body)
}

/** The order is booked and stands in review, and its payment is held. */
export const inReview = async (relay: Relay, life: Life): Promise<void> => {
  await relay.sandbox.stock(life.id, 0)
  for (const wish of ['create', 'payment'] as const) {
    const status = await asks(relay, life, wish)
    if (status !== 202) throw new Error(`Cannot begin: the ${wish} was answered ${status}`)
  }
  await relay.work()
}
