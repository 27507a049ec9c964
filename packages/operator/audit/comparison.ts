import { isDeepStrictEqual } from 'node:util'
import type { Announced } from '@order-relay/lib/orders/announcements.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import type { OrderKey } from '@order-relay/lib/protocol/order.ts'
import type { ServiceOrder } from '../core/accounting.ts'

/** An order as stored by the relay and, if the service was asked, by the service. */
export type ComparedOrder = {
  key: OrderKey
  stored: StoredOrder | undefined
  /** Undefined if no request can wait behind another event of the order. */
  announced: Announced | undefined
  service: ServiceOrder | { unread: string } | undefined
}

const differingFields = (ours: Record<string, unknown>, theirs: Record<string, unknown>) =>
  [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
    field => !isDeepStrictEqual(ours[field], theirs[field]),
  )

/** The value of a field; a total has separators. */
const valueText = (field: string, value: unknown) => {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value === 'object') return JSON.stringify(value)
  return field === 'total' ? String(value).replaceAll(/\B(?=(\d{3})+(?!\d|.*\.))/g, ',') : String(value)
}

/** How an order differs from the service's; undefined if it does not, or was not compared. */
export const disagreement = ({ stored, service }: ComparedOrder): string | undefined => {
  if (service === undefined || 'unread' in service) return undefined
  const ours = stored?.order.result
  if ('unknown' in service)
    return ours === undefined ? undefined : `is "${ours.status}" here and unknown to the service`
  const theirs = service.result
  if (ours === undefined) return `is unknown here and "${theirs.status}" at the service`
  const fields = differingFields(ours, theirs)
  if (fields.length === 0) return undefined
  return ours.status === theirs.status
    ? `differs in ${fields
        .map(
          name =>
            `${name}: ${valueText(name, ours[name])} here and ${valueText(name, theirs[name])} at the service`,
        )
        .join('; ')}`
    : `is "${ours.status}" here and "${theirs.status}" at the service`
}

/** Whether the service has carried out a request of the order, and therefore knew the order. */
export const hasSucceeded = ({ stored }: ComparedOrder) =>
  stored?.order.ended.some(
    ({ kind, state }) => kind !== 'withdrawal' && (state === 'registered' || state === 'duplicate'),
  ) === true
