import { existsSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

const HEADER = 32
const FRAME_HEADER = 24
const BIG_ENDIAN = 0x377f0683

type Sums = readonly [number, number]

/** The checksum of SQLite's write-ahead log (https://sqlite.org/fileformat.html#checksum_algorithm). */
const checksum = (bytes: Buffer, isBig: boolean, [first, second]: Sums): Sums => {
  let [a, b] = [first, second]
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    a = (a + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0
    b = (b + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0
  }
  return [a, b]
}

const sumsAt = (bytes: Buffer, at: number): Sums => [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
const isSame = (a: Sums, b: Sums) => a[0] === b[0] && a[1] === b[1]

/** Whether every frame is intact, except one that a kill interrupted. */
const isIntact = (wal: Buffer): boolean => {
  if (wal.length < HEADER) return true
  const magic = wal.readUInt32BE(0)
  if (magic >>> 1 !== BIG_ENDIAN >>> 1) return false
  const isBig = magic === BIG_ENDIAN
  let sums = checksum(wal.subarray(0, 24), isBig, [0, 0])
  if (!isSame(sums, sumsAt(wal, 24))) return false

  const size = FRAME_HEADER + wal.readUInt32BE(8)
  const count = Math.floor((wal.length - HEADER) / size)
  /** Frames with another salt are left over from before the log was last started again. */
  const isCurrent = (index: number) => isSame(sumsAt(wal, HEADER + index * size + 8), sumsAt(wal, 16))
  for (let index = 0; index < count; index += 1) {
    const frame = wal.subarray(HEADER + index * size, HEADER + (index + 1) * size)
    sums = checksum(frame.subarray(FRAME_HEADER), isBig, checksum(frame.subarray(0, 8), isBig, sums))
    if (isCurrent(index) && isSame(sums, sumsAt(frame, 16))) continue
    const rest = Array.from({ length: count - index - 1 }, (_, more) => index + 1 + more)
    return rest.length === 0 ? !isCurrent(index) : !rest.some(isCurrent)
  }
  return true
}

/**
 * Checks the write-ahead log before its database is opened: SQLite ignores a frame that is damaged, and every commit
 * behind it, without a word.
 *
 * @throws Error when it is damaged
 */
export const assertLogIntact = (database: string): void => {
  const wal = `${database}-wal`
  if (existsSync(wal) && !isIntact(readFileSync(wal))) throw new Error(`${wal} is damaged`)
}

/** @throws Error when SQLite finds an open database damaged */
export const assertIntact = (db: DatabaseSync): void => {
  const found = db.prepare('PRAGMA integrity_check(1)').get()?.integrity_check
  if (found !== 'ok') throw new Error('it is damaged')
}
