import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nextSeen } from 'order-relay-store'

/**
 * Remembers the handled messages in a folder, one file for each order, on any Node. A store with a database remembers them
 * there, in the transaction that handles the message.
 */
export const onceIn = folder => {
  mkdirSync(folder, { recursive: true })
  return async ({ data, ...message }, handle) => {
    const order = JSON.stringify([data.source, data.external_id])
    const file = join(folder, createHash('sha256').update(order).digest('hex'))
    const seen = nextSeen(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined, message)
    // Must be synchronous, so that no other message of the order comes in between.
    if (seen !== undefined) {
      handle()
      writeFileSync(`${file}.new`, JSON.stringify(seen), { flush: true })
      renameSync(`${file}.new`, file)
    }
    return seen !== undefined
  }
}
