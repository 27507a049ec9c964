import { expect, test } from '@jest/globals'
import { isOpen, isSettled, type RequestState, requestViews } from '../../lib/orders/order.ts'
import { resultOf, serviceOrder } from '../support/service-order.ts'
import { answers, arrive, check, KEY, moves, movesMeanwhile, type World, work } from './world.ts'

const QUIET = { outsidePayments: 0, reversals: 0, edits: 0, repeats: 0, faults: 0, deaths: 0, replays: 0 }

const world = (service: Partial<World['service']>, left: Partial<World['left']>): World => ({
  service: { stocked: true, forgetful: false, ...service },
  webhooks: [],
  sent: 0,
  queue: [],
  dead: [],
  unannounced: [],
  announced: [],
  requested: [],
  received: [],
  saved: {},
  unsaved: [],
  store: { version: 0, states: {} },
  left: { requests: [], fixes: 1, ...QUIET, ...left, faults: Math.min(left.faults ?? 0, MOST_FAULTS) },
})

/** The invariants once nothing is in flight (promises P5, P6, P7, P8, P9). */
const violationsOf = (world: World) => {
  const { service, store, stored, requested, dead, unsaved, exact } = world
  const { status, receipts = 0, returns = 0, holdsPayment = false } = service.order ?? {}
  const isInReview = status === 'needs_review'
  const record = service.order && resultOf(KEY, service.order)
  const result = stored?.order.result
  const views = stored === undefined ? [] : requestViews(stored.order)
  const isLost = (id: string) => dead.some(({ delivery }) => delivery === id)
  // Its replay, or any other event, publishes the saved messages.
  const isPublished = stored?.outbox === undefined || !isLost(stored.outbox.cause.delivery)
  const violations: string[] = [...unsaved]
  if (receipts > 1 || returns > 1) violations.push('something was registered twice')
  // Except for untouched orders and dead letters, the relay and the store must know the true state. An exact store's
  // refused requests do not make the relay read an order.
  const isTracked = exact === undefined && views.some(({ kind }) => kind !== 'withdrawal')
  if (dead.length === 0 && (result !== undefined || isTracked)) {
    if (JSON.stringify(result) !== JSON.stringify(record))
      violations.push('the table differs from the service')
    if (exact === undefined && JSON.stringify(store.result) !== JSON.stringify(record))
      violations.push('the store differs from the service')
  }
  if (stored?.order.doubt) violations.push('the order is in doubt')

  const isCreateRefused = stored?.order.open.create !== undefined && service.refuses !== undefined
  const isRight: Record<string, boolean> = {
    ...(exact === undefined && {
      'refund waiting': isInReview || isCreateRefused,
      'payment waiting': isCreateRefused,
      'create waiting': isCreateRefused,
    }),
    'payment held': isInReview && holdsPayment,
  }
  const stateOf = (id: string) => views.find(view => view.id === id)?.state
  const isCreateRejected =
    service.refuses === 'invalid' || requested.some(({ id, kind }) => kind === 'create' && isLost(id))
  const ended: Record<string, RequestState[]> = { create: [], payment: [], refund: [], withdrawal: [] }
  for (const { id, kind: of, isWithdrawal, at, isAfterCreate } of requested) {
    const kind = isWithdrawal ? 'withdrawal' : of
    const state = stateOf(id)
    const published = store.states[id] ?? []
    if (state === undefined) {
      if (!isLost(id)) violations.push(`${id} is unknown while the order is ${status}`)
      continue
    }
    ended[kind]?.push(state)
    if (isOpen(state) && isRight[`${kind} ${state}`] !== true)
      violations.push(`${id} is ${state} while the order is ${status}`)
    if (exact === undefined && isPublished && published.at(-1) !== state)
      violations.push(`${id} is ${state}, and ${published} was published`)
    if (published.filter(each => !isOpen(each as RequestState)).length > 1)
      violations.push(`${id} ended as ${published}`)
    if (state === 'duplicate' && (kind === 'payment' || kind === 'refund') && status === 'invoiced')
      violations.push(`${id} counts as a duplicate of nothing`)
    if (exact === undefined && state === 'rejected' && !isWithdrawal && isAfterCreate && !isCreateRejected)
      violations.push(`${id} was rejected although its order was created before`)
    const isWithdrawn = requested.some(
      other =>
        other.isWithdrawal && other.kind === kind && other.at > at && stateOf(other.id) === 'registered',
    )
    if (isWithdrawn ? state === 'registered' || state === 'held' : state === 'withdrawn')
      violations.push(`${id} is ${state}, although it was ${isWithdrawn ? '' : 'not '}withdrawn`)
  }
  const count = (kind: string, ...states: RequestState[]) =>
    ended[kind]?.filter(state => states.includes(state)).length ?? 0
  for (const kind of ['create', 'payment', 'refund'])
    if (count(kind, 'registered') > 1) violations.push(`${kind} was registered twice`)
  const isPaidByStore = receipts > 0 && service.paidOutside === undefined && !service.reversed
  const isPaymentLost = requested.some(({ id, kind }) => kind === 'payment' && isLost(id))
  if (isPaidByStore && !isPaymentLost && count('payment', 'registered', 'duplicate') === 0)
    violations.push('a payment was registered and has no request')
  if (isInReview && holdsPayment && !service.reversed && !isPaymentLost && count('payment', 'held') === 0)
    violations.push('the service holds a payment, and none is held')
  if (
    count('payment', 'registered', 'duplicate') > 0 &&
    receipts === 0 &&
    !service.reversed &&
    status !== 'refunded'
  )
    violations.push('a payment counts as registered without a receipt')
  if (count('refund', 'registered', 'duplicate') > 0 && returns === 0)
    violations.push('a refund was forgotten')
  return exact === undefined ? violations : [...violations, ...exactViolationsOf(world)]
}

