import type { DatabaseSync } from 'node:sqlite'
import { type Decimal, decimalFrom, shown } from '../decimal.ts'
import { command, query } from './query.ts'

/** The connection settings (spec: What the service does). `taxRate` is in percent. */
export type Settings = {
  defaultCustomer: string | null
  automaticCustomerCreation: boolean
  orderPaymentReceivingAccount: string | null
  taxRate: Decimal
  pricesIncludeTax: boolean
  automaticFinalization: boolean
  /** Whether a repeated create answers with the original result, not the present one. Not in the spec. */
  duplicatesReturnOriginal: boolean
}

type SettingsRow = {
  default_customer: string | null
  automatic_customer_creation: 0 | 1
  receiving_account: string | null
  tax_rate: string
  prices_include_tax: 0 | 1
  automatic_finalization: 0 | 1
  duplicates_return_original: 0 | 1
}

const SETTINGS = `default_customer, automatic_customer_creation, receiving_account, tax_rate,
  prices_include_tax, automatic_finalization, duplicates_return_original`

export const settings = (db: DatabaseSync) => {
  const only = query<SettingsRow>(db, `SELECT ${SETTINGS} FROM settings`)
  const put = command(
    db,
    `INSERT OR REPLACE INTO settings (only_row, ${SETTINGS}) VALUES (1, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    read: (): Settings => {
      const row = only.one()
      if (row === undefined) throw new Error('Cannot read the settings: the table is empty')
      return {
        defaultCustomer: row.default_customer,
        automaticCustomerCreation: row.automatic_customer_creation === 1,
        orderPaymentReceivingAccount: row.receiving_account,
        taxRate: decimalFrom(row.tax_rate),
        pricesIncludeTax: row.prices_include_tax === 1,
        automaticFinalization: row.automatic_finalization === 1,
        duplicatesReturnOriginal: row.duplicates_return_original === 1,
      }
    },
    put: (value: Settings) =>
      put(
        value.defaultCustomer,
        Number(value.automaticCustomerCreation),
        value.orderPaymentReceivingAccount,
        shown(value.taxRate),
        Number(value.pricesIncludeTax),
        Number(value.automaticFinalization),
        Number(value.duplicatesReturnOriginal),
      ),
  }
}

export type Product = { sku: string; name: string; stock: Decimal }

type ProductRow = { sku: string; name: string; stock: string }

const productOf = ({ sku, name, stock }: ProductRow): Product => ({ sku, name, stock: decimalFrom(stock) })

export const products = (db: DatabaseSync) => {
  const bySku = query<ProductRow>(db, 'SELECT sku, name, stock FROM products WHERE sku = ?')
  const all = query<ProductRow>(db, 'SELECT sku, name, stock FROM products ORDER BY sku')
  const setStock = command(db, 'UPDATE products SET stock = ?2 WHERE sku = ?1')
  const put = command(
    db,
    `INSERT INTO products (sku, name, stock) VALUES (?, ?, ?)
     ON CONFLICT (sku) DO UPDATE SET name = excluded.name, stock = excluded.stock`,
  )
  return {
    find: (sku: string) => {
      const row = bySku.one(sku)
      return row && productOf(row)
    },
    list: () => all.all().map(productOf),
    put: ({ sku, name, stock }: Product) => put(sku, name, shown(stock)),
    setStock: (sku: string, stock: Decimal) => setStock(sku, shown(stock)),
  }
}

export type Customer = { code: string; mobile: string | null; name: string; email: string | null }

const CUSTOMER = 'code, mobile, name, email'

export const customers = (db: DatabaseSync) => {
  const byMobile = query<Customer>(db, `SELECT ${CUSTOMER} FROM customers WHERE mobile = ?`)
  const byCode = query<Customer>(db, `SELECT ${CUSTOMER} FROM customers WHERE code = ?`)
  const all = query<Customer>(db, `SELECT ${CUSTOMER} FROM customers ORDER BY code`)
  const insert = command(db, `INSERT INTO customers (${CUSTOMER}) VALUES (?, ?, ?, ?)`)
  return {
    /** @param mobile in local form with the leading zero */
    findByMobile: (mobile: string) => byMobile.one(mobile),
    find: (code: string) => byCode.one(code),
    list: () => all.all(),
    insert: ({ code, mobile, name, email }: Customer) => insert(code, mobile, name, email),
  }
}

/** A cash box or a bank account. */
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

/** First and last day inclusive, `YYYY-MM-DD`. */
export type FiscalYear = { from: string; to: string }

export const fiscalYears = (db: DatabaseSync) => {
  const all = query<FiscalYear>(
    db,
    'SELECT first_day AS "from", last_day AS "to" FROM fiscal_years ORDER BY first_day, last_day',
  )
  const covering = query<{ found: 1 }>(
    db,
    'SELECT 1 AS found FROM fiscal_years WHERE first_day <= ?1 AND last_day >= ?1 LIMIT 1',
  )
  const clear = command(db, 'DELETE FROM fiscal_years')
  const insert = command(db, 'INSERT OR IGNORE INTO fiscal_years (first_day, last_day) VALUES (?, ?)')
  return {
    list: () => all.all(),
    cover: (date: string) => covering.one(date) !== undefined,
    add: ({ from, to }: FiscalYear) => insert(from, to),
    replace: (years: readonly FiscalYear[]) => {
      clear()
      for (const { from, to } of years) insert(from, to)
    },
  }
}
