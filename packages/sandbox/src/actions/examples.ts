import { decimal, plus } from '../decimal.ts'
import type { Examples } from '../panel-requests.ts'
import type { Store } from '../store/open.ts'
import { createOrder, registerRefund } from './orders.ts'
import { setStock } from './stock.ts'

const NAMES = 'سارا محمدی,علی رضایی,نرگس کاظمی,حسین کریمی,مریم احمدی,Reza Tehrani,زهرا ملکی'.split(',')
const METHODS = ['online', 'card', 'transfer', 'cash'] as const
const DAY_MS = 24 * 60 * 60 * 1000

/** Not yet paid, paid, waiting for stock with a held payment, returned, paid by card. */
const KINDS = ['unpaid', 'paid', 'short', 'returned', 'paid'] as const

/** Creates example orders of every status, dated over the last weeks; those that are not short have stock. */
export const createExamples = ({ orders: count = 20, source = 'api' }: Examples, store: Store) =>
  store.transact(() => {
    const [newest = 0] = store.orders.numbers({}, { sort: '-invoice_number', limit: 1 })
    const today = Date.parse(store.clock.today())
    return {
      orders: Array.from({ length: count }, (_, index) => {
        const number = newest + 1 + index
        const kind = KINDS[index % KINDS.length]
        const quantity = 1 + (index % 3)
        const sku = kind === 'short' ? 'SKU-3' : `SKU-${1 + (index % 2)}`
        const product = store.products.find(sku)
        if (kind !== 'short' && product) {
          const stock = plus(product.stock, decimal(quantity))
          setStock(product, stock, { kind: 'set', invoice_number: null }, store)
        }
        const external_id = `example-${number}`
        const { status } = createOrder(
          {
            external_id,
            source,
            shipping: index % 2 === 0 ? 450_000 : 0,
            date: new Date(today - Math.floor(index / 2) * DAY_MS).toISOString().slice(0, 10),
            customer: {
              mobile: `0912555${String(number % 10_000).padStart(4, '0')}`,
              name: NAMES[index % 7],
            },
            items: [{ sku, quantity, unit_price: 1_250_000 + 50_000 * (index % 9) }],
            ...(kind !== 'unpaid' && { payment: { method: METHODS[index % 4], reference: `7712${number}` } }),
          },
          store,
        )
        // Without automatic finalization, there is nothing to return.
        if (kind !== 'returned' || status === 'needs_review') return { source, external_id, status }
        return { source, external_id, status: registerRefund({ source, external_id }, null, store).status }
      }),
    }
  })
