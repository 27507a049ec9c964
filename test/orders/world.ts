import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import type { FeedMessage } from '../../lib/orders/feed.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import { newOrder, type Order, type RequestKind, type WithdrawalMark } from '../../lib/orders/order.ts'
import { process } from '../../lib/orders/process.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'

/** A model of everything around one order: service, order queue, worker, feed and store. Nothing in it is changed. */
export type World = Readonly<{
  service: Readonly<{
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

const KEY = { source: 'shop', external_id: '1' }

export const resultOf = ({ status, total, receipts, returns }: Service): OrderResult => ({
  ...KEY,
  status,
  total: String(total),
  receipt_number: receipts === 0 ? null : receipts,
  return_number: returns === 0 ? null : returns,
  error: status === 'needs_review' ? 'insufficient stock' : null,
})

/** The service's own rules (spec: transitions), as far as a worker can see them. */
const serve = (service: Service, { to }: AccountingCall): { answer: CallResult; service: Service } => {
  const reason = { status: 400, code: service.refuses ?? 'not_finalized', message: 'no' }
  const refused = { service, answer: { to, outcome: 'refused', reason } } as const
  const result = (changes: Partial<Service> = {}) => {
    const next = { ...service, ...changes }
    return { service: next, answer: { to, outcome: 'result', result: resultOf(next) } } as const
  }
  const { status, receipts, returns, stocked, refuses } = service
  const first = stocked ? 'invoiced' : 'needs_review'
  if (to === 'create') {
    if (status === 'none') return refuses === undefined ? result({ status: first }) : refused
    // The original result, of which only the status may be out of date here.
    const original = { ...resultOf(service), status: first }
    return { service, answer: { to, outcome: 'result', result: original, duplicate: true } }
  }
  if (status === 'none') {
    return { service, answer: { to, outcome: 'unknown order', reason: { ...reason, status: 404 } } }
  }
  if (status === 'needs_review' && to !== 'read') {
    return to === 'payment' ? { ...refused, service: { ...service, heldPayment: true } } : refused
  }
  if (to === 'payment' && status === 'invoiced') return result({ status: 'paid', receipts: receipts + 1 })
  if (to === 'refund' && status !== 'refunded') return result({ status: 'refunded', returns: returns + 1 })
  return result()
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

type Act = (service: Service) => Service | undefined

/** What an accountant does, and how often it may happen; undefined when it cannot be done. */
const ACTS: Readonly<Record<string, readonly ['fixes' | 'outsidePayments' | 'reversals' | 'edits', Act]>> = {
  'fixes the order': [
    'fixes',
    ({ refuses, ...service }) => {
      if (refuses === 'unknown_sku') return service
      if (service.status !== 'needs_review') return undefined
      return service.heldPayment && !service.forgetful
        ? { ...service, status: 'paid', receipts: service.receipts + 1 }
        : { ...service, status: 'invoiced' }
    },
  ],
  'registers a payment': [
    'outsidePayments',
    service =>
      service.status === 'invoiced'
        ? { ...service, status: 'paid', paidOutside: true, receipts: service.receipts + 1 }
        : undefined,
  ],
  'reverses the payment': [
    'reversals',
    service =>
      service.status === 'paid'
        ? { ...service, status: 'invoiced', reversed: true, receipts: service.receipts - 1 }
        : undefined,
  ],
  'moves the order back to review': [
    'reversals',
    service => {
      const next = { ...service, status: 'needs_review', receipts: 0 } as const
      if (service.status === 'paid') return { ...next, heldPayment: true, reversed: true }
      return service.status === 'invoiced' ? next : undefined
    },
  ],
  'edits the invoice': [
    'edits',
    service => (service.status === 'none' ? undefined : { ...service, total: service.total + 1 }),
  ],
}

const when = (isPossible: boolean, name: string, apply: Move['apply']): Move[] =>
  isPossible ? [{ name, apply }] : []

/** What may happen at any time, also between two steps of the worker: the accountant acts, the API marks. */
export const movesMeanwhile = ({ left, marks }: World): Move[] => [
  ...when(marks.length > 0, 'the withdrawal is marked', mark),
  ...Object.entries(ACTS).flatMap(([name, [kind, act]]) =>
    when(left[kind] > 0, `accountant ${name}`, world => {
      const service = act(world.service)
      if (service === undefined) return world
      const next = { ...world, service, left: { ...world.left, [kind]: world.left[kind] - 1 } }
      // A product that is added changes no order.
      if (service.status === 'none') return next
      const sent = world.sent + 1
      const webhook = {
        event: 'order.updated',
        delivery: `webhook ${sent}`,
        data: resultOf(service),
      } as const
      return { ...next, sent, webhooks: [...world.webhooks, webhook] }
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
