import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nextSeen } from 'order-relay-store'

/** Only if it handles a message synchronously, no other message of the order is handled in between. */
const refusePromise = handled => {
  if (!(handled instanceof Promise)) return
  handled.catch(() => undefined)
  throw new TypeError(
    'Cannot handle the message: `handle` returned a promise; with `onceIn`, it must be synchronous',
  )
}

/**
 * Records handled messages in a folder, one file for each order, with any Node version. A message is handled again if the
 * program is killed between `handle` and the record. If your store has a database, record messages there instead, in the
 * transaction that handles them. `handle` must be synchronous.
 */
export const onceIn = folder => {
  mkdirSync(folder, { recursive: true })
  return async ({ data, ...message }, handle) => {
    const order = JSON.stringify([data.source, data.external_id])
    const file = join(folder, createHash('sha256').update(order).digest('hex'))
    const seen = nextSeen(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined, message)
    if (seen !== undefined) {
      refusePromise(handle())
      writeFileSync(`${file}.new`, JSON.stringify(seen), { flush: true })
      renameSync(`${file}.new`, file)
    }
    return seen !== undefined
  }
}
