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
}

type Row = {
  default_customer: string | null
  automatic_customer_creation: 0 | 1
  receiving_account: string | null
  tax_rate: string
  prices_include_tax: 0 | 1
  automatic_finalization: 0 | 1
}

const COLUMNS = `default_customer, automatic_customer_creation, receiving_account, tax_rate,
  prices_include_tax, automatic_finalization`

export const settings = (db: DatabaseSync) => {
  const only = query<Row>(db, `SELECT ${COLUMNS} FROM settings`)
  const put = command(
    db,
    `INSERT OR REPLACE INTO settings (only_row, ${COLUMNS}) VALUES (1, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    read: (): Settings => {
      const row = only.one()
      if (row === undefined) throw new Error('Cannot read the settings: the database has none')
      return {
        defaultCustomer: row.default_customer,
        automaticCustomerCreation: row.automatic_customer_creation === 1,
        orderPaymentReceivingAccount: row.receiving_account,
        taxRate: decimalFrom(row.tax_rate),
        pricesIncludeTax: row.prices_include_tax === 1,
        automaticFinalization: row.automatic_finalization === 1,
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
      ),
  }
}
