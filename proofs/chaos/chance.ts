import { createHash } from 'node:crypto'

/** A number from 0 up to 1 that depends only on the arguments, not on earlier calls. */
export const chance = (...about: readonly (string | number)[]): number =>
  createHash('sha256').update(JSON.stringify(about)).digest().readUInt32BE(0) / 2 ** 32

/** A random entry, weighted. */
export const pick = <Entry extends { weight: number }>(
  entries: readonly [Entry, ...Entry[]],
  at: number,
): Entry => {
  let left = at * entries.reduce((sum, { weight }) => sum + weight, 0)
  for (const entry of entries) {
    left -= entry.weight
    if (left < 0) return entry
  }
  return entries[0]
}
