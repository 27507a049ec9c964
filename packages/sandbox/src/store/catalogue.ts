import { type Decimal, decimal, decimalFrom, shown } from '../decimal.ts'
import { normalized, withoutCountryCode } from '../search.ts'
import type { Sql } from './query.ts'

/** The connection settings (spec: What the service does). `taxRate` is in percent. */
export type Settings = {
  defaultCustomer: string | null
  automaticCustomerCreation: boolean
  orderPaymentReceivingAccount: string | null
  taxRate: Decimal
  pricesIncludeTax: boolean
  automaticFinalization: boolean
  /** Whether a repeated create returns the original result instead of the current one. Not in the spec. */
  duplicatesReturnOriginal: boolean
  /** Whether a correction that only changes the total sends a webhook. Not in the spec. */
  correctionsSendWebhooks: boolean
}

/** The content of a new database. Its accounts and customer cannot be deleted. */
export const DEFAULT_SETTINGS: Settings = {
  defaultCustomer: 'walk-in',
  automaticCustomerCreation: true,
  orderPaymentReceivingAccount: 'bank-1',
  taxRate: decimal(10),
  pricesIncludeTax: false,
  automaticFinalization: true,
  duplicatesReturnOriginal: false,
  correctionsSendWebhooks: false,
}

type SettingsRow = {
  default_customer: string | null
  automatic_customer_creation: 0 | 1
  receiving_account: string | null
  tax_rate: string
  prices_include_tax: 0 | 1
  automatic_finalization: 0 | 1
  duplicates_return_original: 0 | 1
  corrections_send_webhooks: 0 | 1
}

export const settings = ({ one, put }: Sql) => ({
  read: (): Settings => {
    const row = one<SettingsRow>('SELECT * FROM settings')
    if (row === undefined) throw new Error('Cannot read the settings: the table is empty')
    return {
      defaultCustomer: row.default_customer,
      automaticCustomerCreation: row.automatic_customer_creation === 1,
      orderPaymentReceivingAccount: row.receiving_account,
      taxRate: decimalFrom(row.tax_rate),
      pricesIncludeTax: row.prices_include_tax === 1,
      automaticFinalization: row.automatic_finalization === 1,
      duplicatesReturnOriginal: row.duplicates_return_original === 1,
      correctionsSendWebhooks: row.corrections_send_webhooks === 1,
    }
  },
  put: (value: Settings) =>
    put(
      'settings',
      { only_row: 1 },
      {
        default_customer: value.defaultCustomer,
        automatic_customer_creation: Number(value.automaticCustomerCreation),
        receiving_account: value.orderPaymentReceivingAccount,
        tax_rate: shown(value.taxRate),
        prices_include_tax: Number(value.pricesIncludeTax),
        automatic_finalization: Number(value.automaticFinalization),
        duplicates_return_original: Number(value.duplicatesReturnOriginal),
        corrections_send_webhooks: Number(value.correctionsSendWebhooks),
      },
    ),
})

/** A product; `price` is in rials per unit, `unit` the unit of measure on invoices. */
export type Product = { sku: string; name: string; stock: Decimal; price: Decimal | null; unit: string }

type ProductRow = { sku: string; name: string; stock: string; price: string | null; unit: string }

/** The usual unit of measure: pieces. */
export const DEFAULT_UNIT = 'عدد'

const productOf = ({ stock, price, ...row }: ProductRow): Product => ({
  ...row,
  stock: decimalFrom(stock),
  price: price === null ? null : decimalFrom(price),
})

export const products = ({ one, all, update, put }: Sql) => ({
  find: (sku: string) => {
    const row = one<ProductRow>('SELECT * FROM products WHERE sku = ?', sku)
    return row && productOf(row)
  },
  /** @param q text contained in the code or the name, in either spelling */
  list: (q = '') =>
    all<ProductRow>(
      "SELECT * FROM products WHERE ?1 = '' OR instr(normalized(concat_ws(' ', sku, name)), ?1) ORDER BY sku",
      normalized(q).trim(),
    ).map(productOf),
  put: ({ sku, name, stock, price, unit }: Product) =>
    put('products', { sku }, { name, unit, stock: shown(stock), price: price && shown(price) }),
  setStock: (sku: string, stock: Decimal) => update('products', { sku }, { stock: shown(stock) }),
})

/** What invoices say about the seller or the buyer besides the name; empty texts are omitted. */
export type Identity = Record<'economicCode' | 'nationalId' | 'address' | 'postalCode' | 'phone', string>

const IDENTITY =
  'economic_code AS economicCode, national_id AS nationalId, address, postal_code AS postalCode, phone'

const identityColumns = ({ economicCode, nationalId, address, postalCode, phone }: Identity) => ({
  economic_code: economicCode,
  national_id: nationalId,
  postal_code: postalCode,
  address,
  phone,
})

export type Customer = Identity & { code: string; mobile: string | null; name: string; email: string | null }

/** A customer as stores send it; orders do not contain the details of `Identity`. */
export type NewCustomer = Omit<Customer, keyof Identity>

