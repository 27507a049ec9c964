import { setTimeout as sleep } from 'node:timers/promises'
import type { Life } from './lives.ts'
import type { Pace } from './pace.ts'
import { orderOf, type SandboxClient } from './service.ts'
import type { Ears, Requester } from './stores.ts'
import type { Intrude } from './strangers.ts'

/** What the relay has promised to see to. */
export type Promised = { create?: true; payment?: true; refund?: true }

export type World = {
  sandbox: SandboxClient
  request: Requester
  intrude: Intrude
  ears: Ears
  pace: Pace
  note: (what: string) => void
  /** Whether nothing is on its way from the relay to the service or to a store. */
  isIdle: () => Promise<boolean>
}

const LOOK_MS = 25
const LONGEST_LOOK_MS = 1000
/** However slow the machine: what has not come by then is stuck. */
const PATIENCE_MS = 600_000

/** Waits for something that the relay has promised. What is not there when nothing is under way never comes. */
const awaited = async (world: World, what: string, isThere: () => boolean | Promise<boolean>) => {
  const end = Date.now() + PATIENCE_MS
  for (let wait = LOOK_MS; !(await isThere()); wait = Math.min(wait * 1.5, LONGEST_LOOK_MS)) {
    const nothingComes = wait === LONGEST_LOOK_MS && (await world.isIdle())
    if ((nothingComes && !(await isThere())) || Date.now() > end) throw new Error(`${what} never came`)
    await sleep(wait)
  }
}

const insist = async ({ request, note }: World, life: Life, path: string, body: object): Promise<true> => {
  const once = () => request(life.source, path, body)
  await (life.repeats === 'at once' ? Promise.all([once(), once()]) : once())
  if (life.repeats === 'afterwards') await once()
  note(`store: ${life.id} /${path} accepted`)
  return true
}

const book = async (world: World, life: Life, promised: Promised) => {
  const { sandbox, ears } = world
  const { id, source, bookedBy, unknownProduct, paidAtOnce, review } = life
  const stock = review ? 0 : 10
  const body = orderOf(source, id, paidAtOnce)
  if (unknownProduct) {
    promised.create = await insist(world, life, '', body)
    await awaited(world, 'the refusal of its product', () =>
      ears.of(id).some(({ event }) => event === 'order.rejected'),
    )
  }
  await sandbox.stock(id, stock)
  if (bookedBy === 'store') await sandbox.create(source, id, paidAtOnce)
  else promised.create = await insist(world, life, '', body)
}

/** The accountant comes to it when it is time, and as often as it takes until it is there and mended. */
const mend = async (world: World, life: Life) => {
  const { sandbox, pace, note } = world
  const { id, source, review, mendedAfter, twoAccountants = false, resentAfter } = life
  if (!review || mendedAfter === undefined) return
  await sleep(mendedAfter * pace.thinks)
  await awaited(world, 'the order that was to be mended', async () => {
    const each = Array.from({ length: twoAccountants ? 2 : 1 }, () => sandbox.mend(source, id))
    return (await Promise.all(each)).some(mended => mended)
  })
  note(`accountant: ${id} mended`)
  if (resentAfter === undefined) return
  await sleep(resentAfter * pace.thinks)
  await sandbox.resend(id)
  note(`accountant: ${id} webhook sent again`)
}

/** Lets store, accountant and stranger do all that a life holds; tells `promised` what the relay promised. */
export const live = async (world: World, life: Life, promised: Promised): Promise<void> => {
  const { id, source, pays, returns, thinks, stranger } = life
  const [first, second, third] = thinks.map(part => part * world.pace.thinks)
  await sleep(first)
  await book(world, life, promised)
  const shop = async () => {
    await sleep(second)
    if (pays) promised.payment = await insist(world, life, `${id}/payment/`, { source, method: 'card' })
    if (stranger !== undefined) await world.intrude(stranger, { source, external_id: id })
    await sleep(third)
    if (returns) promised.refund = await insist(world, life, `${id}/refund/`, { source, reason: 'storm' })
  }
  await Promise.all([shop(), mend(world, life)])
}
