import { expect, test } from '@jest/globals'
import { type Intent, isOpen, isSettled } from '../../lib/orders/order.ts'
import { check, copy, moves, movesMeanwhile, resultOf, type World, work } from './world.ts'

const world = (service: Partial<World['service']>, left: Partial<World['left']>): World => ({
  service: {
    status: 'none',
    heldPayment: false,
    receipts: 0,
    returns: 0,
    stocked: true,
    forgetful: false,
    total: 1000,
    ...service,
  },
  webhooks: [],
  queue: [],
  marks: [],
  store: { version: 0, states: {} },
  requested: [],
  received: [],
  left: {
    requests: [],
    fixes: 1,
    outsidePayments: 0,
    reversals: 0,
    edits: 0,
    repeats: 0,
    faults: 0,
    ...left,
  },
  ids: 0,
})

/** What must hold once nothing is under way any more (promises P5–P9). */
const violationsOf = ({ service, store, stored, requested }: World) => {
  const isAsked = stored?.order.intents.some(({ kind }) => kind !== 'withdrawal')
  const record = service.status === 'none' ? undefined : resultOf(service)
  const result = stored?.order.result
  const violations: string[] = []
  if (service.receipts > 1 || service.returns > 1) violations.push('something was registered twice')
  // The relay need not know what it never touched; what it knows must be true, and known to the store.
  if (result !== undefined || isAsked) {
    if (JSON.stringify(result) !== JSON.stringify(record))
      violations.push('the table differs from the service')
    if (JSON.stringify(store.result) !== JSON.stringify(record))
      violations.push('the store differs from the service')
  }
  if (stored?.order.doubt) violations.push('the order is in doubt')
  const registered: string[] = []
  for (const id of requested) {
    const { kind = 'nothing', state = 'unknown' } = stored?.order.intents.find(each => each.id === id) ?? {}
    const isInReview = service.status === 'needs_review'
    const isRight =
      !isOpen({ state } as Intent) ||
      (state === 'held' && kind === 'payment' && isInReview && service.heldPayment) ||
      (state === 'waiting' && kind === 'refund' && isInReview) ||
      (state === 'waiting' && kind === 'create' && service.refuses !== undefined)
    if (!isRight) violations.push(`${kind} is ${state} while the order is ${service.status}`)
    const heard = (store.states[id] ?? []).map(each => each.state)
    if (heard.at(-1) !== state) violations.push(`${kind} is ${state}, and the store heard ${heard}`)
    if (new Set(heard.filter(each => !isOpen({ state: each } as Intent))).size > 1)
      violations.push(`${kind} ended as ${heard}`)
    if (state === 'registered') registered.push(kind)
    if (state === 'duplicate' && kind !== 'create' && service.status === 'invoiced')
      violations.push(`${kind} counts as a duplicate of nothing`)
  }
  const count = (kind: string) => registered.filter(each => each === kind).length
  for (const kind of ['create', 'payment', 'refund'])
    if (count(kind) > 1) violations.push(`${kind} was registered twice`)
  const isPaidByStore = service.receipts > 0 && service.paidOutside === undefined && !service.reversed
  if (isPaidByStore && count('payment') === 0) violations.push('a payment was registered and has no request')
  if (count('payment') > 0 && service.receipts === 0 && !service.reversed && service.status !== 'refunded')
    violations.push('a payment counts as registered without a receipt')
  if (count('refund') > 0 && service.returns === 0) violations.push('a refund was forgotten')
  return violations
}

const isUnsettled = ({ stored }: World) => stored !== undefined && !isSettled(stored.order)

/**
 * Lets everything that is under way arrive, in order and without faults, then a check of an unsettled order,
 * and checks the end.
 *
 * @param known what was found before, by world: most worlds lead to one that was already checked
 */
const violationsInTheEnd = async (start: World, known: Map<string, string[]>): Promise<string[]> => {
  const end = copy(start)
  const passed: string[] = []
  let isChecked = false
  for (;;) {
    const name = JSON.stringify(end)
    if (end.queue.length === 0 && end.webhooks.length === 0 && !isChecked && isUnsettled(end)) {
      isChecked = true
      check(end)
      continue
    }
    const isOver = end.queue.length === 0 && end.webhooks.length === 0
    const violations = known.get(name) ?? (isOver ? violationsOf(end) : undefined)
    passed.push(name)
    if (violations !== undefined) {
      for (const each of passed) known.set(each, violations)
      return violations
    }
    expect(passed.length).toBeLessThan(50)
    if (end.queue.length > 0) await work(end)
    else
      moves(end)
        .find(({ name }) => name === 'webhook 0 arrives')
        ?.apply(end)
  }
}

