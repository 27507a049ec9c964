import type { Accounting } from '../../lib/accounting/client.ts'
import { AccountingError, errorOf } from '../../lib/accounting/errors.ts'
import type { OrderKey, OrderResult } from '../../lib/protocol/order.ts'
import type { Clock } from './clock.ts'
import type { Instance, MakeCall } from './faults.ts'

type Registered = {
  status: 'needs_review' | 'invoiced' | 'paid' | 'refunded'
  heldPayment: boolean
  /** What was registered, one entry for each document that was made. */
  documents: ('invoice' | 'receipt' | 'return')[]
  total: number
}

/** How the service treats an order. */
export type Treatment = {
  /** The invoice cannot be finalized at once. */
  review?: boolean
  /** The create request is refused. */
  refuses?: boolean
  /** How long the service answers nothing of this order, in milliseconds from the start. */
  down?: number
  /** How long after an order came to review its accountant retries it, in milliseconds. */
  retriedAfter?: number
}

const refusal = (status: number, code: string) =>
  errorOf(status, { error: { code, message: 'refused by the model' } }, undefined)

/** The accounting service with the spec's transitions (spec: States and transitions). */
export const accountingService = (
  clock: Clock,
  treatment: (external_id: string) => Treatment,
  /** Hears of a change that is not the answer to a request (spec: Events). */
  announce: (result: OrderResult) => void,
) => {
  const began = clock.now()
  const orders = new Map<string, Registered>()
  const nameOf = ({ source, external_id }: OrderKey) => JSON.stringify([source, external_id])

  const result = ({ source, external_id }: OrderKey, order: Registered): OrderResult => ({
    source,
    external_id,
    status: order.status,
    status_display: order.status,
    total: String(order.total),
    invoice_number: 1,
    invoice_status: order.status === 'needs_review' ? 'draft' : 'posted',
    receipt_number: order.documents.includes('receipt') ? 1 : null,
    return_number: order.documents.includes('return') ? 1 : null,
    error: order.status === 'needs_review' ? 'insufficient stock' : null,
  })

  const register = (order: Registered, document: 'receipt' | 'return') => {
    order.documents.push(document)
    order.status = document === 'receipt' ? 'paid' : 'refunded'
  }

  const found = (key: OrderKey) => {
    const order = orders.get(nameOf(key))
    if (order === undefined) throw refusal(404, 'not_found')
    return order
  }

  /** The accountant mends the cause and finalizes again; what was held is registered. */
  const retry = (key: OrderKey) => {
    const order = found(key)
    if (order.status !== 'needs_review') return
    order.status = 'invoiced'
    if (order.heldPayment) register(order, 'receipt')
    announce(result(key, order))
  }

  const actions = {
    create(key: OrderKey): OrderResult {
      const { refuses, review, retriedAfter } = treatment(key.external_id)
      if (refuses) throw refusal(400, 'unknown_sku')
      const held = orders.get(nameOf(key))
      if (held !== undefined) return { ...result(key, held), duplicate: true }
      const status = review ? 'needs_review' : 'invoiced'
      const order: Registered = { status, heldPayment: false, documents: ['invoice'], total: 1_500_000 }
      orders.set(nameOf(key), order)
      if (review && retriedAfter !== undefined) clock.after(retriedAfter, () => retry(key))
      return { ...result(key, order), duplicate: false }
    },
    read: (key: OrderKey): OrderResult => result(key, found(key)),
    payment(key: OrderKey): OrderResult {
      const order = found(key)
      if (order.status === 'needs_review') {
        order.heldPayment = true
        throw refusal(400, 'not_finalized')
      }
      if (order.status === 'invoiced') register(order, 'receipt')
      return result(key, order)
    },
    refund(key: OrderKey): OrderResult {
      const order = found(key)
      if (order.status === 'needs_review') throw refusal(400, 'not_finalized')
      if (order.status !== 'refunded') register(order, 'return')
      return result(key, order)
    },
  }

  const whenUp =
    (to: keyof typeof actions, key: OrderKey): (() => OrderResult) =>
    () => {
      if (clock.now() < began + (treatment(key.external_id).down ?? 0))
        throw new AccountingError('unavailable', 'Cannot reach the accounting service: it is down')
      return actions[to](key)
    }

  const unreached = () => new AccountingError('unavailable', 'Cannot reach the accounting service: no answer')
  const never = () => Promise.reject(new Error('Cannot register a webhook: the model has no registration'))

  return {
    /** The service as a worker's client reaches it. */
    client: (instance: Instance, call: MakeCall): Accounting => ({
      create: key => call(instance, 'worker: ask for create', whenUp('create', key), unreached),
      read: key => call(instance, 'worker: ask for read', whenUp('read', key), unreached),
      payment: key => call(instance, 'worker: ask for payment', whenUp('payment', key), unreached),
      refund: key => call(instance, 'worker: ask for refund', whenUp('refund', key), unreached),
      registerWebhook: never,
      removeWebhook: never,
    }),
    /** What others than the relay do: the store by itself, before it had a relay, or the accountant. */
    outside: {
      create: (key: OrderKey) => void actions.create(key),
      holdPayment(key: OrderKey) {
        found(key).heldPayment = true
      },
      retry,
      pay(key: OrderKey) {
        const order = found(key)
        if (order.status === 'invoiced') register(order, 'receipt')
        announce(result(key, order))
      },
      edit(key: OrderKey) {
        const order = found(key)
        order.total += 1000
        announce(result(key, order))
      },
    },
    /** The truth about an order; undefined when it is not registered. */
    truth(key: OrderKey) {
      const order = orders.get(nameOf(key))
      return order && { result: result(key, order), documents: order.documents }
    },
  }
}

export type Service = ReturnType<typeof accountingService>
