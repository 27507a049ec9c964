import type { Answer } from '../http.ts'
import { notAllowed, unknownPath } from './refusals.ts'

/** What is asked of which order; create has the order's id in its body. */
export type Action = { to: 'create' } | { to: 'read' | 'payment' | 'refund'; external_id: string }

/** What of an API Gateway event (payload 2.0) says where a request goes. */
export type Location = { rawPath: string; pathParameters?: Record<string, string | undefined> | null }

const ORDERS = '/api/v1/orders/'

const unslashed = (path: string) => path.replace(/\/$/, '')
const bare = (path: string) => path.replace(/\/+$/, '')

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * What follows `/api/v1/orders/`, decoded, without its last slash.
 *
 * API Gateway hands `rawPath` over decoded, serverless-offline as it was sent; the greedy parameter `proxy`
 * is decoded by both but may have lost its slashes. So the path is decoded here only when it does not agree
 * with the parameter yet.
 */
const below = ({ rawPath, pathParameters }: Location): string => {
  const rest = unslashed(rawPath.slice(ORDERS.length))
  const proxy = pathParameters?.proxy ?? ''
  if (bare(rest) === bare(proxy)) return rest
  // An id such as ".." can be lost from the path on its way; the parameter still has it.
  return bare(decoded(rest)) === bare(proxy) ? decoded(rest) : unslashed(proxy)
}

/**
 * Finds what a request asks for (spec: Endpoints), with and without a slash at the end. An id may contain
 * slashes and anything else, so it is taken from between the fixed beginning and the fixed end of the path;
 * only a question mark in it does not arrive, since API Gateway cuts the path there even when it is escaped.
 */
export const route = (method: string, location: Location): { action: Action } | { refused: Answer } => {
  // Without the parameter it came by the catch-all route, which lets everything through.
  const isBelow = location.pathParameters?.proxy != null || `${location.rawPath}/`.startsWith(ORDERS)
  if (!isBelow) return { refused: unknownPath }
  const path = below(location)
  if (path === '')
    return method === 'POST' ? { action: { to: 'create' } } : { refused: notAllowed(method, 'POST') }
  if (method === 'GET') return { action: { to: 'read', external_id: path } }

  const [, external_id, to] = /^(.+)\/(payment|refund)$/s.exec(path) ?? []
  if (external_id === undefined) return { refused: notAllowed(method, 'GET') }
  if (method !== 'POST') return { refused: notAllowed(method, 'GET, POST') }
  return { action: { to: to === 'payment' ? 'payment' : 'refund', external_id } }
}
