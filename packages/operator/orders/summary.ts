import { type Announced, announcedRequests } from '@order-relay/lib/orders/announcements.ts'
import { isRefused, type Order, requestViews } from '@order-relay/lib/orders/order.ts'
import type { Failing, StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { table } from '../core/output.ts'
import type { DeadLetter, DeadLettersOfOrder } from './failing-event.ts'

/** What is known of an order's create: its stage while it is open, or how it ended; undefined without one. */
export const createOf = ({ open: { create }, ended }: Pick<Order, 'open' | 'ended'>) => {
  if (create === undefined) return ended.findLast(({ kind }) => kind === 'create')?.state
  return isRefused(create) ? 'refused' : create.stage
}

/** An order in a list. */
export const summary = (
  { order, updated_at, failing }: StoredOrder,
  { letters }: DeadLettersOfOrder,
  announced: Announced | undefined,
) => ({
  source: order.source,
  external_id: order.external_id,
  status: order.result?.status,
  doubt: order.doubt,
  requests: [...requestViews(order), ...announcedRequests(order, announced)].map(({ kind, state }) => ({
    kind,
    state,
  })),
  updated_at,
  ...(failing && { failing }),
  ...(letters.length > 0 && { dead_letters: letters }),
})

type Summary = ReturnType<typeof summary>

/** When it began, and the error of the failing event or dead letter. */
const failureOf = (failing: Failing | undefined, [letter]: readonly DeadLetter[] = []) => {
  if (letter === undefined) return [failing?.since, failing?.message]
  return [
    letter.since,
    ['dead letter', letter.done && 'already done', letter.error].filter(Boolean).join(': '),
  ]
}

/** A table of orders, with an optional last column. */
export const ordersText = <Order extends Summary>(
  orders: readonly Order[],
  more: Readonly<Record<string, (order: Order) => string>> = {},
) => {
  const fails = orders.some(each => each.failing !== undefined || each.dead_letters !== undefined)
  const failing = fails ? ['FAILING SINCE', 'ERROR'] : []
  return table(
    ['SOURCE', 'ORDER', 'STATUS', 'REQUESTS', 'LAST CHANGE', ...failing, ...Object.keys(more)],
    orders.map(order => [
      order.source,
      order.external_id,
      order.status,
      order.requests
        .filter(({ state }) => state !== 'registered')
        .map(({ kind, state }) => `${kind} ${state}`)
        .join(', '),
      order.updated_at || undefined,
      ...(fails ? failureOf(order.failing, order.dead_letters) : []),
      ...Object.values(more).map(cell => cell(order)),
    ]),
  )
}
