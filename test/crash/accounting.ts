import type { IncomingResponse, OutgoingRequest } from '../../lib/platform/http-client.ts'
import type { OrderKey, OrderResult } from '../../lib/protocol/order.ts'
import type { Status } from '../../lib/protocol/status.ts'
import type { Lifecycle, ServiceDocument } from '../scenarios.ts'
import type { Clock } from './clock.ts'
import { NAME, REFUSAL } from './personal.ts'

export const ACCOUNTING_KEY = 'accounting-key-of-the-relay'

type Registered = {
  status: Status
  holdsPayment: boolean
  /** One entry for each document that was registered. */
  documents: ServiceDocument[]
  total: number
  /** What a repeated create is answered with, by the spec's words (POST orders, 200). */
  original?: OrderResult
}

/** What the accountant does. */
export type Act = 'fix' | 'payment' | 'edit'

type Action = 'create' | 'read' | 'payment' | 'refund'

/** What the service answers. */
type Answer = { status: number; body: object }
const refused = (status: number, code: string): Answer => ({ status, body: { error: { code, ...REFUSAL } } })

const PATH = /^\/base\/api\/v1\/orders\/(?:([^/]+)\/(?:(payment|refund)\/)?\?source=(.*))?$/

/** What a request to the service asks for (spec: Endpoints). A URL parser would resolve an order named "..". */
export const readCall = ({ method, path, body = '{}' }: OutgoingRequest): { to: Action; key: OrderKey } => {
  const [, id, action, source = ''] = PATH.exec(path) ?? []
  if (id === undefined) return { to: 'create', key: JSON.parse(body) as OrderKey }
  const to = method === 'GET' ? 'read' : action === 'payment' ? 'payment' : 'refund'
  return { to, key: { source: decodeURIComponent(source), external_id: decodeURIComponent(id) } }
}

/** The accounting service at the level of HTTP, with the spec's transitions (spec: States and transitions). */
export const accountingService = (
  clock: Clock,
  lifecycleOf: (external_id: string) => Lifecycle,
  /** Called with every change that is not the answer to a request (spec: Events). */
  announce: (result: OrderResult, cause: Act) => void,
) => {
  const orders = new Map<string, Registered>()
  const products = new Set<string>()
  const nameOf = ({ source, external_id }: OrderKey) => JSON.stringify([source, external_id])

  const resultOf = ({ source, external_id }: OrderKey, order: Registered): OrderResult => ({
    source,
    external_id,
    status: order.status,
    status_display: NAME,
    total: String(order.total),
    invoice_number: 1,
    invoice_status: order.status === 'needs_review' ? 'draft' : 'posted',
    receipt_number: order.documents.includes('receipt') ? 1 : null,
    return_number: order.documents.includes('return') ? 1 : null,
    error: order.status === 'needs_review' ? `insufficient stock for ${NAME}` : null,
  })

  const register = (order: Registered, document: 'receipt' | 'return') => {
    order.documents.push(document)
    order.status = document === 'receipt' ? 'paid' : 'refunded'
    order.holdsPayment = false
  }

  /** Does what can be done in the order's status; false where nothing can. */
  const acts: Readonly<Record<Act, (order: Registered) => boolean>> = {
    fix(order) {
      if (order.status !== 'needs_review') return false
      order.status = 'invoiced'
      if (order.holdsPayment) register(order, 'receipt')
      return true
    },
    payment(order) {
      const isDue = order.status === 'invoiced'
      if (isDue) register(order, 'receipt')
      return isDue
    },
    edit(order) {
      order.total += 1000
      return true
    },
  }
  const act = (key: OrderKey, does: Act) => {
    const order = orders.get(nameOf(key))
    if (order !== undefined && acts[does](order)) announce(resultOf(key, order), does)
  }

  const create = (key: OrderKey): Answer => {
    const { unknownProduct, review, fixedAfter, paidAtOnce, accountant = [] } = lifecycleOf(key.external_id)
    if (unknownProduct !== undefined && !products.has(key.external_id)) return refused(400, 'unknown_sku')
    const existing = orders.get(nameOf(key))
    if (existing?.original !== undefined)
      return { status: 200, body: { ...existing.original, duplicate: true } }
    const order: Registered = {
      status: review ? 'needs_review' : 'invoiced',
      holdsPayment: review === true && paidAtOnce === true,
      documents: ['invoice'],
      total: 1_500_000,
    }
    if (!review && paidAtOnce) register(order, 'receipt')
    order.original = resultOf(key, order)
    orders.set(nameOf(key), order)
    if (fixedAfter !== undefined) clock.after(fixedAfter, () => act(key, 'fix'))
    for (const { after, does } of accountant) clock.after(after, () => act(key, does))
    return { status: 200, body: { ...order.original, duplicate: false } }
  }

  const serve = (to: Action, key: OrderKey): Answer => {
    if (to === 'create') return create(key)
    const order = orders.get(nameOf(key))
    if (order === undefined) return refused(404, 'not_found')
    if (order.status === 'needs_review' && to !== 'read') {
      order.holdsPayment ||= to === 'payment'
      return refused(400, 'not_finalized')
    }
    if (to === 'payment' && order.status === 'invoiced') register(order, 'receipt')
    if (to === 'refund' && order.status !== 'refunded') register(order, 'return')
    return { status: 200, body: resultOf(key, order) }
  }

  return {
    /** The store creates an order at the service itself. */
    create: (key: OrderKey) => void create(key),
    addProduct: (external_id: string) => void products.add(external_id),
    handle(request: OutgoingRequest): IncomingResponse {
      const isOurs = request.headers.authorization === `Bearer ${ACCOUNTING_KEY}`
      const { to, key } = readCall(request)
      const { status, body } = isOurs ? serve(to, key) : refused(401, 'unauthorized')
      return { status, headers: {}, text: JSON.stringify(body) }
    },
    /** The record of an order; undefined when it is not registered. */
    find(key: OrderKey) {
      const order = orders.get(nameOf(key))
      if (order === undefined) return undefined
      const { documents, holdsPayment } = order
      return { result: resultOf(key, order), documents, holdsPayment }
    },
  }
}
