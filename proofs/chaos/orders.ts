import { setTimeout as sleep } from 'node:timers/promises'
import { feedQueueName, QUEUES } from '../../lib/platform/names.ts'
import type { Lifecycle } from '../../test/support/scenarios.ts'
import { SOURCES, type Source } from './backends.ts'
import { chance } from './chance.ts'
import { createRequest } from './service.ts'
import type { World } from './world.ts'

/** The lifecycle of an order; times are in milliseconds. */
export type ChaosOrder = {
  id: string
  source: Source
  lifecycle: Lifecycle
  /** The store makes each request twice, sequentially or concurrently. */
  repeats: 'never' | 'afterwards' | 'at once'
  /** The pause before each step of the store. */
  pauses: readonly [number, number, number]
  /** Two accountants fix the order concurrently. */
  twoAccountants: boolean
  /** The time after the fix at which the accountant resends the webhook, which may then be outdated. */
  resentAfter: number | undefined
}

const LONGEST_PAUSE_MS = 400
const LONGEST_FIX_MS = 3 * LONGEST_PAUSE_MS

/** A random order that depends only on the seed and its number. */
export const randomOrder = (seed: number, number: number): ChaosOrder => {
  const id = `o${String(number).padStart(5, '0')}`
  const roll = (what: string) => chance(seed, id, what)
  const happens = (what: string, share: number) => roll(what) < share
  const createdBy = happens('created by', 0.75) ? 'relay' : 'service'
  const review = createdBy === 'service' || happens('review', 0.5)
  const repeat = roll('repeats')
  return {
    id,
    source: SOURCES[Math.floor(roll('source') * SOURCES.length)] ?? 'api',
    lifecycle: {
      createdBy,
      ...(createdBy === 'relay' && happens('unknown product', 0.12) && { unknownProduct: 'first' }),
      paidAtOnce: happens('paid at once', 0.3),
      review,
      ...(happens('fixed', 0.9) && { fixedAfter: roll('fixed after') * LONGEST_FIX_MS }),
      pays: happens('pays', 0.7),
      refunds: happens('refunds', 0.4),
    },
    repeats: repeat < 0.7 ? 'never' : repeat < 0.85 ? 'afterwards' : 'at once',
    pauses: [roll('first'), roll('second'), roll('third')].map(part => part * LONGEST_PAUSE_MS) as [
      number,
      number,
      number,
    ],
    twoAccountants: happens('two accountants', 0.1),
    resentAfter: happens('resent', 0.3) ? roll('resent after') * LONGEST_FIX_MS : undefined,
  }
}

const LOOK_MS = 25
const LONGEST_LOOK_MS = 1000
/** After this time, a result counts as stuck, even on a slow machine. */
const STUCK_MS = 600_000

/** Waits for a promised result; rejects when nothing is in flight that could produce it. */
export const waitFor = async (
  world: World,
  what: string,
  isThere: () => boolean | Promise<boolean>,
): Promise<void> => {
  const end = Date.now() + STUCK_MS
  for (let wait = LOOK_MS; !(await isThere()); wait = Math.min(wait * 1.5, LONGEST_LOOK_MS)) {
    // The result may have arrived meanwhile, or the stack may have been killed.
    const isStuck = wait === LONGEST_LOOK_MS && (await isIdle(world)) && !(await isThere())
    if ((isStuck && (await isIdle(world))) || Date.now() > end) throw new Error(`${what} never came`)
    await sleep(wait)
  }
}

/** In the sequence in which messages pass through them. */
const CONSUMED = [QUEUES.orders, QUEUES.bulk, ...SOURCES.map(source => feedQueueName(source))]

/** Whether no message is in flight from the relay to the service or a store. */
export const isIdle = async ({ journal, depth }: World): Promise<boolean> => {
  if (journal.underWay > 0) return false
  for (const queue of CONSUMED) if ((await depth(queue)) > 0) return false
  return journal.underWay === 0
}

const RETRY_MS = 40

/** Plays the actions of the store and the accountant on an order. */
export const play = async (world: World, order: ChaosOrder, over: AbortSignal): Promise<void> => {
  const { service, inbox, request, journal } = world
  const { id, source, lifecycle, repeats, pauses, twoAccountants, resentAfter } = order
  const {
    createdBy,
    unknownProduct,
    paidAtOnce = false,
    review = false,
    fixedAfter,
    pays,
    refunds,
  } = lifecycle

  /** Repeats a request until the relay accepts it. */
  const insist = async (path: string, body: object) => {
    for (const end = Date.now() + STUCK_MS; ; await sleep(RETRY_MS)) {
      const { isAccepted, status } = await request('POST', source, path, body)
      if (isAccepted) return
      const isFinal = status >= 400 && status < 500 && status !== 429
      if (isFinal || over.aborted || Date.now() > end)
        throw new Error(`the relay did not accept /orders/${path}, at last with ${status}`)
    }
  }
  const ask = async (path: string, body: object) => {
    const once = () => insist(path, body)
    await (repeats === 'at once' ? Promise.all([once(), once()]) : once())
    if (repeats === 'afterwards') await once()
    journal.note(`store: ${id} /${path} accepted`)
  }
  const create = async () => {
    const body = createRequest(source, id, paidAtOnce)
    if (unknownProduct !== undefined) {
      await ask('', body)
      await waitFor(world, 'the refusal of the product', () =>
        inbox.of(id).some(({ event }) => event === 'order.waiting'),
      )
    }
    await service.stock(id, review ? 0 : 10)
    await (createdBy === 'service' ? service.create(source, id, paidAtOnce) : ask('', body))
  }
  const fix = async () => {
    if (!review || fixedAfter === undefined) return
    await sleep(fixedAfter)
    await waitFor(world, 'the order to be fixed', async () => {
      const accountants = Array.from({ length: twoAccountants ? 2 : 1 }, () => service.fix(source, id))
      return (await Promise.all(accountants)).some(fixed => fixed)
    })
    journal.note(`accountant: ${id} fixed`)
    if (resentAfter === undefined) return
    await sleep(resentAfter)
    await service.resend(id)
    journal.note(`accountant: ${id} webhooks sent again`)
  }
  const shop = async () => {
    await sleep(pauses[1])
    if (pays) await ask(`${id}/payment/`, { source, method: 'card' })
    await sleep(pauses[2])
    if (refunds) await ask(`${id}/refund/`, { source, reason: 'chaos' })
    // The relay can only read orders that it was asked about.
    const read = async () => (await request('GET', source, `${id}/`)).isAccepted
    if (createdBy === 'relay') await waitFor(world, 'the order', read)
  }
  await sleep(pauses[0])
  await create()
  await Promise.all([shop(), fix()])
}
