import { randomUUID } from 'node:crypto'
import { atMost, type Part } from '../context.ts'
import { OURS, recordOf } from '../deliveries.ts'
import { worker as implementation } from '../implementations.ts'
import { inTurn, measured, ratio } from '../statistics.ts'

const ROUNDS = 15

/** A new order: the worker reads it, calls the accounting service, publishes to the feed and saves. */
export const createEvent = () => {
  const order = { source: OURS, external_id: randomUUID() }
  const request = JSON.stringify({ ...order, items: [{ sku: 'A', quantity: 1, unit_price: 1_500_000 }] })
  return recordOf(
    JSON.stringify({ event: 'order.create', delivery: randomUUID(), data: { ...order, request } }),
  )
}

/** A batch of ten different orders beside a batch of one, when each call to the service takes 100 ms. */
export const worker: Part = async ({ start }) => {
  const running = await start(implementation, 'direct')
  const timed = async (orders: number): Promise<number> => {
    const { body, from, to } = await running.invoke({ Records: Array.from({ length: orders }, createEvent) })
    if (body !== '{"batchItemFailures":[]}') throw new Error(`Cannot measure: the worker answered ${body}`)
    return to - from
  }
  try {
    const found = await inTurn([1, 10], { rounds: ROUNDS }, timed)
    const [one, ten] = [found(1), found(10)]
    return {
      results: {
        oneOrderMs: measured(one),
        tenOrdersMs: measured(ten),
        ordersPerSecond: measured(ten.map(milliseconds => 10_000 / milliseconds)),
      },
      targets: [atMost('a batch of ten orders, to one order', 1.5, ratio(ten, one))],
    }
  } finally {
    await running.stop()
  }
}
