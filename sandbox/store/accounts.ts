import type { DatabaseSync } from 'node:sqlite'
import { command, query } from './query.ts'

/** Where money is kept: a cash box or a bank account. */
export type Account = { code: string; name: string; kind: 'cash' | 'bank' }

export const accounts = (db: DatabaseSync) => {
  const byCode = query<Account>(db, 'SELECT code, name, kind FROM accounts WHERE code = ?')
  const all = query<Account>(db, 'SELECT code, name, kind FROM accounts ORDER BY code')
  const put = command(
    db,
    `INSERT INTO accounts (code, name, kind) VALUES (?, ?, ?)
     ON CONFLICT (code) DO UPDATE SET name = excluded.name, kind = excluded.kind`,
  )
  return {
    find: (code: string) => byCode.one(code),
    list: () => all.all(),
    put: ({ code, name, kind }: Account) => put(code, name, kind),
  }
}
