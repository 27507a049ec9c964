import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { visible } from '../../lib/platform/visible.ts'
import { accountingOf, orderReader } from '../core/accounting.ts'
import type { Context } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { count, lines } from '../core/output.ts'
import { ordersOf } from '../orders/orders.ts'
import { eachStep, type Task } from './carry-out.ts'
import { callCounts, callCountsText, dryRun, type Prediction, predictionText } from './dry-run.ts'
import { type Kind, type Outcome, type Selection, summaryOf } from './message.ts'

export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  replayed: 'replayed',
  discarded: 'deleted',
  duplicate: 'deleted: the same delivery was received again in the meantime',
  unreadable: 'kept: still unreadable',
  foreign: 'kept: belongs to no store in stores.yml',
  behind: 'kept: an earlier message of the same order must be replayed first',
  failed: 'kept: it failed again, and relay tail --errors shows why',
}

/** What an action does with which messages, from a file that may have been edited. */
const plan = v.object({
  plan: v.pipe(v.string(), v.uuid()),
  command: v.picklist(['dead', 'quarantine']),
  action: v.picklist(['replay', 'discard']),
  /** The relay that it was made for. */
  relay: v.string(),
  name: v.string(),
  made_at: v.string(),
  /** `does` says what is done with it, one call or message a line. */
  messages: v.array(
    v.looseObject({
      ...{ id: v.string(), does: v.array(v.string()) },
      ...{
        source: v.optional(v.string()),
        external_id: v.optional(v.string()),
        event: v.optional(v.string()),
      },
    }),
  ),
  calls: v.object({ create: v.number(), payment: v.number(), refund: v.number(), read: v.number() }),
  /** Messages that could not be read, and are no part of it. */
  hidden: v.number(),
})

export type Plan = v.InferOutput<typeof plan>

/** What is acted on, as an operator names it: an id, or a group, filters or all, and how many messages it is. */
export const nameOf = ({ ids = [], limit: _, ...filters }: Selection, found?: number): string => {
  if (ids.length === 1) return ids[0] ?? ''
  const given = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value instanceof Date ? value.toISOString() : value}`],
  )
  if (ids.length > 1) given.push('ids')
  return [given.join(' ') || 'all', ...(found === undefined ? [] : [found])].join(' ')
}

/** Finds out what an action would do; sends and deletes nothing. */
export const makePlan = async (context: Context, kind: Kind, task: Task): Promise<Plan> => {
  let reader: Promise<ReturnType<typeof orderReader>> | undefined
  const predictEvent = dryRun({
    orders: await ordersOf(context),
    readService: async order => {
      reader ??= accountingOf(context).then(orderReader)
      return (await reader)(order)
    },
  })
  const predictions: Prediction[] = []
  const messages: Plan['messages'] = []
  const { hidden } = await eachStep(context, kind, task, async (message, step) => {
    const { event, note = OUTCOMES[step.outcome] } = step.outcome === 'replayed' ? step : {}
    const prediction = event === undefined ? { calls: [], publishes: [] } : await predictEvent(event)
    const does = event === undefined ? [note] : predictionText(prediction)
    predictions.push(prediction)
    messages.push({ ...summaryOf(message), ...prediction, does: does.map(visible) })
    return undefined
  })
  return {
    ...{ plan: randomUUID(), command: kind.command, action: task.action, relay: context.title },
    ...{ name: nameOf(task.selection, messages.length), made_at: new Date().toISOString(), messages },
    ...{ calls: callCounts(predictions.flatMap(({ calls }) => calls)), hidden },
  }
}

/**
 * Reads a plan from the text of its file.
 *
 * @param action the only one that it may be for. @default any
 * @throws Failure when it is none, or is for something else
 */
export const readPlan = (
  text: string,
  { title }: Pick<Context, 'title'>,
  command: Plan['command'],
  action?: Plan['action'],
): Plan => {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), plan), text)
  if (!success) throw cannot('carry out the plan', 'the file holds none', 'make one with --plan')
  const madeFor = `${output.command} ${output.action} of ${output.relay}`
  if (madeFor === `${command} ${action ?? output.action} of ${title}`) return output
  throw cannot('carry out the plan', `it is for relay ${madeFor}`)
}

/** The messages of a plan, and no others. */
export const selectionOf = ({ messages }: Pick<Plan, 'messages'>): Selection => ({
  ids: messages.map(({ id }) => id),
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
