import { AccountingError } from '@order-relay/lib/accounting/errors.ts'
import type { Announcements } from '@order-relay/lib/orders/announcements.ts'
import type { CallResult } from '@order-relay/lib/orders/apply.ts'
import type { OrderEvent } from '@order-relay/lib/orders/events.ts'
import { handleEvent } from '@order-relay/lib/orders/handle-event.ts'
import type { AccountingCall } from '@order-relay/lib/orders/next-call.ts'
import { requestViews } from '@order-relay/lib/orders/order.ts'
import type { Orders } from '@order-relay/lib/orders/repository.ts'
import { includesPayment } from '@order-relay/lib/orders/requests.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { effectOf } from '@order-relay/lib/protocol/status.ts'
import * as v from 'valibot'
import type { ServiceOrder } from '../core/accounting.ts'
import { cannot, Failure, serviceMessage } from '../core/errors.ts'
import { count } from '../core/output.ts'

type CallKind = AccountingCall['to']

const values = { before: v.optional(v.string()), after: v.optional(v.string()) }

/** The effects of a replay, as far as they can be predicted. */
export const prediction = v.object({
  /** Calls to the accounting service, and their expected outcomes. */
  calls: v.array(v.object({ to: v.picklist(['create', 'payment', 'refund', 'read']), outcome: v.string() })),
  /** The changes: fields of the order's result, and states of its requests by kind. */
  changes: v.array(
    v.variant('of', [
      v.object({ of: v.literal('result'), field: v.string(), ...values }),
      v.object({ of: v.literal('request'), field: v.string(), ...values }),
    ]),
  ),
  /** Messages to the store's feed. */
  publishes: v.array(v.object({ event: v.string(), status: v.optional(v.string()) })),
  /** Why the rest cannot be predicted. */
  unknown: v.optional(v.string()),
})

export type Prediction = v.InferOutput<typeof prediction>
type ExpectedCall = Prediction['calls'][number]
type Change = Prediction['changes'][number]

export const NOTHING: Prediction = { calls: [], changes: [], publishes: [] }

type Expected = { result: CallResult; after: ServiceOrder; outcome: string }

/**
 * The expected response of the service, and the resulting order (spec: States and transitions). Only the service knows
 * whether it can finalize a new order, or refuses its content.
 *
 * @throws Failure if the spec does not define the order's status
 */
const predictCall = (
  call: AccountingCall,
  { source, external_id }: OrderKey,
  now: ServiceOrder,
): Expected => {
  const { to } = call
  if ('unknown' in now && to !== 'create') {
    const outcome = to === 'read' ? 'unknown order' : 'rejected: the service does not know the order'
    return { result: { to, outcome: 'unknown order', reason: now.unknown }, after: now, outcome }
  }
  const becomes = (status: string, outcome = `expected status "${status}"`): Expected => {
    const known = 'result' in now ? now.result : { source, external_id }
    const result = { ...known, status }
    return { result: { to, outcome: 'result', result }, after: { result }, outcome }
  }
  if ('unknown' in now) return becomes('body' in call && includesPayment(call.body) ? 'paid' : 'invoiced')

  const { status } = now.result
  if (to === 'create') {
    const { result, ...rest } = becomes(status, `no change: already "${status}"`)
    return { result: { ...result, duplicate: true } as CallResult, ...rest }
  }
  if (to === 'read') return becomes(status, `"${status}"`)
  const effect = effectOf(to, status)
  switch (effect) {
    case 'settled':
      return becomes(status, `no change: already "${status}"`)
    case 'held':
    case 'refused': {
      const reason = { status: 400, message: 'the invoice is not finalized' }
      const outcome = `${effect} until the invoice is finalized`
      return { result: { to, outcome: 'refused', reason }, after: now, outcome }
    }
    case undefined:
      throw cannot(`predict the ${to}`, `the spec does not define the status "${status}"`)
    default:
      return becomes(effect)
  }
}

