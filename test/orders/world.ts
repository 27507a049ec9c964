import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import type { FeedMessage } from '../../lib/orders/feed.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import { newOrder, type Order, type RequestKind, type WithdrawalMark } from '../../lib/orders/order.ts'
import { process } from '../../lib/orders/process.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'

/** A model of everything around one order: service, order queue, worker, feed and store. Plain data, so that it can be copied. */
export type World = {
  service: {
    status: 'none' | Status
    heldPayment: boolean
    receipts: number
    paidOutside?: true
    /** Whether an accountant has cancelled a receipt. */
    reversed?: true
    returns: number
    /** Whether a created order is finalized immediately. */
    stocked: boolean
    /** Why the service refuses the order: an unknown product, which an accountant may add, or an invalid body. */
    refuses?: 'unknown_sku' | 'invalid'
    /** Whether finalizing forgets the held payment, which the spec does not rule out explicitly. */
    forgetful: boolean
    /** The invoice total, which an accountant may change without a change of status. */
    total: number
  }
  /** Webhooks that were sent and not queued yet; they may arrive in any order. */
  webhooks: { delivery: number; result: OrderResult }[]
  queue: { event: OrderEvent; redelivered: boolean }[]
  /** Marks of withdrawals that the API has not made yet. */
  marks: WithdrawalMark[]
  stored?: { order: Order; revision: number }
  /** What the store knows by the rule of the feed: nothing older than what it has applied. */
  store: {
    version: number
    result?: OrderResult
    states: { [id: string]: { version: number; state: string }[] }
  }
  /** The ids of what the store has requested. */
  requested: string[]
  /** The deliveries that the store has received. */
  received: string[]
  /** What may still happen. */
  left: {
    /** A request may be repeated; `-payment` is a withdrawal. */
    requests: (RequestKind | `-${RequestKind}`)[]
    fixes: number
    outsidePayments: number
    /** Moves backward: a payment reversed, or an order moved back to review. */
    reversals: number
    edits: number
    repeats: number
    faults: number
  }
  ids: number
}

/** A world is plain data, which JSON copies in a third of the time of structuredClone. */
export const copy = <Plain>(value: Plain): Plain => JSON.parse(JSON.stringify(value))

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

const KEY = { source: 'shop', external_id: '1' }

export const resultOf = ({ status, total, receipts, returns }: World['service']): OrderResult => ({
  ...KEY,
  status,
  total: String(total),
  receipt_number: receipts === 0 ? null : receipts,
  return_number: returns === 0 ? null : returns,
  error: status === 'needs_review' ? 'insufficient stock' : null,
})

/** The service's own rules (spec: transitions), as far as a worker can see them. */
const serve = (service: World['service'], call: AccountingCall): CallResult => {
  const { to } = call
  const reason = { status: 400, code: service.refuses ?? 'not_finalized', message: 'no' }
  const result = (): CallResult => ({ to, outcome: 'result', result: resultOf(service) })
  if (to === 'create') {
    if (service.status !== 'none') {
      // The original result, of which only the status may be out of date here.
      const original = { ...resultOf(service), status: service.stocked ? 'invoiced' : 'needs_review' }
      return { to, outcome: 'result', result: original, duplicate: true }
    }
    if (service.refuses !== undefined) return { to, outcome: 'refused', reason }
    service.status = service.stocked ? 'invoiced' : 'needs_review'
    return result()
  }
  if (service.status === 'none') {
    return { to, outcome: 'unknown order', reason: { ...reason, status: 404 } }
  }
  if (to === 'payment') {
    if (service.status === 'needs_review') {
      service.heldPayment = true
      return { to, outcome: 'refused', reason }
    }
    if (service.status === 'invoiced') {
      service.status = 'paid'
      service.receipts++
    }
  }
  if (to === 'refund') {
    if (service.status === 'needs_review') return { to, outcome: 'refused', reason }
    if (service.status !== 'refunded') {
      service.status = 'refunded'
      service.returns++
    }
  }
  return result()
}

const announce = (world: World) => {
  world.webhooks.push({ delivery: ++world.ids, result: resultOf(world.service) })
}

export type Move = { name: string; apply: (world: World) => void }

const storesMoves = ({ left }: World): Move[] =>
  left.requests.flatMap((request, index) =>
    // Of equal requests the first: another order of them is no other story.
    left.requests.indexOf(request) < index
      ? []
      : [
          {
            name: `store requests ${request}`,
            apply(next: World) {
              next.left.requests.splice(index, 1)
              const delivery = uuid(++next.ids)
              next.requested.push(delivery)
              const kind = request.replace('-', '') as RequestKind
              if (kind === request) {
                enqueue(next, { event: `order.${kind}`, delivery, data: { ...KEY, request: '{}' } })
              } else {
                enqueue(next, { event: 'order.withdraw', delivery, data: { ...KEY, kind } })
                next.marks.push({ id: delivery, of: kind })
              }
            },
          },
        ],
  )

const enqueue = (next: World, event: OrderEvent) => next.queue.push({ event, redelivered: false })
export const check = (next: World) =>
  enqueue(next, { event: 'order.check', delivery: uuid(++next.ids), data: KEY })

