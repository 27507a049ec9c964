import { createHash } from 'node:crypto'

/** A UUID (version 8, by hash) that is the same whenever it is made of the same parts. */
export const repeatableId = (...parts: unknown[]) => {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
