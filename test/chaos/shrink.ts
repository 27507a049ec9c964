import type { Fault } from './faults.ts'
import type { ChaosOrder } from './orders.ts'

/** A run small enough to think about: a few orders, and only these faults. */
export type Case = { orders: readonly ChaosOrder[]; faults: readonly Fault[] }

/** Whether a run of this case still fails; false when no time is left to try. */
export type Fails = (small: Case) => Promise<boolean>

/** What is left when chunks are removed from a list while the rest still fails (delta debugging). */
const minimal = async <Entry>(all: readonly Entry[], fails: (some: readonly Entry[]) => Promise<boolean>) => {
  let left = all
  for (let size = left.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < left.length; ) {
      const without = [...left.slice(0, at), ...left.slice(at + size)]
      if (await fails(without)) left = without
      else at += size
    }
  }
  return left
}

const about = (orders: readonly ChaosOrder[], { faults }: Case): Case => ({
  orders,
  faults: faults.filter(({ name }) => orders.some(({ id }) => name.includes(id))),
})

/** Most runs fail because of one order, so this many are tried alone before all of them together. */
const ALONE = 3

/**
 * Makes a failing run small: tries some of the violated orders alone with their faults, then all of them, then
 * everything, and removes orders and faults from the first that fails again. Returns undefined when none does:
 * then the failure depends on more than the faults.
 */
export const shrink = async (
  found: Case,
  violated: ReadonlySet<string>,
  fails: Fails,
): Promise<Case | undefined> => {
  const suspects = found.orders.filter(({ id }) => violated.has(id))
  const candidates = [
    ...suspects.slice(0, ALONE).map(order => about([order], found)),
    ...(suspects.length > 1 ? [about(suspects, found)] : []),
    found,
  ]
  for (const candidate of candidates) {
    if (!(await fails(candidate))) continue
    const orders = await minimal(
      candidate.orders,
      async some => some.length > 0 && fails(about(some, candidate)),
    )
    const kept = orders.length === candidate.orders.length ? candidate : about(orders, candidate)
    return { orders, faults: await minimal(kept.faults, faults => fails({ orders, faults })) }
  }
  return undefined
}
