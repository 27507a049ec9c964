import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const refusePromise = handled => {
  if (!(handled instanceof Promise)) return
  handled.catch(() => undefined)
  throw new TypeError(
    'Cannot handle the message: `handle` returned a promise; with `onceIn`, it must be synchronous',
  )
}

/**
 * Records the delivery of each handled message in a folder, as an empty file. A message is handled again if the program is
 * killed between `handle` and the record. If your store has a database, record deliveries there instead, in the transaction
 * that handles the message. `handle` must be synchronous.
 */
export const onceIn = folder => {
  mkdirSync(folder, { recursive: true })
  return (message, handle) => {
    const record = join(folder, message.delivery)
    if (existsSync(record)) return
    refusePromise(handle(message))
    writeFileSync(record, '', { flush: true })
  }
}