/** An exact store has learned the order's result from an answer or a message, and no message repeats an answer. */
const exactViolationsOf = ({ service, stored, dead, sent, exact }: World): string[] => {
  const { accepted = [], announced = [], messages = [], answers = [] } = exact ?? {}
  const record = service.order && resultOf(KEY, service.order)
  const views = stored === undefined ? [] : requestViews(stored.order)
  // Without a change, the refusal of a request has shown that the order is in review.
  const isInReview = sent === 0 && service.order?.status === 'needs_review'
  const isKnown = [...messages, ...answers].some(text => {
    const { duplicate: _, ...result } = text.startsWith('{') ? JSON.parse(text) : {}
    return JSON.stringify(result) === JSON.stringify(record)
  })
  const isDone = (id: string) =>
    views.some(view => view.id === id && (view.state === 'registered' || view.state === 'duplicate'))
  const untold = accepted.filter(
    id => isDone(id) && !messages.some(text => DONE[id.split(' ')[0] ?? '']?.test(text)),
  )
  return [
    ...(stored?.order.result !== undefined && dead.length === 0 && !isKnown && !isInReview
      ? ['the store has not learned the result']
      : []),
    ...untold.map(id => `${id} was answered 202, and its outcome was not published`),
    ...(sent === 0 && announced.length === 0 && messages.length > 0
      ? ['the answer to a request was published']
      : []),
    ...(messages.includes('another form') ? ['a message has another form'] : []),
  ]
}

/** A result once a request of each kind is carried out. */
const DONE: Readonly<Record<string, RegExp>> = {
  create: /"status":/,
  payment: /"status":"(paid|refunded)"/,
  refund: /"status":"refunded"/,
}

const isUnsettled = ({ stored }: World) => stored !== undefined && !isSettled(stored.order)

const numbers = new Map<string, number>()
const numbered = new WeakMap<object, number>()