const fieldsOf = (stored: StoredOrder | undefined) => {
  const { source: _, external_id: __, ...fields } = stored?.order.result ?? {}
  return new Map(
    Object.entries(fields).flatMap(([name, value]) =>
      // The display name repeats the status.
      value == null || name === 'status_display'
        ? []
        : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  )
}

const statesOf = (stored: StoredOrder | undefined) =>
  new Map(stored && requestViews(stored.order).map(({ id, kind, state }) => [id, { kind, state }]))

/** The differences between two states of an order. */
const changesBetween = (before: StoredOrder | undefined, after: StoredOrder | undefined): Change[] => {
  const [oldFields, newFields] = [fieldsOf(before), fieldsOf(after)]
  const [oldStates, newStates] = [statesOf(before), statesOf(after)]
  const all: Change[] = [
    ...[...new Set([...oldFields.keys(), ...newFields.keys()])].map(field => ({
      ...({ of: 'result', field, before: oldFields.get(field), after: newFields.get(field) } as const),
    })),
    ...[...newStates].map(([id, { kind, state }]) => ({
      ...({ of: 'request', field: kind, before: oldStates.get(id)?.state, after: state } as const),
    })),
  ]
  return all.filter(({ before: old, after: fresh }) => old !== fresh)
}

/**
 * Predicts the effects of replaying events: runs the worker's own `handleEvent` on the stored order, with calls answered
 * by the spec's rules. Reads the store and the service; changes nothing. Each event starts from the predicted result of
 * the previous ones.
 */
export const dryRun = ({
  orders,
  announcements,
  readService,
}: {
  orders: Pick<Orders, 'get'>
  announcements: Pick<Announcements, 'get'>
  readService: (order: OrderKey) => Promise<ServiceOrder>
}) => {
  const stored = new Map<string, StoredOrder | undefined>()
  const services = new Map<string, ServiceOrder>()

  return async (event: OrderEvent): Promise<Prediction> => {
    const name = orderName(event.data)
    const calls: ExpectedCall[] = []
    const publishes: Prediction['publishes'] = []
    let before: StoredOrder | undefined
    const predicted = () => ({ calls, changes: changesBetween(before, stored.get(name)), publishes })
    try {
      await handleEvent(event, {
        orders: {
          get: async key => {
            if (!stored.has(name)) stored.set(name, await orders.get(key))
            before = stored.get(name)
            return before
          },
          save: async (saved, revision) => {
            stored.set(name, { ...saved, revision: revision + 1, updated_at: '' })
          },
        },
        announcements,
        call: async (call, order) => {
          const now = services.get(name) ?? (await readService(order))
          const { result, after, outcome } = predictCall(call, order, now)
          services.set(name, after)
          calls.push({ to: call.to, outcome })
          return result
        },
        publish: async message => {
          const { event: published, data } = message
          publishes.push({ event: published, ...('status' in data && { status: data.status }) })
        },
        now: Date.now,
        retryRefused: Number.POSITIVE_INFINITY,
        redelivered: false,
      })
      return predicted()
    } catch (error) {
      if (error instanceof AccountingError) return { ...predicted(), unknown: serviceMessage(error) }
      if (error instanceof Failure) return { ...predicted(), unknown: error.message }
      throw error
    }
  }
}

/** A prediction, one call, change or message per line. */
export const predictionText = ({ calls, changes, publishes, unknown }: Prediction): string[] => [
  ...calls.map(({ to, outcome }) => (to === 'read' ? `GET order: ${outcome}` : `POST ${to}: ${outcome}`)),
  ...(calls.length === 0 && unknown === undefined ? ['no call'] : []),
  ...changes.map(({ of, field, before = '-', after = '-' }) =>
    of === 'result' ? `${field}: ${before} → ${after}` : `request ${field}: ${before} → ${after}`,
  ),
  ...publishes.map(
    ({ event, status }) => `feed: ${event}${status === undefined ? '' : ` (status "${status}")`}`,
  ),
  ...(unknown === undefined ? [] : [`unpredictable: ${unknown}`]),
]

/** The number of calls of each kind. */
export const callCounts = (calls: readonly ExpectedCall[]): Record<CallKind, number> => {
  const of = (kind: CallKind) => calls.filter(({ to }) => to === kind).length
  return { create: of('create'), payment: of('payment'), refund: of('refund'), read: of('read') }
}

/**
 * @param unknown for each message whose calls cannot be predicted, the reason
 * @param all the number of messages
 */
export const callCountsText = (
  { create, payment, refund }: Record<CallKind, number>,
  unknown: readonly string[],
  all: number,
): string => {
  const [reason] = unknown
  const made = `${count(create, 'create call')}, ${count(payment, 'payment call')} and ${count(refund, 'refund call')}`
  const text =
    reason === undefined
      ? `A replay makes ${made}.`
      : unknown.length === all
        ? `The calls of a replay are unknown: ${reason}.`
        : `A replay makes at least ${made}. The calls of ${count(unknown.length, 'message')} are unknown: ${reason}.`
  return `${text} Nothing was sent.`
}