/** Explores every order of events, with a crash of the worker at every await. */
const explore = async (start: World): Promise<{ worlds: number; violated: string[] }> => {
  const seen = new Set<string>()
  const known = new Map<string, string[]>()
  const violated: string[] = []
  const visit = async (current: World, path: readonly string[]): Promise<void> => {
    const name = JSON.stringify(current)
    if (seen.has(name) || violated.length > 0) return
    seen.add(name)
    const violations = await violationsInTheEnd(current, known)
    if (violations.length > 0) violated.push(`${violations.join('; ')} after: ${path.join(', ')}`)

    for (const { name, apply } of moves(current)) {
      const next = copy(current)
      apply(next)
      await visit(next, [...path, name])
    }
    if (current.queue.length === 0) return
    const undisturbed = copy(current)
    const awaits = await work(undisturbed)
    await visit(undisturbed, [...path, 'worker'])
    for (let at = 1; at <= awaits; at++) {
      for (const { name, apply } of movesMeanwhile(current)) {
        const next = copy(current)
        await work(next, { at, meanwhile: apply })
        await visit(next, [...path, `worker, and before its await ${at}: ${name}`])
      }
      if (current.left.faults === 0) continue
      for (const fails of ['before', 'after'] as const)
        for (const kills of [false, true]) {
          const next = copy(current)
          next.left.faults--
          await work(next, { at, fails, kills })
          await visit(next, [...path, `${kills ? 'crash' : 'error'} ${fails} await ${at} of the worker`])
        }
    }
  }
  await visit(start, [])
  return { worlds: seen.size, violated }
}

const all = ['create', 'payment', 'refund'] as const

test.each([
  ['an order that needs review', world({ stocked: false }, { requests: [...all], faults: 1 })],
  ['an order that is invoiced immediately', world({}, { requests: [...all], faults: 2 })],
  ['an order that is rejected', world({ refuses: 'invalid' }, { requests: [...all], faults: 2 })],
  [
    'an order that is refused until its product is added',
    world({ refuses: 'unknown_sku' }, { requests: ['create', 'create', 'payment'], faults: 1 }),
  ],
  [
    'requests that are repeated',
    world({ stocked: false }, { requests: ['create', 'create', 'payment', 'payment'], faults: 1 }),
  ],
  [
    'a refund that is withdrawn',
    world({ status: 'needs_review' }, { requests: ['refund', '-refund'], faults: 1 }),
  ],
  [
    'a payment that is withdrawn, and requested again',
    world({ status: 'invoiced' }, { requests: ['payment', '-payment', 'payment'], outsidePayments: 1 }),
  ],
  [
    'an order created at the service, with repeated webhooks',
    world({ status: 'needs_review' }, { requests: ['payment', 'refund'], repeats: 2, faults: 1 }),
  ],
  [
    'an accountant who is faster than the store',
    world({ stocked: false }, { requests: [...all], outsidePayments: 1, repeats: 1 }),
  ],
  [
    'an invoice edited twice without a change of status',
    world({ status: 'invoiced' }, { requests: ['payment'], edits: 2, repeats: 1 }),
  ],
  [
    'a service that forgets the payment it held',
    world({ stocked: false, forgetful: true }, { requests: [...all], faults: 1 }),
  ],
  [
    'an accountant who moves an order back',
    world({ status: 'invoiced' }, { outsidePayments: 1, reversals: 2, repeats: 1 }),
  ],
  [
    'an accountant who moves back what the store pays',
    world({ stocked: false }, { requests: ['create', 'payment'], reversals: 1, repeats: 1 }),
  ],
  ['two faults', world({ status: 'needs_review' }, { requests: ['payment', 'refund'], faults: 2 })],
])(
  '%s: every interleaving ends with service, table and store in agreement',
  async (_name, start) => {
    const { worlds, violated } = await explore(start)
    expect(violated).toEqual([])
    expect(worlds).toBeGreaterThan(250)
  },
  60_000,
)
