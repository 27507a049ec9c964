import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import type { FeedMessage } from '../../lib/orders/feed.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import { newOrder, type Order, type RequestKind, type WithdrawalMark } from '../../lib/orders/order.ts'
import { process } from '../../lib/orders/process.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'
import { ACTS, called, refuses, resultOf, type ServiceOrder, serviceOrder } from '../service-order.ts'

/** A model of everything around one order: service, order queue, worker, feed and store. Nothing in it is changed. */
export type World = Readonly<{
  service: Readonly<{
    /** Undefined until it is created. */
    order?: ServiceOrder
    paidOutside?: true
    /** Whether an accountant has cancelled a receipt. */
    reversed?: true
    /** Whether a created order is finalized immediately. */
    stocked: boolean
    /** Why the service refuses the order: an unknown product, which an accountant may add, or an invalid body. */
    refuses?: 'unknown_sku' | 'invalid'
    /** Whether finalizing forgets the held payment, which the spec does not rule out explicitly. */
    forgetful: boolean
  }>
  /** Webhooks that were sent and not queued yet; they may arrive in any order. */
  webhooks: readonly OrderEvent[]
  queue: readonly { event: OrderEvent; redelivered: boolean }[]
  /** Marks of withdrawals that the API has not made yet. */
  marks: readonly WithdrawalMark[]
  stored?: { order: Order; revision: number }
  /** What the store knows by the rule of the feed: nothing older than what it has applied. */
  store: Readonly<{
    version: number
    result?: OrderResult
    states: { readonly [id: string]: readonly { version: number; state: string }[] }
  }>
  /** The ids of what the store has requested. */
  requested: readonly string[]
  /** The deliveries that the store has received. */
  received: readonly string[]
  /** What may still happen. */
  left: Readonly<{
    /** A request may be repeated; `-payment` is a withdrawal. */
    requests: readonly (RequestKind | `-${RequestKind}`)[]
    fixes: number
    outsidePayments: number
    /** Moves backward: a payment reversed, or an order moved back to review. */
    reversals: number
    edits: number
    repeats: number
    faults: number
  }>
  /** How many webhooks the service has sent. */
  sent: number
}>

type Service = World['service']

export const KEY = { source: 'shop', external_id: '1' }

/** What the worker is answered, and the service after it. */
const serve = (service: Service, { to }: AccountingCall): { answer: CallResult; service: Service } => {
  const { stocked, refuses: code } = service
  const reason = { status: 400, code: code ?? 'not_finalized', message: 'no' }
  const refused = { to, outcome: 'refused', reason } as const
  const resultIs = (order: ServiceOrder) => ({ to, outcome: 'result', result: resultOf(KEY, order) }) as const
  const first = serviceOrder(stocked ? 'invoiced' : 'needs_review')
  const order = service.order ?? (to === 'create' && code === undefined ? first : undefined)
  if (order === undefined) {
    const unknown = { to, outcome: 'unknown order', reason: { ...reason, status: 404 } } as const
    return { service, answer: to === 'create' ? refused : unknown }
  }
  if (to === 'create') {
    // The original result, of which only the status may be out of date here.
    const original = resultIs({ ...order, status: first.status })
    return { service: { ...service, order }, answer: { ...original, duplicate: service.order !== undefined } }
  }
  return {
    service: { ...service, order: called(order, to) },
    answer: refuses(order, to) ? refused : resultIs(called(order, to)),
  }
}

/** Something that may happen, and the world after it. */
export type Move = { name: string; apply: (world: World) => World }

const enqueue = (world: World, event: OrderEvent): World => ({
  ...world,
  queue: [...world.queue, { event, redelivered: false }],
})

export const check = (world: World): World =>
  enqueue(world, { event: 'order.check', delivery: 'check', data: KEY })

