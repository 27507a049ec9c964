import { type Announced, announcedRequests } from '@order-relay/lib/orders/announcements.ts'
import {
  idsOf,
  isOpen,
  openRequests,
  REQUEST_KINDS,
  refusalOf,
  requestViews,
} from '@order-relay/lib/orders/order.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { STATUSES } from '@order-relay/lib/protocol/status.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { idsAbout } from '../dead-letters/quarantine.ts'
import { messagesOf } from '../feeds/messages.ts'
import { OUTCOME_SECONDS } from '../feeds/retry.ts'
import { asRetried, type DeadLetters, isLetterDone } from '../model/failing-event.ts'
import { lastAttempt, timelineOf } from '../model/orders.ts'
import { announcedOf, sourcesOf } from '../model/read.ts'
import { checkOrder } from '../orders/check.ts'
import { contentOf } from '../orders/content.ts'
import { deadLettersOf } from '../orders/dead-letters.ts'
import { findMessages } from '../orders/find.ts'
import { failingOrders, listOrders, type OrderPage } from '../orders/list.ts'
import { RESEND_RATE, resend } from '../orders/resend.ts'
import { RETRY_RATE, retry, retryAndWait, waitingByCause } from '../orders/retry.ts'
import { findOrders } from '../orders/search.ts'
import { createOf } from '../orders/summary.ts'
import { whyWaiting } from '../orders/why-waiting.ts'
import { withdraw } from '../orders/withdraw.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import type { Readings } from './readings.ts'
import { get, post } from './route.ts'

const PAGE = 50

const text = v.optional(v.string())
const time = v.optional(v.pipe(v.string(), v.isoTimestamp()))

/** An order as a row of a list. */
const summary = (stored: StoredOrder, dead: DeadLetters, announced: Announced | undefined) => {
  const { order, updated_at } = stored
  const { source, external_id, result } = order
  return {
    source,
    external_id,
    updated_at,
    failing_since: asRetried(stored, dead).failing?.since,
    status: result?.status,
    create: result === undefined ? createOf(order, announced) : undefined,
    invoice_number: result?.invoice_number,
    total: result?.total,
    open: [...requestViews(order), ...announcedRequests(order, announced)]
      .filter(({ state }) => isOpen(state))
      .map(({ kind, state }) => ({ kind, state })),
    waiting: whyWaiting(stored, Date.now(), dead(order), announced).links[0],
  }
}

type Filter = Partial<Record<'source' | 'cursor' | 'status' | 'show' | 'since' | 'until', string | undefined>>

/** A page of the list. */
const pageOf = (
  context: Context,
  { show, since, until, ...filter }: Filter,
  deadLetters: () => Promise<DeadLetters>,
): Promise<OrderPage> => {
  if (show === 'failing') return failingOrders(context, { ...filter, limit: PAGE }, deadLetters)
  return listOrders(context, {
    ...filter,
    unsettled: show === 'unsettled',
    limit: PAGE,
    accountant: show === 'accountant',
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
  })
}

const key = { source: v.string(), external_id: v.string() }

/** The job of a bulk retry; only one runs at a time. */
const RETRY = 'retry'