const CUSTOMERS = `SELECT code, mobile, name, email, ${IDENTITY} FROM customers`

const SEARCHED =
  "normalized(concat_ws(' ', code, name, mobile, email, national_id, economic_code, postal_code, phone))"

/** Without this index, a search normalizes all customers: 150 ms for 40,000 of them, instead of 15. */
export const CUSTOMERS_INDEX = `DROP INDEX IF EXISTS customers_search;
  CREATE INDEX IF NOT EXISTS customers_text ON customers (${SEARCHED})`

export const customers = ({ one, all, insert, update }: Sql) => ({
  /** @param mobile in local form with the leading zero */
  findByMobile: (mobile: string) => one<Customer>(`${CUSTOMERS} WHERE mobile = ?`, mobile),
  find: (code: string) => one<Customer>(`${CUSTOMERS} WHERE code = ?`, code),
  /** @param q words contained in the code, name, e-mail address or numbers, in either spelling */
  list: (q: string, limit: number) =>
    all<Customer>(
      `${CUSTOMERS} WHERE ?1 = '[]' OR code IN
       (SELECT code FROM customers INDEXED BY customers_text
        WHERE NOT EXISTS (SELECT 1 FROM json_each(?1) WHERE NOT instr(${SEARCHED}, value))) ORDER BY code LIMIT ?2`,
      JSON.stringify(normalized(q).split(' ').filter(Boolean).map(withoutCountryCode)),
      limit,
    ),
  insert: (customer: NewCustomer) => insert('customers', customer),
  put: ({ code, name, ...identity }: Customer) =>
    update('customers', { code }, { name, ...identityColumns(identity) }),
})

/** A cash box or a bank account. Without a date, the opening balance counts before all documents. */
export type Account = {
  code: string
  name: string
  kind: 'cash' | 'bank'
  opening_balance: string
  opening_date: string | null
}

export const accounts = ({ one, all, put }: Sql) => ({
  find: (code: string) => one<Account>('SELECT * FROM accounts WHERE code = ?', code),
  list: () => all<Account>('SELECT * FROM accounts ORDER BY code'),
  put: ({ code, ...account }: Account) => put('accounts', { code }, account),
  /** Whether a receipt or repayment uses the account, even a cancelled one. A held payment counts by its cancelled receipt. */
  isUsed: (code: string) =>
    ['receipts', 'repayments'].some(
      table => one(`SELECT 1 FROM ${table} WHERE account_code = ? LIMIT 1`, code) !== undefined,
    ),
  /** The daily change of the account by receipts and repayments that are not cancelled, oldest first. */
  movements: (code: string) =>
    all<{ date: string; amount: string }>(
      `SELECT date, sum_of(amount) AS amount FROM (
         SELECT date, amount FROM receipts WHERE account_code = ?1 AND cancelled_at IS NULL UNION ALL
         SELECT date, '-' || amount FROM repayments WHERE account_code = ?1 AND cancelled_at IS NULL)
       GROUP BY date ORDER BY date`,
      code,
    ),
})

/** The seller on invoices; empty texts are omitted. */
export type Seller = Identity & { name: string }

const NO_SELLER: Seller = {
  name: '',
  economicCode: '',
  nationalId: '',
  address: '',
  postalCode: '',
  phone: '',
}

export const seller = ({ one, put }: Sql) => ({
  read: () => one<Seller>(`SELECT name, ${IDENTITY} FROM seller`) ?? NO_SELLER,
  put: ({ name, ...identity }: Seller) =>
    put('seller', { only_row: 1 }, { name, ...identityColumns(identity) }),
})

/** First and last day inclusive, `YYYY-MM-DD`. A closed fiscal year accepts no documents. */
export type FiscalYear = { from: string; to: string; closed: boolean }

export const fiscalYears = ({ one, all, run, insert }: Sql) => ({
  list: () =>
    all<{ from: string; to: string; closed: 0 | 1 }>(
      'SELECT first_day AS "from", last_day AS "to", closed FROM fiscal_years ORDER BY first_day, last_day',
    ).map((year): FiscalYear => ({ ...year, closed: year.closed === 1 })),
  /** Whether an open fiscal year covers the date. */
  cover: (date: string) =>
    one(
      'SELECT 1 FROM fiscal_years WHERE closed = 0 AND first_day <= ?1 AND last_day >= ?1 LIMIT 1',
      date,
    ) !== undefined,
  /** Whether the fiscal year contains an invoice or another document, even a cancelled one. */
  isUsed: ({ from, to }: FiscalYear) =>
    ['orders', 'receipts', 'returns', 'repayments'].some(
      table => one(`SELECT 1 FROM ${table} WHERE date BETWEEN ? AND ? LIMIT 1`, from, to) !== undefined,
    ),
  replace: (years: readonly FiscalYear[]) => {
    run('DELETE FROM fiscal_years')
    for (const { from, to, closed } of years)
      insert(
        'fiscal_years',
        { first_day: from, last_day: to, closed: Number(closed) },
        'ON CONFLICT DO NOTHING',
      )
  },
})
