import { answerOf } from '../../lib/api/answers.ts'
import type { CallResult } from '../../lib/orders/apply.ts'
import type { OrderEvent } from '../../lib/orders/events.ts'
import { exactMessages } from '../../lib/orders/exact.ts'
import { type FeedMessage, feedMessages } from '../../lib/orders/feed.ts'
import { handleEvent } from '../../lib/orders/handle-event.ts'
import type { AccountingCall } from '../../lib/orders/next-call.ts'
import type { RequestKind, Withdrawal } from '../../lib/orders/order.ts'
import type { Failing, SavedOrder } from '../../lib/orders/stored.ts'
import type { OrderResult } from '../../lib/protocol/order.ts'
import { ACTS, called, refuses, resultOf, type ServiceOrder, serviceOrder } from '../support/service-order.ts'

/** An immutable model of one order's environment: service, order queue, worker, feed and store. */
export type World = Readonly<{
  service: Readonly<{
    /** Undefined until the order is created. */
    order?: ServiceOrder
    paidOutside?: true
    /** Whether an accountant has cancelled a receipt. */
    reversed?: true
    /** Whether a new order is finalized immediately. */
    stocked: boolean
    /** The cause of refusals: an unknown product, which an accountant may add, or an invalid body. */
    refuses?: 'unknown_sku' | 'invalid'
    /** Whether finalizing drops the held payment, which the spec does not exclude explicitly. */
    forgetful: boolean
  }>
  /** Webhooks that were sent but not queued yet; they may arrive in any order. */
  webhooks: readonly OrderEvent[]
  queue: readonly { event: OrderEvent; redelivered: boolean }[]
  /** Dead letters, which may be replayed. */
  dead: readonly OrderEvent[]
  /** Withdrawals that the API has not announced yet, and announced ones. */
  unannounced: readonly Withdrawal[]
  announced: readonly Withdrawal[]
  stored?: SavedOrder & { revision: number }
  /** The saved deliveries of each version. */
  saved: { readonly [version: number]: readonly string[] }
  /** Messages published without being saved, or saved twice for a version. */
  unsaved: readonly string[]
  /** The store's state by the feed's rule: it ignores versions older than the applied one. */
  store: Readonly<{
    version: number
    result?: OrderResult
    /** The states of each request, in sequence of publication. */
    states: { readonly [id: string]: readonly string[] }
  }>
  /** Only of an exact store: how its requests are answered, and the results that it has learned. */
  exact?: Readonly<{
    waiting: readonly string[]
    /** The API has announced a 202 before it reads the order once more. */
    announced: readonly string[]
    /** Answered 202. */
    accepted: readonly string[]
    answers: readonly string[]
    messages: readonly string[]
  }>
  /** The store's requests; `at` is the number of earlier requests of the same kind. */
  requested: readonly {
    id: string
    kind: RequestKind
    isWithdrawal: boolean
    at: number
    isAfterCreate: boolean
  }[]
  /** The deliveries that the store has received. */
  received: readonly string[]
  /** The remaining possible actions. */
  left: Readonly<{
    /** Requests, possibly repeated; `-payment` is a withdrawal. */
    requests: readonly (RequestKind | `-${RequestKind}`)[]
    fixes: number
    outsidePayments: number
    /** Backward moves: a reversed payment, or an order moved back to review. */
    reversals: number
    edits: number
    repeats: number
    faults: number
    /** Events that become dead letters, and replays of them. */
    deaths: number
    replays: number
  }>
  /** The number of webhooks that the service has sent. */
  sent: number
}>

type Service = World['service']

export const KEY = { source: 'shop', external_id: '1' }

/** The response to the worker, and the service's next state. */
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
    // The original result, of which only the status may be outdated here.
    const original = resultIs({ ...order, status: first.status })
    return { service: { ...service, order }, answer: { ...original, duplicate: service.order !== undefined } }
  }
  return {
    service: { ...service, order: called(order, to) },
    answer: refuses(order, to) ? refused : resultIs(called(order, to)),
  }
}

/** A possible action, and the resulting world. */
export type Move = { name: string; apply: (world: World) => World }

const enqueue = (world: World, event: OrderEvent, redelivered = false): World => ({
  ...world,
  queue: [...world.queue, { event, redelivered }],
})

export const check = (world: World): World =>
  enqueue(world, { event: 'order.check', delivery: 'check', data: KEY })

