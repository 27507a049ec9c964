import type { IncomingResponse, OutgoingRequest } from '../../lib/platform/http-client.ts'
import type { OrderKey, OrderResult } from '../../lib/protocol/order.ts'
import { REFUSAL } from '../../test/support/personal.ts'
import type { Lifecycle } from '../../test/support/scenarios.ts'
import {
  ACTS,
  type Act,
  called,
  documentsOf,
  refuses,
  resultOf,
  type ServiceOrder,
  serviceOrder,
} from '../../test/support/service-order.ts'
import type { Clock } from './clock.ts'

export const ACCOUNTING_KEY = 'accounting-key-of-the-relay'

type Action = 'create' | 'read' | 'payment' | 'refund'

/** A response of the service. */
type ServiceAnswer = { status: number; body: object }
const refused = (status: number, code: string): ServiceAnswer => ({
  status,
  body: { error: { code, ...REFUSAL } },
})

const PATH = /^\/base\/api\/v1\/orders\/(?:([^/]+)\/(?:(payment|refund)\/)?\?source=(.*))?$/

/** The action of a request (spec: Endpoints). A URL parser would resolve an order named "..". */
export const readCall = ({ method, path, body = '{}' }: OutgoingRequest): { to: Action; key: OrderKey } => {
  const [, id, action, source = ''] = PATH.exec(path) ?? []
  if (id === undefined) return { to: 'create', key: JSON.parse(body) as OrderKey }
  const to = method === 'GET' ? 'read' : action === 'payment' ? 'payment' : 'refund'
  return { to, key: { source: decodeURIComponent(source), external_id: decodeURIComponent(id) } }
}

/** The accounting service at the level of HTTP. */
export const accountingService = (
  clock: Clock,
  lifecycleOf: (external_id: string) => Lifecycle,
  /** Called with each change that is not the response to a request (spec: Events). */
  announce: (result: OrderResult, cause: Act) => void,
) => {
  const orders = new Map<string, ServiceOrder>()
  /** The response to a repeated create (spec: POST orders, 200). */
  const originals = new Map<string, OrderResult>()
  const products = new Set<string>()
  const nameOf = ({ source, external_id }: OrderKey) => JSON.stringify([source, external_id])

  const act = (key: OrderKey, does: Act) => {
    const order = orders.get(nameOf(key))
    const next = order && ACTS[does](order)
    if (next === undefined) return
    orders.set(nameOf(key), next)
    announce(resultOf(key, next), does)
  }

  const create = (key: OrderKey): ServiceAnswer => {
    const { unknownProduct, review, fixedAfter, paidAtOnce, accountant = [] } = lifecycleOf(key.external_id)
    if (unknownProduct !== undefined && !products.has(key.external_id)) return refused(400, 'unknown_sku')
    const name = nameOf(key)
    const original = originals.get(name)
    if (original !== undefined) return { status: 200, body: { ...original, duplicate: true } }
    const unpaid = serviceOrder(review ? 'needs_review' : 'invoiced')
    const order = paidAtOnce ? called(unpaid, 'payment') : unpaid
    const result = resultOf(key, order)
    orders.set(name, order)
    originals.set(name, result)
    if (fixedAfter !== undefined) clock.after(fixedAfter, () => act(key, 'fix'))
    for (const { after, does } of accountant) clock.after(after, () => act(key, does))
    return { status: 200, body: { ...result, duplicate: false } }
  }

  const serve = (to: Action, key: OrderKey): ServiceAnswer => {
    if (to === 'create') return create(key)
    const order = orders.get(nameOf(key))
    if (order === undefined) return refused(404, 'not_found')
    const next = called(order, to)
    orders.set(nameOf(key), next)
    return refuses(order, to) ? refused(400, 'not_finalized') : { status: 200, body: resultOf(key, next) }
  }

  return {
    /** The store creates an order directly at the service. */
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
      return { result: resultOf(key, order), documents: documentsOf(order), holdsPayment: order.holdsPayment }
    },
  }
}
