import type { Sql } from './query.ts'

/** A row of an invoice; amounts are whole rials as digits, quantity and unit price are exact decimals. */
export type InvoiceRow = {
  kind: 'item' | 'shipping'
  sku: string | null
  name: string
  /** Unit of measure; null for shipping. */
  unit: string | null
  quantity: string
  unit_price: string
  discount: string
  amount: string
  order_discount: string
  net: string
  tax: string
}

export const invoiceRows = ({ all, run, insert }: Sql) => ({
  list: (invoice_number: number) =>
    all<InvoiceRow>(
      `SELECT kind, sku, name, unit, quantity, unit_price, discount, amount, order_discount, net, tax
       FROM invoice_rows WHERE invoice_number = ? ORDER BY position`,
      invoice_number,
    ),
  replace: (invoice_number: number, rows: readonly InvoiceRow[]) => {
    run('DELETE FROM invoice_rows WHERE invoice_number = ?', invoice_number)
    for (const [position, row] of rows.entries()) insert('invoice_rows', { invoice_number, position, ...row })
  },
})
