import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { payOrder, repayOrder, retryOrder, returnOrder, reviewOrder } from '../src/actions/accountant.ts'
import { putProduct } from '../src/actions/catalogue.ts'
import { correctOrder } from '../src/actions/correct.ts'
import { createOrder, registerPayment, registerRefund } from '../src/actions/orders.ts'
import { showOrder, sumOrders } from '../src/actions/panel.ts'
import { reverse } from '../src/actions/reverse.ts'
import { clockIn } from '../src/clock.ts'
import { Refusal } from '../src/refusal.ts'
import { openStore } from '../src/store/open.ts'

const item = fc.record({
  sku: fc.constantFrom('SKU-1', 'SKU-2', 'SKU-3'),
  quantity: fc.integer({ min: 1, max: 6 }),
  unit_price: fc.integer({ min: 0, max: 50 }).map(price => price * 100),
})

/** The actions of stores and accountant on one of three orders. */
const steps = fc.record({
  external_id: fc.constantFrom('1', '2', '3'),
  action: fc.constantFrom(
    'create',
    'pay',
    'refund',
    'retry',
    'payOrder',
    'reverse',
    'return',
    'review',
    'correct',
    'correct',
    'payPart',
    'payPart',
    'reverseOne',
    'returnPart',
    'returnPart',
    'repay',
    'repayPart',
    'reverseRepayment',
    'reverseOneRepayment',
    'reverseReturn',
    'reverseOneReturn',
  ),
  items: fc.array(item, { minLength: 1, maxLength: 2 }),
  paid: fc.boolean(),
  part: fc.integer({ min: 1, max: 3 }),
})

const added = (all: readonly number[]) => all.reduce((a, b) => a + b, 0)

test('documents, stock and numbering stay consistent after any sequence of actions', () => {
  const clock = clockIn('Asia/Tehran')
  fc.assert(
    fc.property(fc.array(steps, { minLength: 5, maxLength: 40 }), story => {
      const store = openStore(undefined, clock)
      putProduct('SKU-3', { stock: 8 }, store)
      const initial = new Map(store.products.list().map(({ sku, stock }) => [sku, Number(stock.units)]))
      const owners = new Map<string, string>()
      const payment = { method: 'card', reference: '', date: null } as const
      for (const { external_id, action, items, paid, part } of story) {
        const key = { source: 'api', external_id }
        const run: Record<string, () => unknown> = {
          create: () => createOrder({ external_id, items, ...(paid && { payment }) }, store),
          pay: () => registerPayment(key, payment, store),
          refund: () => registerRefund(key, null, store),
          retry: () => retryOrder(key, store),
          payOrder: () => payOrder(key, payment, store),
          payPart: () => payOrder(key, { ...payment, amount: part * 1000 }, store),
          reverse: () => reverse('receipt', key, {}, store),
          reverseOne: () => reverse('receipt', key, { number: part }, store),
          repay: () => repayOrder(key, payment, store),
          repayPart: () => repayOrder(key, { ...payment, amount: part * 1000 }, store),
          reverseRepayment: () => reverse('repayment', key, {}, store),
          reverseOneRepayment: () => reverse('repayment', key, { number: part }, store),
          reverseReturn: () => reverse('return', key, {}, store),
          reverseOneReturn: () => reverse('return', key, { number: part }, store),
          return: () => returnOrder(key, {}, store),
          returnPart: () => returnOrder(key, { rows: [{ row: part, quantity: 1 }] }, store),
          review: () => reviewOrder(key, 'why', store),
          correct: () => correctOrder(key, { items, shipping: 100 }, store),
        }
        try {
          run[action]?.()
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
        }

        const taken = new Map<string, number>()
        for (const id of ['1', '2', '3']) {
          if (store.orders.find({ source: 'api', external_id: id }) === undefined) continue
          const found = showOrder({ source: 'api', external_id: id }, store)
          const { status, rows, receipts, returns, repayments, held_payments } = found
          const { total, received, returned, repaid } = found
          const amounts = (all: readonly { amount: string }[]) => all.map(({ amount }) => Number(amount))
          const isReturned = returns.length > 0 && rows.every(each => each.quantity === each.returned)
          const isPaid =
            receipts.length > 0 && Number(received) - Number(repaid) >= Number(total) - Number(returned)
          const settled = isReturned ? 'refunded' : isPaid ? 'paid' : 'invoiced'
          if (status === 'needs_review') expect([receipts, returns, repayments]).toEqual([[], [], []])
          else expect([status, held_payments]).toEqual([settled, []])
          expect([received, returned, repaid].map(Number)).toEqual(
            [receipts, returns, repayments].map(each => added(amounts(each))),
          )
          // Only money received in excess is paid back.
          const credit = Number(received) - Number(repaid) - (Number(total) - Number(returned))
          if (repayments.length > 0) expect(credit).toBeGreaterThanOrEqual(0)
          if (status === 'refunded') expect(returned).toBe(total)
          else expect([found.receipt_number !== null, found.return_number]).toEqual([status === 'paid', null])
          for (const [kind, documents] of Object.entries({ receipts, returns, repayments })) {
            for (const { number } of documents) {
              const owner = owners.get(`${kind} ${number}`) ?? id
              expect(owner).toBe(id)
              owners.set(`${kind} ${number}`, id)
            }
          }
          expect(added(rows.map(({ net, tax }) => Number(net) + Number(tax)))).toBe(Number(total))
          for (const { sku, quantity, returned } of status === 'needs_review' ? [] : rows) {
            if (sku !== null) taken.set(sku, (taken.get(sku) ?? 0) + Number(quantity) - Number(returned))
          }
        }
        for (const { sku, stock } of store.products.list()) {
          expect(stock.units).toBeGreaterThanOrEqual(0n)
          expect(Number(stock.units)).toBe((initial.get(sku) ?? 0) - (taken.get(sku) ?? 0))
        }
      }
      const { totals } = sumOrders({}, store)
      const listed = store.orders.list(store.orders.numbers({}, { sort: 'total', limit: -1 }))
      for (const name of ['total', 'received', 'returned', 'repaid'] as const)
        expect([name, Number(totals[name])]).toEqual([name, added(listed.map(each => Number(each[name])))])
      expect(totals.count).toBe(listed.length)
      store.close()
    }),
    { numRuns: 60 },
  )
})
