import type { DatabaseSync } from 'node:sqlite'
import { type Decimal, decimalFrom, shown } from '../decimal.ts'
import { command, query } from './query.ts'

export type Product = { sku: string; name: string; stock: Decimal }

type Row = { sku: string; name: string; stock: string }

const productOf = ({ sku, name, stock }: Row): Product => ({ sku, name, stock: decimalFrom(stock) })

export const products = (db: DatabaseSync) => {
  const bySku = query<Row>(db, 'SELECT sku, name, stock FROM products WHERE sku = ?')
  const all = query<Row>(db, 'SELECT sku, name, stock FROM products ORDER BY sku')
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
