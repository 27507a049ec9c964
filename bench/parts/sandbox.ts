import * as v from 'valibot'
import type { Part } from '../context.ts'
import { script } from '../script.ts'

const found = v.object({
  connections: v.number(),
  orders: v.number(),
  perSecond: v.number(),
  perSecondFrom: v.number(),
  perSecondTo: v.number(),
  p50Ms: v.number(),
  p99Ms: v.number(),
})

/** How many orders the sandbox registers. */
export const sandbox: Part = async () => {
  const { connections, orders, perSecond, perSecondFrom, perSecondTo, p50Ms, p99Ms } = v.parse(
    found,
    await script('bench/sandbox.ts'),
  )
  return {
    title: 'Orders in the sandbox',
    text: [
      `${orders.toLocaleString('en')} paid orders of three rows with discount and shipping, created over HTTP on ` +
        `${connections} connections, in a database on disk; each is an invoice, its rows, a customer and a receipt.`,
    ],
    tables: [
      {
        head: ['orders a second', 'median, ms', '99 of 100, ms'],
        rows: [[`${perSecond} (${perSecondFrom} to ${perSecondTo})`, String(p50Ms), String(p99Ms)]],
      },
    ],
    targets: [],
  }
}