const request =
  (index: number) =>
  (world: World): World => {
    const { left, marks, requested } = world
    const name = left.requests[index] ?? 'create'
    const kind = name.replace('-', '') as RequestKind
    const delivery = `${name} ${left.requests.filter(other => other === name).length}`
    const next = {
      ...world,
      left: { ...left, requests: left.requests.toSpliced(index, 1) },
      requested: [...requested, delivery].sort(),
    }
    return kind === name
      ? enqueue(next, { event: `order.${kind}`, delivery, data: { ...KEY, request: '{}' } })
      : enqueue(
          { ...next, marks: [...marks, { id: delivery, of: kind }] },
          { event: 'order.withdraw', delivery, data: { ...KEY, kind } },
        )
  }

const mark = (world: World): World => {
  const [first, ...marks] = world.marks
  const { order, revision } = world.stored ?? { order: newOrder(KEY), revision: 0 }
  if (first === undefined || order.intents.some(({ id }) => id === first.id)) return { ...world, marks }
  const withdrawals = [...order.withdrawals, first]
  return { ...world, marks, stored: { order: { ...order, withdrawals }, revision: revision + 1 } }
}

/** What an accountant does, and how often it may happen; undefined when it cannot be done. */
type Deed = {
  kind: 'fixes' | 'outsidePayments' | 'reversals' | 'edits'
  does: (order: ServiceOrder, service: Service) => ServiceOrder | undefined
  marks?: Partial<Service>
}

const DEEDS: Readonly<Record<string, Deed>> = {
  'fixes the order': {
    kind: 'fixes',
    does: (order, { forgetful }) => ACTS.fix(forgetful ? { ...order, holdsPayment: false } : order),
  },
  'registers a payment': { kind: 'outsidePayments', does: ACTS.payment, marks: { paidOutside: true } },
  'reverses the payment': {
    kind: 'reversals',
    does: order =>
      order.status === 'paid' ? { ...order, status: 'invoiced', receipts: order.receipts - 1 } : undefined,
    marks: { reversed: true },
  },
  'moves the paid order back to review': {
    kind: 'reversals',
    does: order =>
      order.status === 'paid'
        ? { ...order, status: 'needs_review', receipts: 0, holdsPayment: true }
        : undefined,
    marks: { reversed: true },
  },
  'moves the invoiced order back to review': {
    kind: 'reversals',
    does: order => (order.status === 'invoiced' ? { ...order, status: 'needs_review' } : undefined),
  },
  'edits the invoice': { kind: 'edits', does: ACTS.edit },
}

const when = (isPossible: boolean, name: string, apply: Move['apply']): Move[] =>
  isPossible ? [{ name, apply }] : []

/** What may happen at any time, also between two steps of the worker: the accountant acts, the API marks. */
export const movesMeanwhile = ({ left, marks, service }: World): Move[] => [
  ...when(marks.length > 0, 'the withdrawal is marked', mark),
  ...when(left.fixes > 0 && service.refuses === 'unknown_sku', 'accountant adds the product', world => {
    const { refuses: _, ...service } = world.service
    return { ...world, service, left: { ...world.left, fixes: world.left.fixes - 1 } }
  }),
  ...Object.entries(DEEDS).flatMap(([name, { kind, does, marks }]) =>
    when(left[kind] > 0, `accountant ${name}`, world => {
      const order = world.service.order && does(world.service.order, world.service)
      if (order === undefined) return world
      const delivery = `webhook ${world.sent + 1}`
      return {
        ...world,
        service: { ...world.service, ...marks, order },
        left: { ...world.left, [kind]: world.left[kind] - 1 },
        sent: world.sent + 1,
        webhooks: [...world.webhooks, { event: 'order.updated', delivery, data: resultOf(KEY, order) }],
      }
    }),
  ),
]

