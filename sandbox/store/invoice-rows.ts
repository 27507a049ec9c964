import type { DatabaseSync } from 'node:sqlite'
import { command, query } from './query.ts'

/** One row of an invoice; amounts are digits, whole rials, quantity and unit price exact decimals. */
export type InvoiceRow = {
  kind: 'item' | 'shipping'
  sku: string | null
  name: string
  quantity: string
  unit_price: string
  discount: string
  amount: string
  order_discount: string
  net: string
  tax: string
}

const COLUMNS = 'kind, sku, name, quantity, unit_price, discount, amount, order_discount, net, tax'

export const invoiceRows = (db: DatabaseSync) => {
  const ofInvoice = query<InvoiceRow>(
    db,
    `SELECT ${COLUMNS} FROM invoice_rows WHERE invoice_number = ? ORDER BY position`,
  )
  const insert = command(
    db,
    `INSERT INTO invoice_rows (invoice_number, position, ${COLUMNS})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    list: (invoice_number: number) => ofInvoice.all(invoice_number),
    insert: (invoice_number: number, position: number, r: InvoiceRow) =>
      insert(
        ...[invoice_number, position, r.kind, r.sku, r.name, r.quantity, r.unit_price, r.discount],
        ...[r.amount, r.order_discount, r.net, r.tax],
      ),
  }
}
