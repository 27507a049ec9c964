import { AccountingError } from '../../lib/accounting/errors.ts'
import type { LineMessage } from '../../lib/line/messages.ts'
import { newOrder } from '../../lib/orders/order.ts'
import type { Call } from '../../lib/orders/plan.ts'
import { ordersTable } from '../../lib/orders/table.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { accountingOf, readFrom } from '../place/accounting.ts'
import type { Place } from '../place/place.ts'
import { count } from '../table.ts'
import { type ForeseenCall, foresee, type Seen } from './foresee.ts'
import type { AtService } from './presumed.ts'

/** What a message would lead to, as far as that can be known. */
export type Outlook = { calls: ForeseenCall[]; unknown?: string }

/**
 * Makes the function that says what a replay would lead to, message after message: each order starts from
 * what is kept of it here and from what the service says of it now. Reads only.
 */
export const outlook = (place: Place) => {
  const kept = ordersTable(place.dynamodb, place.names.orders)
  const orders = new Map<string, Promise<Seen>>()

  let asked: ReturnType<typeof readFrom> | undefined
  const atService = async (order: OrderKey): Promise<AtService> => {
    asked ??= readFrom(await accountingOf(place))
    const answer = await asked(order)
    return answer.answer === 'result' ? { result: answer.result } : { unknown: answer.reason }
  }

  const look = async ({ source, external_id }: OrderKey): Promise<Seen> => {
    const held = await kept.get({ source, external_id })
    return {
      order: held?.order ?? newOrder({ source, external_id }),
      service: await atService({ source, external_id }),
    }
  }

  return async (message: LineMessage): Promise<Outlook> => {
    const key = JSON.stringify([message.data.source, message.data.external_id])
    const seen = orders.get(key) ?? look(message.data)
    orders.set(key, seen)
    try {
      const { calls, ...after } = foresee(await seen, message)
      orders.set(key, Promise.resolve(after))
      return { calls }
    } catch (error) {
      if (!(error instanceof AccountingError)) throw error
      return { calls: [], unknown: error.message }
    }
  }
}

const callText = ({ to, request, outcome }: ForeseenCall) =>
  to === 'read' ? `  GET order: ${outcome}` : `  POST ${to} ${request ?? ''}: ${outcome}`

/** The calls of one message, one a line. */
export const outlookText = ({ calls, unknown }: Outlook): string => {
  if (unknown !== undefined) return `  not to be foreseen: ${unknown}`
  return calls.length === 0 ? '  no call: the relay knows what it says' : calls.map(callText).join('\n')
}

export type Tally = Record<Call['to'], number>

/** How many calls of each kind. */
export const tally = (calls: readonly ForeseenCall[]): Tally => {
  const of = (kind: Call['to']) => calls.filter(({ to }) => to === kind).length
  return { create: of('create'), payment: of('payment'), refund: of('refund'), read: of('read') }
}

export const tallyText = ({ create, payment, refund }: Tally): string =>
  `A replay makes ${count(create, 'create call')}, ${count(payment, 'payment call')} and ${count(refund, 'refund call')}. Nothing was sent now.`
