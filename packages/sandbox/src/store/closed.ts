import type { Customer, Seller } from './catalogue.ts'
import type { Sql } from './query.ts'

const BUYER = `json_object('code', c.code, 'mobile', c.mobile, 'name', c.name, 'email', c.email,
    'economicCode', c.economic_code, 'nationalId', c.national_id, 'address', c.address,
    'postalCode', c.postal_code, 'phone', c.phone)`

const BUYER_OF_ORDER = 'orders o JOIN customers c ON c.code = o.customer_code'

const IS_COVERED =
  'EXISTS (SELECT 1 FROM fiscal_years WHERE closed = 0 AND o.date BETWEEN first_day AND last_day)'

/** The invoices that are dated in an open fiscal year again. */
const REOPENED = `closed_invoices k JOIN orders o USING (invoice_number) WHERE ${IS_COVERED}`

/** The join of what a closed invoice keeps, as `k`. */
export const JOIN_CLOSED = 'LEFT JOIN closed_invoices k ON k.invoice_number = o.invoice_number'

/** A field of the buyer in SQL: what a closed invoice keeps, otherwise the column of the customer `c`. */
export const buyerField = (field: keyof Customer, column: string = field): string =>
  `CASE WHEN k.buyer IS NULL THEN c.${column} ELSE k.buyer ->> '${field}' END`

/** The seller and buyer that finalized invoices outside the open fiscal years keep. */
export const closedInvoices = ({ one, all, run }: Sql) => ({
  find: (invoice_number: number): { seller: Seller; buyer: Customer } | undefined => {
    const row = one<{ seller: string; buyer: string }>(
      'SELECT seller, buyer FROM closed_invoices WHERE invoice_number = ?',
      invoice_number,
    )
    return row && { seller: JSON.parse(row.seller), buyer: JSON.parse(row.buyer) }
  },
  /**
   * Follows a change of the fiscal years: keeps the seller and buyer of invoices that are no longer in an open one, and drops
   * those of invoices that are in an open one again.
   *
   * @returns the numbers of the invoices whose buyer has another name now
   */
  follow: (seller: Seller) => {
    const renamed = all<{ number: number }>(
      `SELECT invoice_number AS number FROM ${REOPENED} AND
       (SELECT name FROM customers WHERE code = o.customer_code) <> k.buyer ->> 'name'`,
    )
    run(`DELETE FROM closed_invoices WHERE invoice_number IN (SELECT invoice_number FROM ${REOPENED})`)
    run(
      `INSERT OR IGNORE INTO closed_invoices SELECT invoice_number, ?, ${BUYER} FROM ${BUYER_OF_ORDER}
       WHERE status <> 'needs_review' AND NOT ${IS_COVERED}`,
      JSON.stringify(seller),
    )
    return renamed.map(({ number }) => number)
  },
})
