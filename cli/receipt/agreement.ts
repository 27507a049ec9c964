import { isDeepStrictEqual } from 'node:util'
import type { Compared } from './facts.ts'

const fieldsThatDiffer = (ours: Record<string, unknown>, theirs: Record<string, unknown>) =>
  [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
    field => !isDeepStrictEqual(ours[field], theirs[field]),
  )

/** How an order differs from the service's; undefined when it does not, or has not been asked. */
export const disagreement = ({ held, service }: Compared): string | undefined => {
  if (service === undefined) return undefined
  if ('unread' in service) return `could not be read at the service: ${service.unread}`
  const ours = held?.order.result
  if ('unknown' in service) {
    return ours === undefined ? undefined : `"${ours.status}" here, and not known at the service`
  }
  if (ours === undefined) return `nothing known here, "${service.result.status}" at the service`
  const fields = fieldsThatDiffer(ours, service.result)
  if (fields.length === 0) return undefined
  return ours.status === service.result.status
    ? `differs in ${fields.join(', ')}`
    : `"${ours.status}" here, "${service.result.status}" at the service`
}
