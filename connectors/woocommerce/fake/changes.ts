import { Refusal } from './http.ts'
import { type FakeOrder, gmt, sumOf } from './orders.ts'

/** Changes of orders through the API or the pages of the shop. */
export const orderChanges = ({
  hpos,
  now,
  newId,
  touch,
}: {
  hpos: boolean
  now: () => Date
  newId: () => number
  touch: (order: FakeOrder) => void
}) => {
  const refund = (order: FakeOrder, amount: string, reason = '') => {
    const rest = Number(order.total) + Number(sumOf(order.refunds.map(each => each.total)))
    if (Number(amount) > rest + 1e-9 || Number(amount) < 0)
      throw new Refusal(500, 'woocommerce_rest_cannot_create_order_refund')
    // A refund of zero, such as for a shipping line, has the total "-" or "-0".
    const created = { id: newId(), reason, total: `-${amount}` }
    order.refunds.push(created)
    if (Number(amount) === rest) order.status = 'refunded'
    touch(order)
    return created
  }

  const changeStatus = (order: FakeOrder, status: string) => {
    const isFirst = order.date_paid_gmt === null
    const pays = status === 'completed' || (status === 'processing' && order.payment_method !== 'cod')
    if (pays && isFirst) order.date_paid_gmt = gmt(now())
    if (status === 'refunded') {
      const rest = Number(order.total) + Number(sumOf(order.refunds.map(each => each.total)))
      if (rest > 0) order.refunds.push({ id: newId(), reason: '', total: `-${rest}` })
    }
    order.status = status
  }

  const setMeta = (order: FakeOrder, entries: readonly { key: string; value: unknown }[]) => {
    for (const { key: name, value } of entries) {
      const existing = order.meta_data.find(each => each.key === name)
      if (existing === undefined) order.meta_data.push({ id: newId(), key: name, value })
      else existing.value = value
    }
  }

  /** A new quantity keeps the total of its row. */
  const changedLines = (order: FakeOrder, changes: readonly Partial<FakeOrder['line_items'][number]>[]) =>
    order.line_items.map(line => ({ ...line, ...changes.find(({ id }) => id === line.id) }))

  const put = (order: FakeOrder, change: Record<string, unknown>) => {
    const { status, meta_data, line_items, ...others } = change
    const isOtherStatus = typeof status === 'string' && status !== order.status
    if (isOtherStatus) changeStatus(order, status)
    Object.assign(order, others)
    if (line_items !== undefined)
      order.line_items = changedLines(order, line_items as FakeOrder['line_items'])
    setMeta(order, (meta_data ?? []) as FakeOrder['meta_data'])
    // Without HPOS, a change of items or metadata neither updates the time nor sends a webhook. With HPOS, saving an
    // order does both, even if nothing has changed.
    if (hpos || isOtherStatus || Object.keys(others).length > 0) touch(order)
    return order
  }

  return { refund, changeStatus, put }
}
