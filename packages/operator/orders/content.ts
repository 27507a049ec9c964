import type { OpenRequest } from '@order-relay/lib/orders/order.ts'
import type { JsonNumber } from '@order-relay/lib/protocol/json.ts'
import {
  directPayment,
  nestedPayment,
  orderRequest,
  refundRequest,
} from '@order-relay/lib/protocol/requests.ts'
import { decimal, minus, plus, shown, times, ZERO } from 'order-relay-sandbox/src/decimal.ts'
import * as v from 'valibot'
import { jsonOf } from '../core/webhook.ts'

type Payment = { method?: string; reference?: string; date?: string }

/** The content of a request, without the buyer's personal data. Amounts are decimals as text, since rials may exceed 2^53. */
export type RequestContent = {
  rows?: readonly { sku: string; name?: string; quantity: string; unit_price: string; amount: string }[]
  shipping?: string
  discount?: string
  /** The total of rows, shipping and discount as the store sent them. The service may add tax. */
  total?: string
  payment?: Payment
  reason?: string
}

/** The fields that are neither missing nor null. */
const given = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>
  }

const amountOf = (value: JsonNumber | null | undefined) => (value == null ? ZERO : decimal(value))
const textOf = (value: JsonNumber | null | undefined) => (value == null ? undefined : shown(decimal(value)))

const paymentOf = ({ method, reference, date }: { [Name in keyof Payment]?: string | null | undefined }) =>
  given({ method, reference, date })

const createContent = (create: v.InferOutput<typeof orderRequest>): RequestContent => {
  const { items, shipping, discount, payment } = create
  const amounts = items.map(({ quantity, unit_price, discount }) =>
    minus(times(decimal(quantity), decimal(unit_price)), amountOf(discount)),
  )
  const sum = minus([...amounts, amountOf(shipping)].reduce(plus), amountOf(discount))
  return {
    rows: items.map(({ sku, name, quantity, unit_price }, index) => ({
      sku,
      ...given({ name }),
      quantity: shown(decimal(quantity)),
      unit_price: shown(decimal(unit_price)),
      amount: shown(amounts[index] ?? ZERO),
    })),
    ...given({ shipping: textOf(shipping), discount: textOf(discount) }),
    total: shown(sum),
    ...(payment && { payment: paymentOf(payment) }),
  }
}

/** What an open request contains, read from its stored body; nothing if the relay cannot read it. Pure. */
export const contentOf = ({ kind, body }: Pick<OpenRequest, 'kind' | 'body'>): RequestContent => {
  const json = jsonOf(body)
  if (kind === 'create') {
    const create = v.safeParse(orderRequest, json)
    return create.success ? createContent(create.output) : {}
  }
  if (kind === 'refund') {
    const refund = v.safeParse(refundRequest, json)
    return refund.success ? given({ reason: refund.output.reason }) : {}
  }
  const nested = v.safeParse(nestedPayment, json)
  if (nested.success) return { payment: paymentOf(nested.output.payment) }
  const direct = v.safeParse(directPayment, json)
  return direct.success ? { payment: paymentOf(direct.output) } : {}
}
