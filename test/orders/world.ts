import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import type { FeedMessage } from '../../lib/orders/feed.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import type { IntentKind, Order } from '../../lib/orders/order.ts'
import { process } from '../../lib/orders/process.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'

/** A model of everything around one order: service, order queue, worker, feed and store. Plain data, so that it can be copied. */
export type World = {
  service: {
    status: 'none' | Status
    heldPayment: boolean
    receipts: number
    returns: number
    /** Whether a created order is finalized immediately. */
    stocked: boolean
    /** Whether the service rejects the order, because of an unknown product for example. */
    rejects: boolean
    /** Whether finalizing forgets the held payment, which the spec does not rule out explicitly. */
    forgetful: boolean
    /** The invoice total, which an accountant may change without a change of status. */
    total: number
    /** What it has rejected for good. */
    rejected: IntentKind[]
  }
  /** Webhooks that were sent and not queued yet; they may arrive in any order. */
  webhooks: { delivery: number; result: OrderResult }[]
  queue: OrderEvent[]
  stored?: { order: Order; revision: number }
  /** What the store knows by the rule of the feed: nothing older than what it has applied. */
  store: { version: number; result?: OrderResult; rejected: string[] }
  /** What the store has requested. */
  requested: IntentKind[]
  /** The deliveries that the store has received. */
  received: string[]
  /** What may still happen. */
  left: {
    requests: IntentKind[]
    fixes: number
    outsidePayments: number
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
  const reason = { status: 400, message: 'no' }
  const result = (): CallResult => ({ to, outcome: 'result', result: resultOf(service) })
  if (to === 'create') {
    if (service.rejects) {
      service.rejected.push(to)
      return { to, outcome: 'refused', reason }
    }
    if (service.status === 'none') service.status = service.stocked ? 'invoiced' : 'needs_review'
    return result()
  }
  if (service.status === 'none') {
    if (to !== 'read') service.rejected.push(to)
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
  left.requests.map(kind => ({
    name: `store requests ${kind}`,
    apply(next) {
      next.left.requests = next.left.requests.filter(other => other !== kind)
      next.requested.push(kind)
      next.queue.push({ event: `order.${kind}`, delivery: uuid(++next.ids), data: { ...KEY, request: '{}' } })
    },
  }))

/** What an accountant may do at any time, also between two calls of the worker. */
export const accountantsMoves = ({ left }: World): Move[] => [
  ...(left.fixes > 0 ? [{ name: 'accountant fixes the order', apply: fix }] : []),
  ...(left.outsidePayments > 0 ? [{ name: 'accountant registers a payment', apply: payOutside }] : []),
  ...(left.edits > 0 ? [{ name: 'accountant edits the invoice', apply: edit }] : []),
]

const fix = (next: World) => {
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

const payOutside = (next: World) => {
  if (next.service.status !== 'invoiced') return
  next.left.outsidePayments--
  next.service.status = 'paid'
  next.service.receipts++
  announce(next)
}

const networksMoves = ({ left, webhooks }: World): Move[] => {
  const queue = (next: World, index: number) => {
    const { delivery, result } = next.webhooks[index] ?? { delivery: 0, result: resultOf(next.service) }
    next.queue.push({ event: 'order.updated', delivery: uuid(delivery), data: copy(result) })
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
  ...accountantsMoves(world),
  ...networksMoves(world),
]

class InjectedError extends Error {}

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
  const event = world.queue[0]
  if (event === undefined) return 0
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
    await process(copy(event), {
      orders: {
        get: () => place(() => world.stored && { ...copy(world.stored), updated_at: '' }),
        save: (order, revision) =>
          place(() => {
            if ((world.stored?.revision ?? 0) !== revision) throw new Error('two writers')
            world.stored = { order: copy(order), revision: revision + 1 }
          }),
      },
      call: call => place(() => serve(world.service, call)),
      publish: message => place(() => receive(world, copy(message))),
      now: () => 0,
    })
    await place(() => world.queue.shift())
  } catch (error) {
    if (!(error instanceof InjectedError)) throw error
  }
  return awaits
}

const receive = (world: World, message: FeedMessage) => {
  if (world.received.includes(message.delivery)) return
  world.received.push(message.delivery)
  if (message.event === 'order.rejected') world.store.rejected.push(message.data.request)
  else if (message.version >= world.store.version) {
    world.store.result = message.data
    world.store.version = message.version
  }
}
