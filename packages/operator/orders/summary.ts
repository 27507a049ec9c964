import { type Announced, announcedRequests } from '@order-relay/lib/orders/announcements.ts'
import { isRefused, type Order, requestViews } from '@order-relay/lib/orders/order.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { table } from '../core/output.ts'
import type { DeadLetter, DeadLettersOfOrder } from '../model/failing-event.ts'
import { isBeingWithdrawn } from '../model/reasons.ts'

/** The state of a request, for output: "duplicate" alone could mean that the service has registered the request. */
export const stateText = (state: string): string =>
  state === 'duplicate' ? 'duplicate (nothing was left to do)' : state

/** What is known of an order's create: its stage while it is open, or how it ended; undefined without one. */
export const createOf = (order: Order, announced?: Announced) => {
  const { create } = order.open
  if (create === undefined) return order.ended.findLast(({ kind }) => kind === 'create')?.state
  if (isRefused(create)) return 'refused'
  return create.stage === 'unsent' && isBeingWithdrawn(create, { order }, announced)
    ? 'being withdrawn'
    : create.stage
}

/** An order in a list. */
export const summary = (
  { order, updated_at, failing }: StoredOrder,
  { letters, undelivered }: DeadLettersOfOrder,
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
  ...(undelivered.length > 0 && { undelivered }),
})

type Summary = ReturnType<typeof summary>

const letterText = (what: string, { done, error }: DeadLetter) =>
  [what, done && 'already done', error].filter(Boolean).join(': ')

/**
 * The start and the error of the failure: of a dead letter, of the failing event, or of a message that the store has
 * not received.
 */
const failureOf = ({ failing, dead_letters, undelivered }: Summary) => {
  const [letter] = dead_letters ?? []
  const [message] = undelivered ?? []
  if (letter !== undefined) return [letter.since, letterText('dead letter', letter)]
  if (failing !== undefined || message === undefined) return [failing?.since, failing?.message]
  return [message.since, letterText('dead letter to the store', message)]
}

/** The requests of an order, such as "create registered, payment waiting (2)". */
const requestsText = ({ requests }: Pick<Summary, 'requests'>) =>
  [...Map.groupBy(requests, ({ kind, state }) => `${kind} ${state}`)]
    .map(([text, { length }]) => (length === 1 ? text : `${text} (${length})`))
    .join(', ') || undefined

/** A table of orders, with an optional last column. */
export const ordersText = <Order extends Summary>(
  orders: readonly Order[],
  more: Readonly<Record<string, (order: Order) => string>> = {},
) => {
  const fails = orders.some(each => each.failing ?? each.dead_letters ?? each.undelivered)
  const failing = fails ? ['FAILING SINCE', 'ERROR'] : []
  return table(
    ['SOURCE', 'ORDER', 'STATUS', 'REQUESTS', 'LAST CHANGE', ...failing, ...Object.keys(more)],
    orders.map(order => [
      order.source,
      order.external_id,
      order.status,
      requestsText(order),
      order.updated_at || undefined,
      ...(fails ? failureOf(order) : []),
      ...Object.values(more).map(cell => cell(order)),
    ]),
  )
}
