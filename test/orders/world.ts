import type { FeedMessage } from '../../lib/feeds/message.ts'
import type { LineMessage } from '../../lib/line/messages.ts'
import type { Answer } from '../../lib/orders/absorb.ts'
import { advance } from '../../lib/orders/advance.ts'
import type { Order, Wish } from '../../lib/orders/order.ts'
import type { Call } from '../../lib/orders/plan.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'

/** A model of everything around one order: service, line, worker, feed and store. Plain data, so that it can be copied. */
export type World = {
  service: {
    status: 'none' | 'needs_review' | 'invoiced' | 'paid' | 'refunded'
    heldPayment: boolean
    receipts: number
    returns: number
    /** Whether a created order can be finalized at once. */
    stocked: boolean
    /** Whether the service refuses to create the order, for an unknown code say. */
    refuses: boolean
    /** Whether a retry forgets the payment that was held, which the spec does not forbid in so many words. */
    forgetful: boolean
    /** The invoice total, which an accountant may change without a change of status. */
    total: number
    /** What it has refused for good. */
    refused: Wish[]
  }
  /** Webhooks the service has sent and the relay has not queued yet; they may come in any order. */
  webhooks: { delivery: number; result: OrderResult }[]
  line: LineMessage[]
  held?: { order: Order; revision: number }
  /** What the store has taken in, by the rule of the feed: nothing older than what it has. */
  store: { version: number; result?: OrderResult; rejected: string[] }
  /** What the store has asked for. */
  asked: Wish[]
  /** Told but already known by delivery id. */
  heard: string[]
  /** What may still happen. */
  left: {
    wishes: Wish[]
    retries: number
    outsidePayments: number
    edits: number
    repeats: number
    faults: number
  }
  ids: number
}

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
const serve = (service: World['service'], call: Call): Answer => {
  const { to } = call
  const reason = { status: 400, message: 'no' }
  const result = (): Answer => ({ to, answer: 'result', result: resultOf(service) })
  if (to === 'create') {
    if (service.refuses) {
      service.refused.push(to)
      return { to, answer: 'refused', reason }
    }
    if (service.status === 'none') service.status = service.stocked ? 'invoiced' : 'needs_review'
    return result()
  }
  if (service.status === 'none') {
    if (to !== 'read') service.refused.push(to)
    return { to, answer: 'unknown order', reason: { ...reason, status: 404 } }
  }
  if (to === 'payment') {
    if (service.status === 'needs_review') {
      service.heldPayment = true
      return { to, answer: 'refused', reason }
    }
    if (service.status === 'invoiced') {
      service.status = 'paid'
      service.receipts++
    }
  }
  if (to === 'refund') {
    if (service.status === 'needs_review') return { to, answer: 'refused', reason }
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
  left.wishes.map(wish => ({
    name: `store asks for ${wish}`,
    apply(next) {
      next.left.wishes = next.left.wishes.filter(other => other !== wish)
      next.asked.push(wish)
      next.line.push({ event: `order.${wish}`, delivery: uuid(++next.ids), data: { ...KEY, request: '{}' } })
    },
  }))

/** What an accountant may do at any time, between two calls of the worker too, where it makes sense then. */
export const accountantsMoves = ({ left }: World): Move[] => [
  ...(left.retries > 0 ? [{ name: 'accountant retries', apply: retry }] : []),
  ...(left.outsidePayments > 0 ? [{ name: 'accountant registers a payment', apply: payOutside }] : []),
  ...(left.edits > 0 ? [{ name: 'accountant changes the invoice', apply: edit }] : []),
]

const retry = (next: World) => {
  if (next.service.status !== 'needs_review') return
  next.left.retries--
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
    next.line.push({ event: 'order.updated', delivery: uuid(delivery), data: structuredClone(result) })
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

/** Everything that may happen next outside the worker. */
export const moves = (world: World): Move[] => [
  ...storesMoves(world),
  ...accountantsMoves(world),
  ...networksMoves(world),
]

class Fault extends Error {}

/**
 * What happens at the worker's n-th await. `fails`: before the call or after it took effect, as an error that
 * the worker lives to see or as its death, after which nothing of it happens any more. `meanwhile`: somebody
 * else acts just before the call.
 */
export type Mishap = { at: number } & (
  | { fails: 'before' | 'after'; dies: boolean }
  | { meanwhile: (world: World) => void }
)

/**
 * Lets the worker take the first message of the line, really: `advance` itself runs, only its ports are the
 * model's.
 *
 * @returns how many awaits it came through
 */
export const work = async (world: World, mishap?: Mishap): Promise<number> => {
  const message = world.line[0]
  if (message === undefined) return 0
  let awaits = 0
  let dead = false
  const place = async <Result>(effect: () => Result): Promise<Result> => {
    if (dead) throw new Fault()
    awaits++
    if (mishap?.at === awaits) {
      if ('meanwhile' in mishap) {
        mishap.meanwhile(world)
        return effect()
      }
      dead = mishap.dies
      if (mishap.fails === 'after') effect()
      throw new Fault()
    }
    return effect()
  }
  const acknowledge = () => world.line.shift()

  try {
    await advance(structuredClone(message), {
      orders: {
        get: () => place(() => (world.held ? { ...structuredClone(world.held), updated_at: '' } : undefined)),
        save: (order, revision) =>
          place(() => {
            if ((world.held?.revision ?? 0) !== revision) throw new Error('two writers')
            world.held = { order: structuredClone(order), revision: revision + 1 }
          }),
      },
      ask: call => place(() => serve(world.service, call)),
      tell: news => place(() => hear(world, structuredClone(news))),
      now: () => new Date(0),
    })
    await place(acknowledge)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
  return awaits
}

const hear = (world: World, message: FeedMessage) => {
  if (world.heard.includes(message.delivery)) return
  world.heard.push(message.delivery)
  if (message.event === 'order.rejected') world.store.rejected.push(message.data.request)
  else if (message.version >= world.store.version) {
    world.store.result = message.data
    world.store.version = message.version
  }
}
