import { randomUUID } from 'node:crypto'
import { AccountingError } from '@order-relay/lib/accounting/errors.ts'
import type { Announcements } from '@order-relay/lib/orders/announcements.ts'
import type { CallResult } from '@order-relay/lib/orders/apply.ts'
import type { OrderEvent } from '@order-relay/lib/orders/events.ts'
import { handleEvent } from '@order-relay/lib/orders/handle-event.ts'
import type { AccountingCall } from '@order-relay/lib/orders/next-call.ts'
import { requestViews } from '@order-relay/lib/orders/order.ts'
import type { Orders } from '@order-relay/lib/orders/repository.ts'
import type { StoredOrder } from '@order-relay/lib/orders/stored.ts'
import { visible } from '@order-relay/lib/platform/visible.ts'
import { type OrderKey, orderName } from '@order-relay/lib/protocol/order.ts'
import { effectOf } from '@order-relay/lib/protocol/status.ts'
import * as v from 'valibot'
import { accountingOf, orderReader, type ServiceOrder } from '../core/accounting.ts'
import type { Context } from '../core/context.ts'
import { cannot, Failure, serviceMessage } from '../core/errors.ts'
import { count, lines } from '../core/output.ts'
import { jsonOf } from '../core/webhook.ts'
import { announcementsOf, ordersOf } from '../orders/read.ts'
import {
  eachStep,
  failureOf,
  type Kind,
  MESSAGE_ACTIONS,
  MESSAGE_COMMANDS,
  type Outcome,
  type Selection,
  summaryOf,
  type Task,
} from './message.ts'

type CallKind = AccountingCall['to']

const values = { before: v.optional(v.string()), after: v.optional(v.string()) }