/** A webhook arrives, for the last time or once more. */
export const arrive =
  (index: number, isLast = true) =>
  (world: World): World => {
    const event = world.webhooks[index]
    if (event === undefined) return world
    return isLast
      ? enqueue({ ...world, webhooks: world.webhooks.toSpliced(index, 1) }, event)
      : enqueue({ ...world, left: { ...world.left, repeats: world.left.repeats - 1 } }, event)
  }

/** Everything that may happen next outside of the worker. */
export const moves = (world: World): Move[] => {
  const { left, webhooks } = world
  return [
    ...left.requests.flatMap((name, index) =>
      // Of equal requests the first: another order of them is no other story.
      when(left.requests.indexOf(name) === index, `store requests ${name}`, request(index)),
    ),
    ...movesMeanwhile(world),
    ...webhooks.flatMap((_webhook, index) => [
      { name: `webhook ${index} arrives`, apply: arrive(index) },
      ...when(left.repeats > 0, `webhook ${index} arrives and will arrive again`, arrive(index, false)),
    ]),
  ]
}

/** One for all: there are many of them, and an error is slow to make. */
const INJECTED = new Error('injected')

/**
 * What happens at the worker's n-th await. `fails`: an error before the call, or after it took effect, which the
 * worker sees, or a crash before it. `meanwhile`: somebody else acts just before the call.
 */
type Fault = { at: number } & ({ fails: 'before' | 'after' | 'killed' } | { meanwhile: Move['apply'] })

/**
 * Lets the worker process the first event of the queue: `process` itself runs, with the model's dependencies.
 *
 * @returns the world after it, and how many awaits it passed
 */
export const work = async (start: World, fault?: Fault): Promise<{ world: World; awaits: number }> => {
  const [first] = start.queue
  if (first === undefined) return { world: start, awaits: 0 }
  let world = start
  let awaits = 0
  let isKilled = false
  const place = async <Result>(effect: () => Result): Promise<Result> => {
    if (isKilled) throw INJECTED
    awaits++
    if (fault?.at !== awaits) return effect()
    if ('meanwhile' in fault) {
      world = fault.meanwhile(world)
      return effect()
    }
    isKilled = fault.fails === 'killed'
    if (fault.fails === 'after') effect()
    throw INJECTED
  }
  const change = (next: () => Partial<World>) =>
    place(() => {
      world = { ...world, ...next() }
    })

  try {
    await process(first.event, {
      orders: {
        get: () => place(() => world.stored && { ...world.stored, updated_at: '' }),
        save: (order, revision) =>
          change(() => {
            // Somebody else has saved it in the meantime.
            if ((world.stored?.revision ?? 0) !== revision) throw INJECTED
            return { stored: { order, revision: revision + 1 } }
          }),
      },
      call: call =>
        place(() => {
          const { answer, service } = serve(world.service, call)
          world = { ...world, service }
          return answer
        }),
      publish: message => change(() => receive(world, message)),
      now: () => 0,
      retryRefused: 1,
      redelivered: first.redelivered,
    })
    await change(() => ({ queue: world.queue.slice(1) }))
  } catch (error) {
    if (error !== INJECTED) throw error
    const queue = world.queue.map(each => (each === first ? { ...each, redelivered: true } : each))
    world = { ...world, queue }
  }
  return { world, awaits }
}

const receive = ({ received, store }: World, message: FeedMessage): Partial<World> => {
  if (received.includes(message.delivery)) return {}
  const states = { ...store.states }
  const changed =
    message.event === 'order.updated'
      ? (message.requests ?? [])
      : [{ id: message.data.id, state: message.event.replace('order.', '') }]
  for (const { id, state } of changed) {
    // After a crash a version may come again with another content, which then holds.
    const before = (states[id] ?? []).filter(({ version }) => version !== message.version)
    states[id] = [...before, { version: message.version, state }]
  }
  const isNews = message.event === 'order.updated' && message.version >= store.version
  return {
    received: [...received, message.delivery].sort(),
    store: { ...store, states, ...(isNews && { result: message.data, version: message.version }) },
  }
}
