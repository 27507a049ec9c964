import type { DatabaseSync } from 'node:sqlite'
import { command, query } from './query.ts'

export type Webhook = { url: string; secret: string; created_at: string }

export const webhooks = (db: DatabaseSync) => {
  const byUrl = query<Webhook>(db, 'SELECT url, secret, created_at FROM webhooks WHERE url = ?')
  const all = query<Webhook>(db, 'SELECT url, secret, created_at FROM webhooks ORDER BY created_at, url')
  const put = command(db, 'INSERT OR REPLACE INTO webhooks (url, secret, created_at) VALUES (?, ?, ?)')
  const remove = command(db, 'DELETE FROM webhooks WHERE url = ?')
  return {
    find: (url: string) => byUrl.one(url),
    list: () => all.all(),
    put: ({ url, secret, created_at }: Webhook) => put(url, secret, created_at),
    remove,
  }
}
