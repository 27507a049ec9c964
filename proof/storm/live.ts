import { setTimeout as sleep } from 'node:timers/promises'
import type { Life } from './lives.ts'
import type { Pace } from './pace.ts'
import { orderOf, type SandboxClient } from './service.ts'
import type { Ears, Requester } from './stores.ts'

/** What the relay has promised to see to. */
export type Promised = { create?: true; payment?: true; refund?: true }

export type World = { sandbox: SandboxClient; request: Requester; ears: Ears; pace: Pace }

/** What does not come within this time does not come; the end then shows what was missing. */
const PATIENCE_MS = 60_000
const LOOK_MS = 25

const refused = async ({ ears }: World, id: string) => {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(LOOK_MS)) {
    if (ears.of(id).some(({ event }) => event === 'order.rejected')) return
  }
}

const insist = async ({ request }: World, life: Life, path: string, body: object): Promise<true> => {
  const once = () => request(life.source, path, body)
  await (life.repeats === 'at once' ? Promise.all([once(), once()]) : once())
  if (life.repeats === 'afterwards') await once()
  return true
}

const book = async (world: World, life: Life, promised: Promised) => {
  const { sandbox } = world
  const { id, source, bookedBy, unknownProduct, paidAtOnce, review } = life
  const stock = review ? 0 : 10
  const body = orderOf(source, id, paidAtOnce)
  if (unknownProduct) {
    promised.create = await insist(world, life, '', body)
    await refused(world, id)
  }
  await sandbox.stock(id, stock)
  if (bookedBy === 'store') await sandbox.create(source, id, paidAtOnce)
  else promised.create = await insist(world, life, '', body)
}

/** The accountant comes to it when it is time, and as often as it takes until it is there and mended. */
const mend = async ({ sandbox, pace }: World, { id, source, review, mendedAfter }: Life) => {
  if (!review || mendedAfter === undefined) return
  await sleep(mendedAfter * pace.thinks)
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(LOOK_MS)) {
    if (await sandbox.mend(source, id)) return
  }
}

/** Lets the store and the accountant do all that a life holds; answers with what the relay promised. */
export const live = async (world: World, life: Life): Promise<Promised> => {
  const { id, source, pays, returns, thinks } = life
  const [first, second, third] = thinks.map(part => part * world.pace.thinks)
  const promised: Promised = {}
  await sleep(first)
  await book(world, life, promised)
  const mending = mend(world, life)
  await sleep(second)
  if (pays) promised.payment = await insist(world, life, `${id}/payment/`, { source, method: 'card' })
  await sleep(third)
  if (returns) promised.refund = await insist(world, life, `${id}/refund/`, { source, reason: 'storm' })
  await mending
  return promised
}
