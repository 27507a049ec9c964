import type { Fault } from './faults.ts'
import type { Life } from './lives.ts'

/** A storm small enough to think about: few orders, and nothing but these faults. */
export type Small = { lives: readonly Life[]; faults: readonly Fault[] }

/** Whether a storm of this kind still goes wrong; asked again and again. False when there is no time left to ask. */
export type GoesWrong = (small: Small) => Promise<boolean>

/** What is left when chunks are taken out of a list for as long as the rest still goes wrong (delta debugging). */
const fewest = async <Entry>(all: readonly Entry[], fails: (some: readonly Entry[]) => Promise<boolean>) => {
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

const about = (lives: readonly Life[], { faults }: Small): Small => ({
  lives,
  faults: faults.filter(({ name }) => lives.some(({ id }) => name.includes(id))),
})

/** Most storms go wrong about one order: so few are looked at alone before all of them together. */
const ALONE = 3

/**
 * Makes a failing storm small: each of the orders that complained alone with what struck it, then all of them
 * together, then everything; and of the first that still goes wrong as few orders and faults as will do.
 * Answers with undefined when none does: then it hangs on more than what struck.
 */
export const shrink = async (
  found: Small,
  complained: ReadonlySet<string>,
  goesWrong: GoesWrong,
): Promise<Small | undefined> => {
  const guilty = found.lives.filter(({ id }) => complained.has(id))
  const smaller = [
    ...guilty.slice(0, ALONE).map(life => about([life], found)),
    ...(guilty.length > 1 ? [about(guilty, found)] : []),
    found,
  ]
  for (const candidate of smaller) {
    if (!(await goesWrong(candidate))) continue
    const lives = await fewest(
      candidate.lives,
      async some => some.length > 0 && goesWrong(about(some, candidate)),
    )
    const kept = lives.length === candidate.lives.length ? candidate : about(lives, candidate)
    const faults = await fewest(kept.faults, some => goesWrong({ lives, faults: some }))
    return { lives, faults }
  }
  return undefined
}
