import * as v from 'valibot'
import type { Answer } from '../../lib/http.ts'
import { parseJson } from '../../lib/protocol/json.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import type { Clock } from './clock.ts'
import { type Doors, STORE_KEY } from './doors.ts'
import type { Pattern } from './sender.ts'

const feedMessage = v.variant('event', [
  v.object({
    event: v.literal('order.updated'),
    delivery: v.string(),
    version: v.number(),
    data: v.looseObject({ source: v.string(), external_id: v.string() }),
  }),
  v.object({
    event: v.literal('order.rejected'),
    delivery: v.string(),
    version: v.number(),
    data: v.looseObject({ source: v.string(), external_id: v.string(), request: v.string(), id: v.string() }),
  }),
])

export type Heard = v.InferOutput<typeof feedMessage>

const accepted = v.looseObject({ id: v.string() })

const ITEMS = [{ sku: 'A-1', quantity: 1, unit_price: 1_500_000 }]

/** A store: asks for things one after the other, again when an answer fails to come, and hears its feed. */
export const store = (clock: Clock, doors: Doors, { comes, waits }: Pattern) => {
  const heard: Heard[] = []
  const promised: string[] = []

  const post = (path: string, body: object, answered: (taken: boolean) => void) =>
    doors.api(
      {
        method: 'POST',
        location: { rawPath: path, pathParameters: { proxy: path.replace('/api/v1/orders/', '') } },
        headers: { authorization: `Bearer ${STORE_KEY}` },
        query: {},
        body: Buffer.from(JSON.stringify(body)),
      },
      answer => {
        if (answer?.status === 202) promised.push(v.parse(accepted, answer.body).id)
        answered(answer?.status === 202)
      },
    )

  const insist = (path: string, body: object, taken: () => void) => {
    const attempt = (tries: number) => {
      const copies = comes === 'concurrent' ? 2 : 1
      let waiting = copies
      let any = false
      for (let copy = 0; copy < copies; copy++)
        post(path, body, took => {
          any ||= took
          waiting--
          if (waiting > 0) return
          const wait = waits[Math.min(tries, waits.length - 1)] ?? 0
          if (!any) return clock.after(wait, () => attempt(tries + 1))
          if (comes === 'repeated') clock.after(wait, () => post(path, body, () => undefined))
          taken()
        })
    }
    attempt(0)
  }

  const pathOf = ({ external_id }: OrderKey, verb: string) => `/api/v1/orders/${external_id}/${verb}/`

  return {
    heard,
    /** Ids of requests that were answered with 202. */
    promised,
    hear: (body: string) => void heard.push(v.parse(feedMessage, parseJson(body))),
    create: (order: OrderKey, then: () => void = () => undefined) =>
      insist('/api/v1/orders/', { ...order, items: ITEMS }, then),
    pay: (order: OrderKey, then: () => void = () => undefined) =>
      insist(pathOf(order, 'payment'), { source: order.source, method: 'card' }, then),
    refund: (order: OrderKey, then: () => void = () => undefined) =>
      insist(pathOf(order, 'refund'), { source: order.source }, then),
    /** Reads its order until it is answered. */
    read(order: OrderKey, answered: (answer: Answer) => void) {
      const path = `/api/v1/orders/${order.external_id}/`
      const attempt = () =>
        doors.api(
          {
            method: 'GET',
            location: { rawPath: path, pathParameters: { proxy: `${order.external_id}/` } },
            headers: { authorization: `Bearer ${STORE_KEY}` },
            query: { source: order.source },
            body: new Uint8Array(),
          },
          answer => (answer?.status === 200 ? answered(answer) : clock.after(waits[0] ?? 0, attempt)),
        )
      attempt()
    },
  }
}
