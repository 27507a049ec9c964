import * as v from 'valibot'
import { AccountingError } from '../../lib/accounting/errors.ts'
import type { Tell } from '../../lib/feeds/sqs.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import type { Delivery } from '../../lib/webhook/receive.ts'
import { reportsItemFailures } from './worker.ts'
import { type Bug, keyOf } from './world.ts'

const signedTime = ({ headers }: Delivery): number =>
  Number(/^t=(\d+)/.exec(headers[HEADERS.signature] ?? '')?.[1] ?? 0)

const put = v.looseObject({ TableName: v.literal('orders'), ConditionExpression: v.string() })

const NOT_AN_ORDER = { ...keyOf('claimed'), status: 'claimed' }

let forged = 0

/** Well-known ways to build a relay wrongly, each planted with a few lines. The matrix has to find them all. */
export const BUGS: Readonly<Record<string, Bug>> = {
  'a delivery is claimed first and sent later': {
    webhook: ports => ({
      ...ports,
      deliveries: {
        async has(delivery, now) {
          if (await ports.deliveries.has(delivery, now)) return true
          await ports.deliveries.record({ event: ORDER_UPDATED, delivery, data: NOT_AN_ORDER }, now)
          return false
        },
        record: async () => undefined,
      },
    }),
  },
  'the answer does not wait for the queue': {
    webhook: ports => ({
      ...ports,
      enqueue: async (...message) => void ports.enqueue(...message).catch(() => undefined),
    }),
  },
  'every attempt has a deduplication id of its own': {
    webhook: ports => ({
      ...ports,
      enqueue: (order, _id, body) => ports.enqueue(order, `attempt-${++forged}`, body),
    }),
  },
  'a time ahead of the clock is tolerated': {
    webhook: (ports, delivery) => ({ ...ports, now: () => Math.max(ports.now(), signedTime(delivery)) }),
  },
  'a time behind the clock is tolerated': {
    webhook: (ports, delivery) => ({ ...ports, now: () => Math.min(ports.now(), signedTime(delivery)) }),
  },
  'an order is kept without its version condition': {
    tables: tables => ({
      ...tables,
      run(action, input) {
        if (action !== 'PutItem' || !v.is(put, input)) return tables.run(action, input)
        const { ConditionExpression: _, ...unconditional } = input
        return tables.run(action, unconditional)
      },
    }),
  },
  'an order is kept before its store is told': {
    worker: ports => {
      const news: Parameters<Tell>[0][] = []
      return {
        ...ports,
        tell: async message => void news.push(message),
        orders: {
          ...ports.orders,
          async save(...kept) {
            await ports.orders.save(...kept)
            for (const message of news.splice(0)) await ports.tell(message)
          },
        },
      }
    },
  },
  'a message is acknowledged before its store is told': {
    eventSource: { ...reportsItemFailures, deletesFirst: true },
  },
  'one failure fails the whole batch': {
    eventSource: {
      deletesFirst: false,
      done: (batch, { batchItemFailures }) => (batchItemFailures.length > 0 ? [] : batch),
    },
  },
  'one success deletes the whole batch': {
    eventSource: {
      deletesFirst: false,
      done: (batch, { batchItemFailures }) => (batchItemFailures.length === batch.length ? [] : batch),
    },
  },
  'a service that does not answer is taken for one that refuses': {
    worker: ports => ({
      ...ports,
      ask: async (call, order) => {
        try {
          return await ports.ask(call, order)
        } catch (error) {
          if (!(error instanceof AccountingError)) throw error
          return { to: call.to, answer: 'refused', reason: { status: 503, message: error.message } }
        }
      },
    }),
  },
}
