import { announcedRequests } from '@order-relay/lib/orders/announcements.ts'
import { isOpen, refusalOf, requestViews } from '@order-relay/lib/orders/order.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { type DeadLettersOfOrder, deadLettersOf } from '../orders/dead-letters.ts'
import {
  checkOrders,
  failingOrders,
  findOrders,
  listOrders,
  type OrderPage,
  timelineOf,
} from '../orders/orders.ts'
import { RESEND_RATE, resend } from '../orders/resend.ts'
import { RETRY_RATE, retry } from '../orders/retry.ts'
import { whyWaiting } from '../orders/why-waiting.ts'
import type { Readings } from './readings.ts'
import { get, post } from './route.ts'

const PAGE = 50

const text = v.optional(v.string())
const day = v.optional(v.pipe(v.string(), v.isoDate()))

const DAY_MS = 24 * 60 * 60 * 1000

/** An order as a row of a list. */
const summary = (stored: StoredOrder, dead: DeadLettersOfOrder) => {
  const { order, updated_at } = stored
  const { source, external_id, result } = order
  return {
    ...{ source, external_id, updated_at },
    status: result?.status,
    invoice_number: result?.invoice_number,
    open: requestViews(order)
      .filter(({ state }) => isOpen(state))
      .map(({ kind, state }) => ({ kind, state })),
    waiting: whyWaiting(stored, Date.now(), dead).links[0],
  }
}

type Filter = Partial<
  Record<'q' | 'source' | 'cursor' | 'status' | 'show' | 'since' | 'until', string | undefined>
>

/** The orders found by a number or id, otherwise a page of the list. */
const pageOf = async (context: Context, { q, show, since, until, ...filter }: Filter): Promise<OrderPage> => {
  if (q !== undefined) return { orders: await findOrders(context, q) }
  if (show === 'failing') return failingOrders(context, { ...filter, limit: PAGE })
  return listOrders(context, {
    ...{ ...filter, unsettled: show === 'unsettled', limit: PAGE },
    since: since === undefined ? undefined : new Date(since),
    // The day is included.
    until: until === undefined ? undefined : new Date(Date.parse(until) + DAY_MS),
  })
}

const key = { source: v.string(), external_id: v.string() }

export const orderRoutes = (context: Context, readings: Readings) => {
  const deadLetters = () => deadLettersOf(context, () => readings.of('dead'))
  return [
    get(
      'orders',
      {
        ...{ q: text, source: text, cursor: text, since: day, until: day },
        status: v.optional(v.picklist(STATUSES)),
        show: v.optional(v.picklist(['unsettled', 'failing'])),
      },
      async filter => {
        const { orders, cursor, searched } = await pageOf(context, filter)
        const dead = await deadLetters()
        return { orders: orders.map(stored => summary(stored, dead(stored.order))), cursor, searched }
      },
    ),
    get('order', key, async ({ source, external_id }) => {
      const { stored, announced, entries, complete } = await timelineOf(context, { source, external_id })
      const { order } = stored
      const dead = (await deadLetters())(order)
      const { version, doubt, result } = order
      const refusedAt = (id: string) => {
        const request = Object.values(order.open).find(each => each.id === id || each.others.includes(id))
        return request && refusalOf(request)?.since
      }
      return {
        ...summary(stored, dead),
        ...{ version, doubt, result, entries, complete },
        failing: stored.failing,
        requests: [...requestViews(order), ...announcedRequests(order, announced)].map(view => ({
          ...view,
          refused_at: refusedAt(view.id),
        })),
        why: whyWaiting(stored, Date.now(), dead, announced),
      }
    }),
    post('orders/check', key, order => checkOrders(context, [order])),
    post('orders/retry', { source: text, external_id: text, cause: text }, selection =>
      retry(context, { ...selection, rate: RETRY_RATE }),
    ),
    post('orders/resend', key, order => resend(context, { ...order, rate: RESEND_RATE })),
  ]
}
