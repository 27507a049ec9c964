import type { Fault } from './faults.ts'
import type { Life } from './lives.ts'

/** A storm small enough to think about: few orders, and nothing but these faults. */
export type Small = { lives: readonly Life[]; faults: readonly Fault[] }

/** Whether a storm of this kind still goes wrong; asked again and again. */
export type GoesWrong = (small: Small) => Promise<boolean>

/** What is left when chunks are taken out of a list for as long as the rest still goes wrong (delta debugging). */
const fewest = async <Entry>(all: readonly Entry[], fails: (some: readonly Entry[]) => Promise<boolean>) => {
  let left = all
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < left.length; ) {
      const without = [...left.slice(0, at), ...left.slice(at + size)]
      if (await fails(without)) left = without
      else at += size
    }
  }
  return left
}

/**
 * Makes a failing storm small: first the orders that complained, then fewer of them, then fewer faults.
 * Answers with the storm as it was when it does not fail a second time: then it hangs on chance.
 */
export const shrink = async (
  found: Small,
  complained: ReadonlySet<string>,
  goesWrong: GoesWrong,
): Promise<Small> => {
  const guilty = found.lives.filter(({ id }) => complained.has(id))
  const fewer = { ...found, lives: guilty }
  const lives = guilty.length > 0 && (await goesWrong(fewer)) ? guilty : found.lives
  const few = await fewest(lives, some => goesWrong({ ...found, lives: some }))
  const gone = found.lives.filter(life => !few.includes(life)).map(({ id }) => id)
  const left = found.faults.filter(({ name }) => !gone.some(id => name.includes(id)))
  const faults = await fewest(left, some => goesWrong({ lives: few, faults: some }))
  return { lives: few, faults }
}
