import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isNativeError } from 'node:util/types'
import { addDays, exactDate, jalaliOf } from '@order-relay/web/calendar.ts'
import type { Clock } from '../clock.ts'
import { decimal } from '../decimal.ts'
import {
  accounts,
  CUSTOMERS_INDEX,
  customers,
  DEFAULT_SETTINGS,
  DEFAULT_UNIT,
  type FiscalYear,
  fiscalYears,
  products,
  seller,
  settings,
} from './catalogue.ts'
import { type Changes, changes } from './changes.ts'
import { closedInvoices } from './closed.ts'
import { DOCUMENT_INDEXES, documentList } from './document-list.ts'
import { heldPayments, receipts, repayments, returnRows, returns } from './documents.ts'
import { history } from './history.ts'
import { invoiceRows } from './invoice-rows.ts'
import { orders } from './orders.ts'
import { addFunctions, type Sql, statements } from './query.ts'
import { refusals } from './refusals.ts'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'
import { stockMoves } from './stock-moves.ts'
import { deliveries, webhooks } from './webhooks.ts'

/** The database if no file is given; closing it deletes it. */
const IN_MEMORY = ':memory:'

/** The database holds customers and webhook secrets. SQLite gives its -wal and -shm files the same mode. */
const OWNER_ONLY = 0o600

const tables = (sql: Sql, clock: Clock) => ({
  accounts: accounts(sql),
  closedInvoices: closedInvoices(sql),
  customers: customers(sql),
  documentList: documentList(sql, clock),
  deliveries: deliveries(sql, clock),
  fiscalYears: fiscalYears(sql),
  heldPayments: heldPayments(sql),
  history: history(sql, clock),
  invoiceRows: invoiceRows(sql),
  orders: orders(sql, clock),
  products: products(sql),
  receipts: receipts(sql, clock),
  refusals: refusals(sql, clock),
  repayments: repayments(sql, clock),
  returnRows: returnRows(sql),
  returns: returns(sql, clock),
  seller: seller(sql),
  settings: settings(sql),
  stockMoves: stockMoves(sql, clock),
  webhooks: webhooks(sql, clock),
})

export type Tables = ReturnType<typeof tables>

/** The fiscal year of Iran, from the first of Farvardin to the last day of Esfand of a Jalali year. */
const fiscalYearOf = (year: number): FiscalYear => {
  const [from = '', next = ''] = [year, year + 1].map(each => exactDate(`${each}/1/1`))
  return { from, to: addDays(next, -1), closed: false }
}

/** The content of a new database, sufficient for a first order to succeed. */
const seed = (store: Tables, { today }: Clock): void => {
  store.customers.insert({ code: 'walk-in', mobile: null, name: 'مشتری متفرقه', email: null })
  const empty = { opening_balance: '0', opening_date: null }
  store.accounts.put({ code: 'cash-1', name: 'صندوق فروشگاه', kind: 'cash', ...empty })
  store.accounts.put({ code: 'bank-1', name: 'حساب بانک ملت', kind: 'bank', ...empty })
  for (const [sku, name, stock, price] of [
    ['SKU-1', 'چای سیاه ۵۰۰ گرمی', 100, 1_500_000],
    ['SKU-2', 'قهوه ترک ۲۵۰ گرمی', 100, 1_250_000],
    ['SKU-3', 'زعفران یک مثقالی', 0, 12_500_000],
  ] as const)
    store.products.put({ sku, name, unit: DEFAULT_UNIT, stock: decimal(stock), price: decimal(price) })
  const [year = 0] = jalaliOf(today())
  store.fiscalYears.replace([year - 1, year, year + 1].map(fiscalYearOf))
  store.settings.put(DEFAULT_SETTINGS)
}

/**
 * Runs an action as a transaction, or as part of the current one: if it throws, none of its changes is stored or
 * announced.
 */
type Transact = <Result>(action: () => Result) => Result

const transactions = (db: DatabaseSync, { run }: Sql, { announce, mark }: Changes): Transact => {
  // IMMEDIATE takes the write lock first, so that no other process can use a number read inside.
  const whole = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT', undo: 'ROLLBACK' }
  const part = { begin: 'SAVEPOINT part', commit: 'RELEASE part', undo: 'ROLLBACK TO part; RELEASE part' }
  return action => {
    const isPart = db.isTransaction
    const { begin, commit, undo } = isPart ? part : whole
    const forget = mark()
    run(begin)
    try {
      const result = action()
      run(commit)
      if (!isPart) announce()
      return result
    } catch (error) {
      if (db.isTransaction) db.exec(undo)
      forget()
      throw error
    }
  }
}

