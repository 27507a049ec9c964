import { randomUUID } from 'node:crypto'
import { visible } from '@order-relay/lib/platform/visible.ts'
import * as v from 'valibot'
import { accountingOf, orderReader } from '../core/accounting.ts'
import { textOf } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { count, lines } from '../core/output.ts'
import {
  type Deletion,
  failureOf,
  type Kind,
  MESSAGE_COMMANDS,
  type Outcome,
  type Selection,
  summaryOf,
} from '../model/message.ts'
import { announcementsOf, ordersOf } from '../model/read.ts'
import { whyFailed } from '../model/reasons.ts'
import { eachStep, MESSAGE_ACTIONS, type Task } from './carry-out.ts'
import {
  callCounts,
  callCountsText,
  dryRun,
  NOTHING,
  type Prediction,
  prediction,
  predictionText,
} from './prediction.ts'

export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  replayed: 'replayed',
  discarded: 'deleted',
  duplicate: 'deleted: the same delivery was received again in the meantime',
  unreadable: 'kept: still unreadable',
  foreign: 'kept: belongs to no store in stores.yml',
  behind: 'kept: an earlier message of the same order must be replayed first',
  quarantined: 'moved to the quarantine: still unreadable',
  failed: 'kept: it failed again',
}

const coded = v.object({ code: v.string(), text: v.string(), values: v.record(v.string(), v.any()) })

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
      id: v.string(),
      does: v.array(v.string()),
      predicted: v.optional(prediction),
      deletion: v.optional(v.custom<Deletion['deletion']>(value => v.is(coded, value))),
      source: v.optional(v.string()),
      external_id: v.optional(v.string()),
      event: v.optional(v.string()),
      from: v.optional(v.string()),
      cause: v.optional(
        v.custom<ReturnType<typeof whyFailed>>(value => v.is(v.union([v.string(), coded]), value)),
      ),
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

/** What becomes of the request in a message that is deleted, and the command that prevents it. */
export const deletionText = ({ deletion, prevention }: Deletion): string[] => [
  deletion.text,
  ...(prevention === undefined ? [] : [`To withdraw it: ${prevention}`]),
]

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
    const deleted = step.outcome === 'discarded' ? await kind.whenDeleted?.(context, message) : undefined
    const noted = deleted === undefined ? [note] : deletionText(deleted)
    const does = predicted === undefined ? noted : predictionText(predicted)
    predictions.push(predicted ?? NOTHING)
    messages.push({
      ...summaryOf(message),
      cause: whyFailed(message),
      ...(predicted && { predicted }),
      ...(deleted && { deletion: deleted.deletion }),
      does: does.map(visible),
    })
    failure ??= task.selection.group && failureOf(message)
    return undefined
  })
  return {
    plan: randomUUID(),
    command: kind.command,
    action: task.action,
    relay: context.title,
    name: nameOf(task.selection, messages.length),
    made_at: new Date().toISOString(),
    messages,
    ...(failure !== undefined && { failure }),
    calls: callCounts(predictions.flatMap(({ calls }) => calls)),
    hidden,
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

export const planText = ({ messages, calls, action }: Plan): string => {
  const unknown = messages.flatMap(({ predicted }) => predicted?.unknown ?? [])
  return lines(
    messages.flatMap(message => {
      const { id, source, external_id, event, does, cause } = message
      return [
        visible(`${id}  ${source ?? '-'} ${external_id ?? '-'}  ${event ?? '-'}`),
        ...(cause === undefined ? [] : [visible(`  cause: ${textOf(cause)}`)]),
        ...does.map(line => `  ${line}`),
      ]
    }),
    action === 'replay'
      ? visible(callCountsText(calls, unknown, messages.length))
      : `${count(messages.length, 'message')} would be deleted.`,
  )
}
