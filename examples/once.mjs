import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nextSeen } from 'order-relay-store'

/**
 * Records handled messages in a folder, one file for each order, with any Node version. If your store has a database,
 * record them there instead, in the transaction that handles the message.
 */
export const onceIn = folder => {
  mkdirSync(folder, { recursive: true })
  return async ({ data, ...message }, handle) => {
    const order = JSON.stringify([data.source, data.external_id])
    const file = join(folder, createHash('sha256').update(order).digest('hex'))
    const seen = nextSeen(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined, message)
    // Must be synchronous, so that no other message of the order is handled in between.
    if (seen !== undefined) {
      handle()
      writeFileSync(`${file}.new`, JSON.stringify(seen), { flush: true })
      renameSync(`${file}.new`, file)
    }
    return seen !== undefined
  }
}