/** The version whose search index lacks the references of cancelled documents. */
const WITHOUT_CANCELLED = 12

/** The version that does not tell which held payments with an amount were sent for the whole invoice. */
const WITHOUT_WHOLE = 13

/** The version that does not tell which receipts are of payments that a store has sent for the whole invoice. */
const WITHOUT_WHOLE_RECEIPTS = 14

const ADD_WHOLE = `
ALTER TABLE held_payments ADD COLUMN whole INTEGER NOT NULL DEFAULT 0 CHECK (whole IN (0, 1));
UPDATE held_payments SET whole = 1 WHERE amount IS NULL;
`

const ADD_WHOLE_RECEIPTS = `
ALTER TABLE receipts ADD COLUMN whole INTEGER NOT NULL DEFAULT 0 CHECK (whole IN (0, 1));
PRAGMA user_version = ${SCHEMA_VERSION};
`

const OLDER = [WITHOUT_CANCELLED, WITHOUT_WHOLE, WITHOUT_WHOLE_RECEIPTS]

/** Creates tables and content in one transaction, so that a kill cannot leave a partial database. */
const open = (db: DatabaseSync, sql: Sql, transact: Transact, clock: Clock): Tables =>
  transact(() => {
    const version = sql.one<{ user_version: number }>('PRAGMA user_version')?.user_version
    const opened = tables(sql, clock)
    if (version === SCHEMA_VERSION) {
      // Fails when the file is the database of another program.
      opened.settings.read()
    } else {
      if (version !== undefined && OLDER.includes(version)) {
        if (version !== WITHOUT_WHOLE_RECEIPTS) db.exec(ADD_WHOLE)
        db.exec(ADD_WHOLE_RECEIPTS)
        if (version === WITHOUT_CANCELLED)
          for (const number of opened.orders.withCancelled()) opened.orders.index(number)
      } else if (version === 0) {
        db.exec(SCHEMA)
        seed(opened, clock)
      } else throw new Error(`its tables have version ${version}, not ${SCHEMA_VERSION}`)
    }
    // A database of the same version may predate the indexes.
    db.exec(`${CUSTOMERS_INDEX}; ${DOCUMENT_INDEXES}`)
    return opened
  })

/**
 * Opens the database, and creates it if it does not exist.
 *
 * @param file path of the database file; undefined keeps the data in memory
 * @throws Error when the file cannot be opened or is not a database of the sandbox
 */
export const openStore = (file: string | undefined, clock: Clock) => {
  const path = file ?? IN_MEMORY
  try {
    if (file !== undefined) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      closeSync(openSync(file, 'a', OWNER_ONLY))
    }
    const db = new DatabaseSync(path)
    // Two sandboxes would number the orders of one another. Set before anything is read, it needs no shared memory.
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA locking_mode = EXCLUSIVE')
    // NORMAL does not sync the log at each commit: a commit survives the death of the process, but a power
    // failure can lose the most recent ones.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
    // A checkpoint syncs the disk; every 40 MB instead of every 4 keeps it out of the p99 latency.
    db.exec('PRAGMA wal_autocheckpoint = 10000')
    // In KiB: a search through a hundred thousand orders stays in memory.
    db.exec('PRAGMA cache_size = -65536')
    addFunctions(db)
    const [sql, log] = [statements(db), changes()]
    const transact = transactions(db, sql, log)
    const check = db.prepare('PRAGMA quick_check(1)').get()?.quick_check
    // SQLite reports damage in several lines; the local stack prefixes each, and repeats the last when a part ends.
    if (check !== 'ok') throw new Error(`it is damaged: ${String(check).replaceAll(/\s+/g, ' ')}`)
    const opened = open(db, sql, transact, clock)
    // Only now, since the file might not have been a database.
    if (file !== undefined) for (const suffix of ['', '-wal']) chmodSync(file + suffix, OWNER_ONLY)
    return { ...opened, clock, changes: log, transact, close: () => db.close() }
  } catch (cause) {
    const state = isNativeError(cause) ? cause.message : String(cause)
    if (state === 'database is locked') {
      const remedy = 'another sandbox uses it; stop that one, or use another file with --data'
      throw new Error(`Cannot open the database "${path}": ${remedy}`, { cause })
    }
    throw new Error(
      `Cannot open the database "${path}": ${state}; remove .order-relay (elsewhere, the file with its -wal file) to start over, or use another file with --data`,
      { cause },
    )
  }
}

export type Store = ReturnType<typeof openStore>
