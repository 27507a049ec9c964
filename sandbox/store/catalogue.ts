import type { DatabaseSync } from 'node:sqlite'
import { type Decimal, decimalFrom, shown } from '../decimal.ts'
import { normalised } from '../search.ts'
import { command, insertion, query } from './query.ts'

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

const bit = (value: boolean) => (value ? 1 : 0)

export const settings = (db: DatabaseSync) => {
  const only = query<SettingsRow>(db, 'SELECT * FROM settings')
  const clear = command(db, 'DELETE FROM settings')
  const insert = insertion<SettingsRow & { only_row: 1 }>(db, 'settings')
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
    put: (value: Settings) => {
      clear()
      insert({
        only_row: 1,
        default_customer: value.defaultCustomer,
        automatic_customer_creation: bit(value.automaticCustomerCreation),
        receiving_account: value.orderPaymentReceivingAccount,
        tax_rate: shown(value.taxRate),
        prices_include_tax: bit(value.pricesIncludeTax),
        automatic_finalization: bit(value.automaticFinalization),
        duplicates_return_original: bit(value.duplicatesReturnOriginal),
      })
    },
  }
}

export type Product = { sku: string; name: string; stock: Decimal }

type ProductRow = { sku: string; name: string; stock: string }

const productOf = ({ sku, name, stock }: ProductRow): Product => ({ sku, name, stock: decimalFrom(stock) })

export const products = (db: DatabaseSync) => {
  const bySku = query<ProductRow>(db, 'SELECT sku, name, stock FROM products WHERE sku = ?')
  const all = query<ProductRow>(db, 'SELECT sku, name, stock FROM products ORDER BY sku')
  const setStock = command(db, 'UPDATE products SET stock = ?2 WHERE sku = ?1')
  const put = insertion<ProductRow>(
    db,
    'products',
    'ON CONFLICT (sku) DO UPDATE SET name = excluded.name, stock = excluded.stock',
  )
  return {
    find: (sku: string) => {
      const row = bySku.one(sku)
      return row && productOf(row)
    },
    list: () => all.all().map(productOf),
    put: (product: Product) => put({ ...product, stock: shown(product.stock) }),
    setStock: (sku: string, stock: Decimal) => setStock(sku, shown(stock)),
  }
}

export type Customer = { code: string; mobile: string | null; name: string; email: string | null }

export const customers = (db: DatabaseSync) => {
  const byMobile = query<Customer>(db, 'SELECT * FROM customers WHERE mobile = ?')
  const byCode = query<Customer>(db, 'SELECT * FROM customers WHERE code = ?')
  db.function('normalised', { deterministic: true }, text => normalised(String(text)))
  const matching = query<Customer>(
    db,
    `SELECT * FROM customers WHERE ?1 = '' OR
     instr(normalised(concat_ws(' ', code, name, mobile, email)), ?1) ORDER BY code LIMIT ?2`,
  )
  return {
    /** @param mobile in local form with the leading zero */
    findByMobile: (mobile: string) => byMobile.one(mobile),
    find: (code: string) => byCode.one(code),
    /** @param q text that the code, name, mobile number or e-mail address contains, in either spelling */
    list: (q: string, limit: number) => matching.all(normalised(q).trim(), limit),
    insert: insertion<Customer>(db, 'customers'),
  }
}

/** A cash box or a bank account. */
export type Account = { code: string; name: string; kind: 'cash' | 'bank' }

export const accounts = (db: DatabaseSync) => {
  const byCode = query<Account>(db, 'SELECT * FROM accounts WHERE code = ?')
  const all = query<Account>(db, 'SELECT * FROM accounts ORDER BY code')
  return {
    find: (code: string) => byCode.one(code),
    list: () => all.all(),
    put: insertion<Account>(
      db,
      'accounts',
      'ON CONFLICT (code) DO UPDATE SET name = excluded.name, kind = excluded.kind',
    ),
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
