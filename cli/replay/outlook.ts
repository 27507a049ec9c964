import type { LineMessage } from '../../lib/line/messages.ts'
import type { Answer } from '../../lib/orders/absorb.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import type { Call } from '../../lib/orders/plan.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { accountingOf, readFrom } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { count } from '../table.ts'
import { type Foreseen, type ForeseenCall, foresee } from './foresee.ts'

/** What a replay would lead to, message after message, each order starting from what is kept of it. */
export const outlook = (place: Place) => {
  const kept = ordersTable(place.dynamodb, place.names.orders)
  const orders = new Map<string, Order>()
  let asked: Promise<(order: OrderKey) => Promise<Answer>> | undefined

  const read = async (order: OrderKey) => {
    asked ??= accountingOf(place).then(readFrom)
    return (await asked)(order)
  }

  return async (message: LineMessage): Promise<Omit<Foreseen, 'order'>> => {
    const { source, external_id } = message.data
    const key = JSON.stringify([source, external_id])
    const before =
      orders.get(key) ?? (await kept.get({ source, external_id }))?.order ?? newOrder({ source, external_id })
    const { order, ...foreseen } = await foresee(before, message, read)
    orders.set(key, order)
    return foreseen
  }
}

const callText = ({ to, request, then }: ForeseenCall) =>
  to === 'read'
    ? `  GET order: ${then}`
    : `  would POST ${to}${request === undefined ? '' : ` ${request}`}, then presumably ${then}`

/** The calls of one message, one a line. */
export const foreseenText = ({ calls, unknown }: Omit<Foreseen, 'order'>): string => {
  const lines = [
    ...calls.map(callText),
    ...(unknown === undefined ? [] : [`  not to be foreseen: ${unknown}`]),
  ]
  return lines.length === 0 ? '  no call: the relay knows all that it says' : lines.join('\n')
}

/** How many calls of each kind. */
export const tally = (calls: readonly ForeseenCall[]): Record<Call['to'], number> => {
  const of = (kind: Call['to']) => calls.filter(({ to }) => to === kind).length
  return { create: of('create'), payment: of('payment'), refund: of('refund'), read: of('read') }
}

export const tallyText = ({ create, payment, refund }: Record<Call['to'], number>): string =>
  `Would make ${count(create, 'create call')}, ${count(payment, 'payment call')} and ${count(refund, 'refund call')}. Nothing was sent.`