const request =
  (index: number) =>
  (world: World): World => {
    const { left, unannounced, requested } = world
    const name = left.requests[index] ?? 'create'
    const kind = name.replace('-', '') as RequestKind
    const isWithdrawal = kind !== name
    const delivery = `${name} ${left.requests.filter(other => other === name).length}`
    const at = requested.filter(other => other.kind === kind).length
    const isAfterCreate = requested.some(other => other.kind === 'create' && !other.isWithdrawal)
    const added = { id: delivery, kind, isWithdrawal, at, isAfterCreate }
    const { exact } = world
    const next = {
      ...world,
      ...(exact && !isWithdrawal && { exact: { ...exact, waiting: [...exact.waiting, delivery] } }),
      left: { ...left, requests: left.requests.toSpliced(index, 1) },
      requested: [...requested, added].sort((a, b) => (a.id < b.id ? -1 : 1)),
    }
    return isWithdrawal
      ? enqueue(
          { ...next, unannounced: [...unannounced, { id: delivery, of: kind, accepted_at: at }] },
          { event: 'order.withdraw', delivery, data: { ...KEY, kind, accepted_at: at } },
        )
      : enqueue(next, { event: `order.${kind}`, delivery, data: { ...KEY, body: '{}', accepted_at: at } })
  }

const announce = (world: World): World => {
  const [first, ...unannounced] = world.unannounced
  if (first === undefined) return world
  return { ...world, unannounced, announced: [...world.announced.filter(({ of }) => of !== first.of), first] }
}

const giveUp = (world: World): World => {
  const [first, ...queue] = world.queue
  if (first === undefined) return world
  const left = { ...world.left, deaths: world.left.deaths - 1 }
  return { ...world, queue, dead: [...world.dead, first.event], left }
}

/** An event becomes a dead letter after 200 failures; a worker that is killed each time is not modeled. */
const isGivenUp = ({ queue, stored }: World) =>
  queue[0]?.redelivered === true && (stored === undefined || stored.failing !== undefined)

const replay =
  (index: number) =>
  (world: World): World => {
    const event = world.dead[index]
    const left = { ...world.left, replays: world.left.replays - 1 }
    const next = { ...world, dead: world.dead.toSpliced(index, 1), left }
    return event === undefined ? world : enqueue(next, event, true)
  }

/** An accountant's action and its remaining count; undefined if the action is impossible. */
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

/** The API answers an exact store's request if it is decided, otherwise 202, which it announces first. */
const answer =
  (id: string) =>
  (world: World): World => {
    const { exact, stored } = world
    if (exact === undefined) return world
    const decided = stored && answerOf(stored, id)
    const waiting = exact.waiting.filter(each => each !== id)
    if (decided !== undefined) {
      const answers = [...exact.answers, JSON.stringify(decided.response.body)]
      return { ...world, exact: { ...exact, waiting, answers } }
    }
    if (exact.announced.includes(id))
      return { ...world, exact: { ...exact, waiting, accepted: [...exact.accepted, id] } }
    return { ...world, exact: { ...exact, announced: [...exact.announced, id] } }
  }

export const answers = ({ exact }: World): Move[] =>
  (exact?.waiting ?? []).flatMap(id => [
    { name: `the API answers ${id} or announces a 202`, apply: answer(id) },
    { name: `the API answers ${id}, with 202 if need be`, apply: world => answer(id)(answer(id)(world)) },
  ])

/** Actions that may happen at any time, even between two steps of the worker: by the accountant and the API. */
export const movesMeanwhile = (world: World): Move[] => [...answers(world), ...movesOf(world)]

