import { expect, test } from '@jest/globals'
import { accountantsMoves, moves, resultOf, type World, work } from './world.ts'

const world = (service: Partial<World['service']>, left: Partial<World['left']>): World => ({
  service: {
    status: 'none',
    heldPayment: false,
    receipts: 0,
    returns: 0,
    stocked: true,
    refuses: false,
    forgetful: false,
    total: 1000,
    refused: [],
    ...service,
  },
  webhooks: [],
  line: [],
  store: { version: 0, rejected: [] },
  asked: [],
  heard: [],
  left: { wishes: [], retries: 1, outsidePayments: 0, edits: 0, repeats: 0, faults: 0, ...left },
  ids: 0,
})

/** Lets everything that is under way arrive, in order and without faults. */
const drained = async (start: World): Promise<World> => {
  const end = structuredClone(start)
  for (let steps = 0; end.line.length > 0 || end.webhooks.length > 0; steps++) {
    expect(steps).toBeLessThan(50)
    if (end.line.length > 0) await work(end)
    else
      moves(end)
        .find(({ name }) => name === 'webhook 0 arrives')
        ?.apply(end)
  }
  return end
}

/** What must hold once nothing is under way any more (promises P5–P9). */
const agrees = ({ service, store, held, asked }: World) => {
  const truth = service.status === 'none' ? undefined : resultOf(service)
  const complaints: string[] = []
  if (service.receipts > 1 || service.returns > 1) complaints.push('something was registered twice')
  // What the relay never touched it need not know; what it knows must be the truth, and the store must know it too.
  if (held?.order.result !== undefined || asked.length > 0) {
    if (JSON.stringify(held?.order.result) !== JSON.stringify(truth))
      complaints.push('the table is not the truth')
    if (JSON.stringify(store.result) !== JSON.stringify(truth))
      complaints.push('the store does not know the truth')
  }
  if (held?.order.doubt) complaints.push('a doubt is left')
  for (const wish of asked) {
    const state = held?.order.intents[wish]?.state
    const review = service.status === 'needs_review'
    const fair =
      state === 'registered' ||
      (state === 'rejected' && service.refused.includes(wish) && store.rejected.includes(wish)) ||
      (state === 'held' && wish === 'payment' && review && service.heldPayment) ||
      (state === 'waiting' && wish === 'refund' && review)
    if (!fair) complaints.push(`${wish} is ${state} while the order is ${service.status}`)
    if (
      wish === 'payment' &&
      state === 'registered' &&
      service.receipts === 0 &&
      service.status !== 'refunded'
    ) {
      complaints.push('a payment counts as registered without a receipt')
    }
    if (wish === 'refund' && state === 'registered' && service.returns === 0)
      complaints.push('a refund was forgotten')
  }
  return complaints
}

/** Walks through every order of events, deaths of the worker at every await included. */
const explore = async (start: World): Promise<{ worlds: number; wrong: string[] }> => {
  const seen = new Set<string>()
  const wrong: string[] = []
  const visit = async (current: World, path: readonly string[]): Promise<void> => {
    const name = JSON.stringify(current)
    if (seen.has(name) || wrong.length > 0) return
    seen.add(name)
    const complaints = agrees(await drained(current))
    if (complaints.length > 0) wrong.push(`${complaints.join('; ')} after: ${path.join(', ')}`)

    for (const { name, apply } of moves(current)) {
      const next = structuredClone(current)
      apply(next)
      await visit(next, [...path, name])
    }
    if (current.line.length === 0) return
    const healthy = structuredClone(current)
    const awaits = await work(healthy)
    await visit(healthy, [...path, 'worker'])
    for (let at = 1; at <= awaits; at++) {
      for (const { name, apply } of accountantsMoves(current)) {
        const next = structuredClone(current)
        await work(next, { at, meanwhile: apply })
        await visit(next, [...path, `worker, and before its await ${at}: ${name}`])
      }
      if (current.left.faults === 0) continue
      for (const fails of ['before', 'after'] as const) {
        for (const dies of [false, true]) {
          const next = structuredClone(current)
          next.left.faults--
          await work(next, { at, fails, dies })
          await visit(next, [...path, `${dies ? 'death' : 'error'} ${fails} await ${at} of the worker`])
        }
      }
    }
  }
  await visit(start, [])
  return { worlds: seen.size, wrong }
}

const all = ['create', 'payment', 'refund'] as const

const lives: [string, World][] = [
  ['an order that needs review', world({ stocked: false }, { wishes: [...all], faults: 1 })],
  ['an order that is invoiced at once', world({}, { wishes: [...all], faults: 2 })],
  ['an order that is refused', world({ refuses: true }, { wishes: [...all], faults: 2 })],
  [
    'an order that the store made by itself, webhooks repeated',
    world({ status: 'needs_review' }, { wishes: ['payment', 'refund'], repeats: 2, faults: 1 }),
  ],
  [
    'an accountant who is faster than the store',
    world({ stocked: false }, { wishes: [...all], outsidePayments: 1, repeats: 1 }),
  ],
  [
    'an invoice that is changed twice without a change of status',
    world({ status: 'invoiced' }, { wishes: ['payment'], edits: 2, repeats: 1 }),
  ],
  [
    'a service that forgets the payment it held',
    world({ stocked: false, forgetful: true }, { wishes: [...all], faults: 1 }),
  ],
  ['two mishaps', world({ status: 'needs_review' }, { wishes: ['payment', 'refund'], faults: 2 })],
]

test.each(lives)(
  '%s: every interleaving ends with service, table and store in agreement',
  async (_name, start) => {
    const { worlds, wrong } = await explore(start)
    expect(wrong).toEqual([])
    expect(worlds).toBeGreaterThan(250)
  },
  60_000,
)
