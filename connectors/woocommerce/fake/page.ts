import { META_KEY } from '../lib/shop.ts'
import { escaped } from '../lib/words.ts'
import type { FakeOrder } from './orders.ts'

const rowOf = (order: FakeOrder, notes: readonly { note: string }[]) => {
  const { id, status, total, meta_data } = order
  const meta = meta_data.find(({ key }) => key === META_KEY)?.value ?? ''
  return `<tr><td>${id}</td><td>${escaped(status)}</td><td>${escaped(total)}</td><td><code>${escaped(String(meta))}</code></td>
<td>${notes.map(({ note }) => `<p>${note}</p>`).join('')}</td></tr>`
}

/** The page of the fake shop: its orders as an administrator sees them, and a button that places an order. */
export const shopPage = (
  orders: readonly FakeOrder[],
  notesOf: (id: number) => readonly { note: string }[],
) =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="2">
<title>Fake shop</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; color-scheme: light dark }
  td, th { padding: .3rem .8rem; text-align: start; vertical-align: top; border-bottom: 1px solid #8886 }
</style>
<h1>Fake WooCommerce shop</h1>
<form method="post" action="/order"><button>Order SKU-1</button></form>
<table>
<thead><tr><th>Order</th><th>Status</th><th>Total</th><th>${META_KEY}</th><th>Private notes</th></tr></thead>
<tbody>${orders.map(order => rowOf(order, notesOf(order.id))).join('\n')}</tbody>
</table>
</html>
`