/** Assigns equal values the same number. A world shares most of its parts with its predecessor. */
const numberOf = (part: object): number => {
  const known = numbered.get(part)
  if (known !== undefined) return known
  const text = JSON.stringify(part)
  const number = numbers.get(text) ?? numbers.size
  numbers.set(text, number)
  numbered.set(part, number)
  return number
}

/** A key that is equal for equal worlds. */
const nameOf = (world: World) =>
  Object.values(world)
    .map(part => (typeof part === 'object' ? numberOf(part) : part))
    .join()

/** Explores every sequence of events, with a crash of the worker at every await. */
const explore = async (start: World): Promise<{ worlds: number; violated: string[] }> => {
  const worked = new Map<string, Awaited<ReturnType<typeof work>>>()
  /** The worker handles the first event without disturbance. */
  const undisturbed = async (world: World, name: string) => {
    const after = worked.get(name) ?? (await work(world))
    worked.set(name, after)
    return after
  }

  const ends = new Map<string, readonly string[]>()
  /**
   * Delivers everything in flight, in sequence and without faults, then checks an unsettled order, and returns the
   * violations.
   */
  const violationsInTheEnd = async (start: World): Promise<readonly string[]> => {
    const passed: string[] = []
    let violations: readonly string[] | undefined
    for (let world = start, isChecked = false; violations === undefined; ) {
      const name = nameOf(world)
      if (passed.push(name) > 50) throw new Error('The worker never comes to an end')
      if (ends.has(name)) violations = ends.get(name)
      else if (world.queue.length > 0) world = (await undisturbed(world, name)).world
      else if (world.webhooks.length > 0) world = arrive(0)(world)
      else if (answers(world)[0] !== undefined) world = answers(world)[0]?.apply(world) ?? world
      else if (!isChecked && isUnsettled(world)) [world, isChecked] = [check(world), true]
      else violations = violationsOf(world)
    }
    for (const name of passed) ends.set(name, violations)
    return violations
  }

  const seen = new Set<string>()
  const violated: string[] = []
  const visit = async (world: World, path: string): Promise<void> => {
    const name = nameOf(world)
    if (seen.has(name) || violated.length > 0) return
    seen.add(name)
    const violations = await violationsInTheEnd(world)
    if (violations.length > 0) violated.push(`${violations.join('; ')} after${path}`)

    for (const { name: move, apply } of moves(world)) await visit(apply(world), `${path}, ${move}`)
    if (world.queue.length === 0) return
    const { world: next, awaits } = await undisturbed(world, name)
    await visit(next, `${path}, worker`)
    for (let at = 1; at <= awaits; at++) {
      // Before the first await equals a move before the worker; before the last one equals a move after it.
      for (const { name: move, apply } of at > 1 && at < awaits ? movesMeanwhile(world) : []) {
        const { world: next } = await work(world, { at, meanwhile: apply })
        await visit(next, `${path}, worker, and before its await ${at}: ${move}`)
      }
      if (world.left.faults === 0) continue
      const left = { ...world.left, faults: world.left.faults - 1 }
      // A crash after an await equals one before the next.
      for (const fails of ['before', 'without effect', 'after', 'killed'] as const) {
        const { world: next } = await work({ ...world, left }, { at, fails })
        await visit(next, `${path}, await ${at} of the worker: ${fails}`)
      }
    }
  }
  await visit(start, '')
  return { worlds: seen.size, violated }
}

const all = ['create', 'payment', 'refund'] as const
const paid = ['create', 'payment'] as const

/** Maximum number of faults for each order; `npm run proof -- interleavings` explores two. */
const MOST_FAULTS = Number(process.env.INTERLEAVINGS_FAULTS ?? 1)

const short = { stocked: false }
const inReview = { order: serviceOrder('needs_review') }
const invoiced = { order: serviceOrder('invoiced') }

