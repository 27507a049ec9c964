import type { DatabaseSync } from 'node:sqlite'
import { command, query } from './query.ts'

export type Customer = { code: string; mobile: string | null; name: string; email: string | null }

const COLUMNS = 'code, mobile, name, email'

export const customers = (db: DatabaseSync) => {
  const byMobile = query<Customer>(db, `SELECT ${COLUMNS} FROM customers WHERE mobile = ?`)
  const byCode = query<Customer>(db, `SELECT ${COLUMNS} FROM customers WHERE code = ?`)
  const all = query<Customer>(db, `SELECT ${COLUMNS} FROM customers ORDER BY code`)
  const insert = command(db, `INSERT INTO customers (${COLUMNS}) VALUES (?, ?, ?, ?)`)
  return {
    /** @param mobile in the leading-zero local form */
    findByMobile: (mobile: string) => byMobile.one(mobile),
    find: (code: string) => byCode.one(code),
    list: () => all.all(),
    insert: ({ code, mobile, name, email }: Customer) => insert(code, mobile, name, email),
  }
}