/** The effects of a replay, as far as they can be predicted. */
const prediction = v.object({
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

type Prediction = v.InferOutput<typeof prediction>
type ExpectedCall = Prediction['calls'][number]
type Change = Prediction['changes'][number]

const NOTHING: Prediction = { calls: [], changes: [], publishes: [] }

type Expected = { result: CallResult; after: ServiceOrder; outcome: string }

const hasPayment = (body: string) => {
  const json = jsonOf(body)
  return typeof json === 'object' && json !== null && 'payment' in json && json.payment !== null
}

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
  if ('unknown' in now) return becomes('body' in call && hasPayment(call.body) ? 'paid' : 'invoiced')

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
const predictionText = ({ calls, changes, publishes, unknown }: Prediction): string[] => [
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
const callCounts = (calls: readonly ExpectedCall[]): Record<CallKind, number> => {
  const of = (kind: CallKind) => calls.filter(({ to }) => to === kind).length
  return { create: of('create'), payment: of('payment'), refund: of('refund'), read: of('read') }
}

const callCountsText = ({ create, payment, refund }: Record<CallKind, number>): string =>
  `A replay makes ${count(create, 'create call')}, ${count(payment, 'payment call')} and ${count(refund, 'refund call')}. Nothing was sent.`

export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  replayed: 'replayed',
  discarded: 'deleted',
  duplicate: 'deleted: the same delivery was received again in the meantime',
  unreadable: 'kept: still unreadable',
  foreign: 'kept: belongs to no store in stores.yml',
  behind: 'kept: an earlier message of the same order must be replayed first',
  quarantined: 'moved to the quarantine: still unreadable',
  failed: 'kept: it failed again, and relay tail --errors shows why',
}

/** A plan from a file that may have been edited: an action and its messages. */
const plan = v.object({
  plan: v.pipe(v.string(), v.uuid()),
  command: v.picklist(MESSAGE_COMMANDS),
  action: v.picklist(MESSAGE_ACTIONS),
  /** The relay it was made for. */
  relay: v.string(),
  name: v.string(),
  /** The failure of the selected group, in words. */
  failure: v.optional(v.string()),
  made_at: v.string(),
  /** `does` describes the effects, one call, change or message per line; earlier versions wrote only this. */
  messages: v.array(
    v.looseObject({
      ...{ id: v.string(), does: v.array(v.string()), predicted: v.optional(prediction) },
      ...{
        source: v.optional(v.string()),
        external_id: v.optional(v.string()),
        event: v.optional(v.string()),
      },
    }),
  ),
  calls: v.object({ create: v.number(), payment: v.number(), refund: v.number(), read: v.number() }),
  /** Number of messages that could not be read and are not part of it. */
  hidden: v.number(),
  /** Applies only to messages that are still already done when the plan is carried out. */
  done: v.optional(v.literal(true)),
})

export type Plan = v.InferOutput<typeof plan>

/** The selection in an operator's terms: an id; or a group, filters or all, with the number of messages. */
export const nameOf = ({ ids = [], limit: _, ...filters }: Selection, found?: number): string => {
  if (ids.length === 1) return ids[0] ?? ''
  const given = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined || name === 'done'
      ? []
      : [`${name}=${value instanceof Date ? value.toISOString() : value}`],
  )
  if (ids.length > 1) given.push('ids')
  if (filters.done) given.push('done')
  return [given.join(' ') || 'all', ...(found === undefined ? [] : [found])].join(' ')
}

/** Determines what an action would do; sends and deletes nothing. */
export const makePlan = async (context: Context, kind: Kind, task: Task): Promise<Plan> => {
  let reader: Promise<ReturnType<typeof orderReader>> | undefined
  const predictEvent = dryRun({
    orders: await ordersOf(context),
    announcements: announcementsOf(context),
    readService: async order => {
      reader ??= accountingOf(context).then(orderReader)
      return (await reader)(order)
    },
  })
  const predictions: Prediction[] = []
  const messages: Plan['messages'] = []
  let failure: string | undefined
  const { hidden } = await eachStep(context, kind, task, async (message, step) => {
    const { event, note = OUTCOMES[step.outcome] } = step.outcome === 'replayed' ? step : {}
    const predicted = event && (await predictEvent(event))
    const does = predicted === undefined ? [note] : predictionText(predicted)
    predictions.push(predicted ?? NOTHING)
    messages.push({ ...summaryOf(message), ...(predicted && { predicted }), does: does.map(visible) })
    failure ??= task.selection.group && failureOf(message)
    return undefined
  })
  return {
    ...{ plan: randomUUID(), command: kind.command, action: task.action, relay: context.title },
    ...{ name: nameOf(task.selection, messages.length), made_at: new Date().toISOString(), messages },
    ...(failure !== undefined && { failure }),
    ...{ calls: callCounts(predictions.flatMap(({ calls }) => calls)), hidden },
    ...(task.selection.done && { done: true }),
  }
}

/**
 * Reads a plan from the text of its file.
 *
 * @param action the only action that it may be for. @default any
 * @throws Failure if it is not a plan, or for another action
 */
export const readPlan = (
  text: string,
  { title }: Pick<Context, 'title'>,
  command: Plan['command'],
  action?: Plan['action'],
): Plan => {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), plan), text)
  if (!success) throw cannot('carry out the plan', 'the file contains none', 'make one with --plan')
  const madeFor = `${output.command} ${output.action} of ${output.relay}`
  if (madeFor === `${command} ${action ?? output.action} of ${title}`) return output
  throw cannot('carry out the plan', `it is for relay ${madeFor}`)
}

/** Selects exactly the messages of a plan. */
export const selectionOf = ({ messages, done }: Pick<Plan, 'messages' | 'done'>): Selection => ({
  ids: messages.map(({ id }) => id),
  done,
  limit: Number.POSITIVE_INFINITY,
})

export const planText = ({ messages, calls, action }: Plan): string =>
  lines(
    messages.flatMap(({ id, source, external_id, event, does }) => [
      visible(`${id}  ${source ?? '-'} ${external_id ?? '-'}  ${event ?? '-'}`),
      ...does.map(line => `  ${line}`),
    ]),
    action === 'replay' ? callCountsText(calls) : `${count(messages.length, 'message')} would be deleted.`,
  )