export const orderRoutes = (context: Context, live: Live, readings: Readings) => {
  const retries = createJobs(context, live, 'order-retries')
  const read = () => readings.of('dead')
  const deadLetters = (sources: readonly string[] = []) => deadLettersOf(context, { sources, read })
  /** The messages of an order in the last reading of the quarantine. */
  const quarantinedOf = async (order: OrderKey) => {
    const read = await readings.last('quarantine')
    return { as_of: read?.at, ids: idsAbout(read?.messages ?? [], order) }
  }
  const summariesOf = async (orders: readonly StoredOrder[]) => {
    const [dead, announced] = await Promise.all([
      deadLetters(sourcesOf(orders)),
      announcedOf(context, orders),
    ])
    return orders.map(stored => summary(stored, dead, announced.get(orderName(stored.order))))
  }
  return [
    get(
      'orders',
      {
        q: text,
        source: text,
        cursor: text,
        since: time,
        until: time,
        status: v.optional(v.picklist(STATUSES)),
        show: v.optional(v.picklist(['unsettled', 'accountant', 'failing'])),
      },
      async ({ q, ...filter }) => {
        if (q !== undefined) {
          const { found, searched } = await findOrders(context, q)
          const rows = await summariesOf(found.map(({ stored }) => stored))
          const orders = rows.map((row, index) => ({ ...row, match: found[index]?.match }))
          const kept = await findMessages(
            context,
            q,
            found,
            async ({ command }) => (await readings.of(command)).messages,
          )
          const messages = kept.map(({ kind, message }) => ({ command: kind.command, id: message.raw.id }))
          return { orders, searched, messages, sorted: 'by match' as const }
        }
        const { orders, cursor, searched } = await pageOf(context, filter, deadLetters)
        const rows = await summariesOf(orders)
        const sorted = filter.show === 'failing' ? ('by event' as const) : ('by change' as const)
        const unmatched = rows.map(row => ({ ...row, match: undefined }))
        return { orders: unmatched, cursor, searched, messages: [], sorted }
      },
    ),
    get('order', key, async ({ source, external_id }) => {
      const timeline = await timelineOf(context, { source, external_id })
      const { stored, announced, bodies, entries, complete } = timeline
      const { order } = stored
      const dead = await deadLetters([source])
      const { version, doubt, result } = order
      const queued = announcedRequests(order, announced)
      const openOf = (id: string) => openRequests(order).find(each => idsOf(each).includes(id))
      const paying = order.ended.flatMap(({ withPayment, ids }) => (withPayment ? ids : []))
      return {
        ...summary(stored, dead, announced),
        version,
        doubt,
        result,
        entries,
        complete,
        failing: asRetried(stored, dead).failing,
        feed: await messagesOf(context, { source, external_id }, entries, read),
        requests: [
          ...requestViews(order).map(view => {
            const open = openOf(view.id)
            return {
              ...view,
              refused_at: open && refusalOf(open)?.since,
              // Requests that share an outcome use the body of one.
              content: open?.id === view.id ? contentOf(open) : undefined,
              with_payment: paying.includes(view.id),
            }
          }),
          ...queued.map(view => {
            const request = bodies.find(({ id, body }) => id === view.id && body !== '')
            const content = request && contentOf(request)
            return { ...view, refused_at: undefined, content, with_payment: false }
          }),
        ],
        why: whyWaiting(stored, Date.now(), dead(order), announced),
        done_letters: dead(order).letters.flatMap(letter =>
          letter.id !== undefined && isLetterDone(letter, stored) ? letter.id : [],
        ),
        quarantined: await quarantinedOf({ source, external_id }),
      }
    }),
    post('orders/check', key, async order => {
      const since = new Date()
      const { delivery, effect } = await checkOrder(context, order, deadLetters)
      return { delivery, since, effect }
    }),
    get(
      'order/check',
      { delivery: v.pipe(v.string(), v.uuid()), since: v.pipe(v.string(), v.isoTimestamp()) },
      async ({ delivery, since }) => ({ last: await lastAttempt(context, delivery, new Date(since)) }),
    ),
    post('orders/retry', key, order => retry(context, { ...order, rate: RETRY_RATE }, deadLetters)),
    get('orders/waiting', {}, async () => waitingByCause(context, await deadLetters())),
    get('orders/retries', {}, async () => ({ job: retries.of(RETRY) })),
    post('orders/retry-all', { source: text, cause: text }, async selection => {
      const options = { ...selection, rate: RETRY_RATE, wait: OUTCOME_SECONDS }
      retries.start(RETRY, 'retry the orders', (context, signal) =>
        retryAndWait(context, { ...options, signal }, deadLetters),
      )
    }),
    post('orders/retry-stop', {}, async () => retries.stop(RETRY)),
    post('orders/withdraw', { ...key, of: v.picklist(REQUEST_KINDS) }, ({ of, ...order }) =>
      withdraw(context, order, of),
    ),
    post('orders/resend', key, order => resend(context, { ...order, rate: RESEND_RATE })),
  ]
}
