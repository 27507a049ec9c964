import { DatabaseSync } from 'node:sqlite'
import { nextSeen, type Once, type Seen } from 'order-relay-store'

/** An asynchronous `handle` would write after the transaction has ended. */
const refusePromise = (handled: unknown) => {
  if (!(handled instanceof Promise)) return
  handled.catch(() => undefined)
  throw new TypeError(
    'Cannot handle the message: `handle` returned a promise; with `onceIn`, it must be synchronous',
  )
}

/** Remembers the handled messages in a SQLite file, in the transaction that handles them; `handle` must be synchronous. */
export const onceIn = (file: string): Once<DatabaseSync> => {
  const db = new DatabaseSync(file)
  db.exec(
    'CREATE TABLE IF NOT EXISTS seen (source, external_id, seen TEXT, PRIMARY KEY (source, external_id))',
  )
  return async (message, handle) => {
    const { source, external_id } = message.data
    db.exec('BEGIN IMMEDIATE')
    try {
      const row = db
        .prepare('SELECT seen FROM seen WHERE source = ? AND external_id = ?')
        .get(source, external_id)
      const seen = nextSeen(row && (JSON.parse(String(row.seen)) as Seen), message)
      if (seen !== undefined) {
        refusePromise(handle(db))
        db.prepare('INSERT OR REPLACE INTO seen VALUES (?, ?, ?)').run(
          source,
          external_id,
          JSON.stringify(seen),
        )
      }
      db.exec('COMMIT')
      return seen !== undefined
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
}