const movesOf = ({ left, unannounced, service }: World): Move[] => [
  ...when(unannounced.length > 0, 'the withdrawal is announced', announce),
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

/** A webhook arrives, possibly to be repeated. */
export const arrive =
  (index: number, isLast = true) =>
  (world: World): World => {
    const event = world.webhooks[index]
    if (event === undefined) return world
    return isLast
      ? enqueue({ ...world, webhooks: world.webhooks.toSpliced(index, 1) }, event)
      : enqueue({ ...world, left: { ...world.left, repeats: world.left.repeats - 1 } }, event)
  }

/** All actions that may happen next outside the worker. */
export const moves = (world: World): Move[] => {
  const { left, webhooks, dead } = world
  return [
    ...when(left.deaths > 0 && isGivenUp(world), 'the event is given up', giveUp),
    ...dead.flatMap((_event, index) =>
      when(left.replays > 0, `dead letter ${index} is replayed`, replay(index)),
    ),
    ...left.requests.flatMap((name, index) =>
      // Only the first of equal requests, since their order makes no difference.
      when(left.requests.indexOf(name) === index, `store requests ${name}`, request(index)),
    ),
    ...movesMeanwhile(world),
    ...webhooks.flatMap((_webhook, index) => [
      { name: `webhook ${index} arrives`, apply: arrive(index) },
      ...when(left.repeats > 0, `webhook ${index} arrives and will arrive again`, arrive(index, false)),
    ]),
  ]
}

/** Shared, since creating many errors is slow. */
const INJECTED = new Error('injected')

/**
 * An incident at the worker's n-th await. `fails`: an error instead of the call, an error after the call with or
 * without its effect, or a crash before the call. `meanwhile`: another party acts just before the call.
 */
type Fault = { at: number } & (
  | { fails: 'before' | 'without effect' | 'after' | 'killed' }
  | { meanwhile: Move['apply'] }
)

/**
 * Runs `handleEvent` for the first event of the queue with the model's dependencies.
 *
 * @returns the resulting world and the number of awaits
 */
export const work = async (start: World, fault?: Fault): Promise<{ world: World; awaits: number }> => {
  const [first] = start.queue
  if (first === undefined) return { world: start, awaits: 0 }
  let world = start
  let awaits = 0
  let isKilled = false
  /** @param unanswered the result of a call to the service whose response is lost */
  const place = async <Result>(effect: () => Result, unanswered?: () => Result): Promise<Result> => {
    if (isKilled) throw INJECTED
    awaits++
    if (fault?.at !== awaits) return effect()
    if ('meanwhile' in fault) {
      world = fault.meanwhile(world)
      return effect()
    }
    isKilled = fault.fails === 'killed'
    if (fault.fails === 'after') effect()
    if (unanswered !== undefined && (fault.fails === 'after' || fault.fails === 'without effect'))
      return unanswered()
    throw INJECTED
  }
  const change = (next: () => Partial<World>) =>
    place(() => {
      world = { ...world, ...next() }
    })

  try {
    await handleEvent(first.event, {
      orders: {
        get: () =>
          place(() => {
            if (world.stored === undefined) return undefined
            const { failing, ...stored } = world.stored
            return { ...stored, ...(failing && { failing }), updated_at: '' }
          }),
        save: (saved, revision) =>
          change(() => {
            if ((world.stored?.revision ?? 0) !== revision) throw new Error('There are two writers')
            return { stored: { ...saved, revision: revision + 1 }, ...contentsOf(world, saved) }
          }),
      },
      announcements: {
        get: () => place(() => ({ withdrawals: world.announced, accepted: world.exact?.announced ?? [] })),
      },
      ...(start.exact && { exact: { text: JSON.stringify(first.event) } }),
      call: call =>
        place<CallResult>(
          () => {
            const { answer, service } = serve(world.service, call)
            world = { ...world, service }
            return answer
          },
          () => ({ to: call.to, outcome: 'unanswered', error: INJECTED }),
        ),
      publish: message => change(() => receive(world, message)),
      now: () => 0,
      retryRefused: 1,
      redelivered: first.redelivered,
    })
    await change(() => ({ queue: world.queue.slice(1) }))
  } catch (error) {
    if (error !== INJECTED) throw error
    const queue = world.queue.map(each => (each === first ? { ...each, redelivered: true } : each))
    // The worker records a failing event on its order, unless it is killed.
    const stored = world.stored && !isKilled ? { stored: { ...world.stored, failing: FAILING } } : {}
    world = { ...world, queue, ...stored }
  }
  return { world, awaits }
}

const FAILING: Failing = {
  event: '',
  delivery: '',
  queue: 'orders',
  receives: 1,
  since: '',
  at: '',
  next_at: '',
  code: '',
  message: '',
  behind: 0,
}

/** The messages of a version are saved only once. */
const contentsOf = (
  { saved, unsaved, exact, requested }: World,
  { order, outbox = { cause: { event: '', delivery: '' }, notices: [] } }: SavedOrder,
): Partial<World> => {
  const all = requested.map(({ id }) => id)
  const messages = exact === undefined ? feedMessages(order, outbox) : exactMessages(order, outbox, all)
  if (messages.length === 0) return {}
  const deliveries = messages.map(({ delivery }) => delivery)
  const isNew = saved[order.version] === undefined
  return {
    saved: { ...saved, [order.version]: deliveries },
    unsaved: isNew ? unsaved : [...unsaved, `version ${order.version} was saved twice`],
  }
}

const receive = (world: World, message: FeedMessage): Partial<World> => {
  const { received, store, saved, unsaved, exact } = world
  if (received.includes(message.delivery)) return {}
  const isSaved = saved[message.version]?.includes(message.delivery) === true
  const states = { ...store.states }
  const changed =
    message.event === 'order.updated'
      ? (message.requests ?? [])
      : [{ id: message.data.id, state: message.event.replace('order.', '') }]
  for (const { id, state } of changed) states[id] = [...(states[id] ?? []), state]
  const isNews = message.event === 'order.updated' && message.version >= store.version
  const body = message.exact && JSON.stringify(JSON.parse(message.exact).data)
  return {
    ...(exact && { exact: { ...exact, messages: [...exact.messages, body ?? 'another form'] } }),
    received: [...received, message.delivery].sort(),
    unsaved: isSaved ? unsaved : [...unsaved, `version ${message.version} was published before it was saved`],
    store: { ...store, states, ...(isNews && { result: message.data, version: message.version }) },
  }
}