/** What may happen at any time, also between two steps of the worker: the accountant acts, the API marks. */
export const movesMeanwhile = ({ left, marks }: World): Move[] => [
  ...marks.slice(0, 1).map(mark => ({
    name: 'the withdrawal is marked',
    apply(next: World) {
      next.marks.shift()
      const { order, revision } = next.stored ?? { order: newOrder(KEY), revision: 0 }
      if (order.intents.some(({ id }) => id === mark.id)) return
      const withdrawals = [...order.withdrawals, mark]
      next.stored = { order: { ...order, withdrawals }, revision: revision + 1 }
    },
  })),
  ...(left.fixes > 0 ? [{ name: 'accountant fixes the order', apply: fix }] : []),
  ...(left.outsidePayments > 0 ? [{ name: 'accountant registers a payment', apply: payOutside }] : []),
  ...(left.reversals > 0
    ? [
        { name: 'accountant reverses the payment', apply: reverse },
        { name: 'accountant moves the order back to review', apply: review },
      ]
    : []),
  ...(left.edits > 0 ? [{ name: 'accountant edits the invoice', apply: edit }] : []),
]

const fix = (next: World) => {
  if (next.service.refuses === 'unknown_sku') {
    next.left.fixes--
    delete next.service.refuses
    return
  }
  if (next.service.status !== 'needs_review') return
  next.left.fixes--
  const paid = next.service.heldPayment && !next.service.forgetful
  next.service.status = paid ? 'paid' : 'invoiced'
  if (paid) next.service.receipts++
  announce(next)
}

const edit = (next: World) => {
  if (next.service.status === 'none') return
  next.left.edits--
  next.service.total++
  announce(next)
}

const reverse = (next: World) => {
  if (next.service.status !== 'paid') return
  next.left.reversals--
  next.service.status = 'invoiced'
  next.service.receipts--
  next.service.reversed = true
  announce(next)
}

const review = (next: World) => {
  if (next.service.status !== 'invoiced' && next.service.status !== 'paid') return
  next.left.reversals--
  if (next.service.status === 'paid') {
    next.service.heldPayment = true
    next.service.reversed = true
  }
  next.service.status = 'needs_review'
  next.service.receipts = 0
  announce(next)
}

const payOutside = (next: World) => {
  if (next.service.status !== 'invoiced') return
  next.left.outsidePayments--
  next.service.paidOutside = true
  next.service.status = 'paid'
  next.service.receipts++
  announce(next)
}

const networksMoves = ({ left, webhooks }: World): Move[] => {
  const queue = (next: World, index: number) => {
    const { delivery, result } = next.webhooks[index] ?? { delivery: 0, result: resultOf(next.service) }
    enqueue(next, { event: 'order.updated', delivery: uuid(delivery), data: copy(result) })
  }
  return webhooks.flatMap((_webhook, index) => [
    {
      name: `webhook ${index} arrives`,
      apply(next: World) {
        queue(next, index)
        next.webhooks.splice(index, 1)
      },
    },
    ...(left.repeats > 0
      ? [
          {
            name: `webhook ${index} arrives and will arrive again`,
            apply(next: World) {
              next.left.repeats--
              queue(next, index)
            },
          },
        ]
      : []),
  ])
}

/** Everything that may happen next outside of the worker. */
export const moves = (world: World): Move[] => [
  ...storesMoves(world),
  ...movesMeanwhile(world),
  ...networksMoves(world),
]

class InjectedError extends Error {}
class TwoWritersError extends Error {}

/**
 * What happens at the worker's n-th await. `fails`: an error before the call, or after it took effect, which the
 * worker sees, or which kills it. `meanwhile`: somebody else acts just before the call.
 */
export type Fault = { at: number } & (
  | { fails: 'before' | 'after'; kills: boolean }
  | { meanwhile: (world: World) => void }
)

/**
 * Lets the worker process the first event of the queue: `process` itself runs, with the model's dependencies.
 *
 * @returns how many awaits it passed
 */
export const work = async (world: World, fault?: Fault): Promise<number> => {
  const first = world.queue[0]
  if (first === undefined) return 0
  let awaits = 0
  let isKilled = false
  const place = async <Result>(effect: () => Result): Promise<Result> => {
    if (isKilled) throw new InjectedError()
    awaits++
    if (fault?.at !== awaits) return effect()
    if ('meanwhile' in fault) {
      fault.meanwhile(world)
      return effect()
    }
    isKilled = fault.kills
    if (fault.fails === 'after') effect()
    throw new InjectedError()
  }

  try {
    await process(copy(first.event), {
      orders: {
        get: () => place(() => world.stored && { ...copy(world.stored), updated_at: '' }),
        save: (order, revision) =>
          place(() => {
            if ((world.stored?.revision ?? 0) !== revision) throw new TwoWritersError()
            world.stored = { order: copy(order), revision: revision + 1 }
          }),
      },
      call: call => place(() => serve(world.service, call)),
      publish: message => place(() => receive(world, copy(message))),
      now: () => 0,
      retryRefused: 1,
      redelivered: first.redelivered,
    })
    await place(() => world.queue.shift())
  } catch (error) {
    first.redelivered = true
    if (!(error instanceof InjectedError) && !(error instanceof TwoWritersError)) throw error
  }
  return awaits
}

const receive = (world: World, message: FeedMessage) => {
  if (world.received.includes(message.delivery)) return
  world.received.push(message.delivery)
  const { states } = world.store
  const changed =
    message.event === 'order.updated'
      ? (message.requests ?? [])
      : [{ id: message.data.id, state: message.event.replace('order.', '') }]
  for (const { id, state } of changed) {
    // After a crash a version may come again with another content, which then holds.
    const before = (states[id] ?? []).filter(({ version }) => version !== message.version)
    states[id] = [...before, { version: message.version, state }]
  }
  if (message.event === 'order.updated' && message.version >= world.store.version) {
    world.store.result = message.data
    world.store.version = message.version
  }
}