test.each<[string, ...Parameters<typeof world>]>([
  ['an order that needs review', short, { requests: all, faults: 1 }],
  ['an order that is invoiced immediately', {}, { requests: all, faults: 2 }],
  ['an order that is rejected', { refuses: 'invalid' }, { requests: all, faults: 2 }],
  [
    'an order whose product is added',
    { refuses: 'unknown_sku' },
    { requests: ['create', ...paid], faults: 1 },
  ],
  ['requests that are repeated', short, { requests: ['create', ...paid, 'payment'], faults: 1 }],
  ['a refund that is withdrawn', inReview, { requests: ['refund', '-refund'], faults: 1 }],
  [
    'a payment that is withdrawn, and requested again',
    ...([invoiced, { requests: ['payment', '-payment', 'payment'], outsidePayments: 1 }] as const),
  ],
  ['a payment that is withdrawn in review', inReview, { requests: ['payment', '-payment'], faults: 2 }],
  [
    'a withdrawal whose event is given up',
    ...([
      invoiced,
      { requests: ['payment', '-payment', 'payment'], faults: 2, deaths: 2, replays: 1 },
    ] as const),
  ],
  [
    'a withdrawal whose event is given up in review',
    ...([inReview, { requests: ['payment', '-payment'], faults: 2, deaths: 1 }] as const),
  ],
  [
    'a withdrawal of two payments',
    ...([invoiced, { requests: ['payment', 'payment', '-payment'], faults: 1 }] as const),
  ],
  [
    'requests behind a create that is refused',
    // The largest world by far: one fault less.
    ...([{ refuses: 'unknown_sku' }, { requests: [...all, '-payment'], faults: MOST_FAULTS - 1 }] as const),
  ],
  ['an order that the service knew before', invoiced, { requests: paid, edits: 1, faults: 2 }],
  ['an order created at the service', inReview, { requests: ['payment', 'refund'], repeats: 2, faults: 1 }],
  ['an accountant who is faster than the store', short, { requests: all, outsidePayments: 1, repeats: 1 }],
  ['an invoice edited twice in a status', invoiced, { requests: ['payment'], edits: 2, repeats: 1 }],
  ['a service that forgets the payment it held', { ...short, forgetful: true }, { requests: all, faults: 1 }],
  ['an accountant who moves an order back', invoiced, { outsidePayments: 1, reversals: 2, repeats: 1 }],
  ['an accountant who moves back what is paid', short, { requests: paid, reversals: 1, repeats: 1 }],
  ['two faults', inReview, { requests: ['payment', 'refund'], faults: 2 }],
])(
  '%s: the service, table and store agree after every interleaving',
  async (_name, service, left) => {
    const { worlds, violated } = await explore(world(service, left))
    expect(violated).toEqual([])
    expect(worlds).toBeGreaterThan(250)
  },
  60_000,
)

const nothing = { waiting: [], announced: [], accepted: [], answers: [], messages: [] }

test.each<[string, ...Parameters<typeof world>]>([
  ['an order that needs review', short, { requests: paid }],
  ['a refund in review', inReview, { requests: ['refund'], faults: 1 }],
  ['a payment in review, repeated', inReview, { requests: ['payment', 'payment'] }],
  ['a payment that is refunded', invoiced, { requests: ['payment', 'refund'] }],
  ['an order that is rejected', { refuses: 'unknown_sku' }, { requests: ['create', 'create'], faults: 1 }],
  ['a service that forgets the payment it held', { ...inReview, forgetful: true }, { requests: ['payment'] }],
  [
    'an accountant who is faster than the store',
    invoiced,
    { requests: ['payment'], outsidePayments: 1, faults: 1 },
  ],
])(
  'exact store, %s: its answers and messages together have the result after every interleaving',
  async (_name, service, left) => {
    const { worlds, violated } = await explore({ ...world(service, left), exact: nothing })
    expect(violated).toEqual([])
    expect(worlds).toBeGreaterThan(50)
  },
  60_000,
)
