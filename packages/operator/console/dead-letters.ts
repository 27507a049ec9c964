import { QUEUES } from '@order-relay/lib/platform/names.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { cannot, Failure } from '../core/errors.ts'
import { since } from '../core/options.ts'
import { visibleLines } from '../core/output.ts'
import { carryOut, PACING } from '../dead-letters/carry-out.ts'
import { operationsOf } from '../dead-letters/history.ts'
import { makePlan, type Plan, readPlan, selectionOf } from '../dead-letters/plan.ts'
import { deletedAt, failureOf, groupOf, groupsOf, type Message, summaryOf, textOf } from '../model/message.ts'
import { whyFailed } from '../model/reasons.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import { KINDS, type Readings } from './readings.ts'
import { get, PERIODS, post } from './route.ts'

const text = v.optional(v.string())
const command = { command: v.picklist(['dead', 'quarantine']) }
const plan = { plan: v.string() }
const selected = {
  ...command,
  ids: v.optional(v.array(v.string())),
  group: text,
  source: text,
  event: text,
  order: text,
  since: v.optional(v.picklist(PERIODS)),
  done: v.optional(v.literal(true)),
}

/** A plan being carried out: the outcomes of its messages, and how many were already gone. */
type Operation = { plan: Plan; counts: Record<string, number>; missing: number }

/** One plan at a time. */
const OPERATION = 'operation'

/** The dead letters and the quarantine. */
export const messageRoutes = (context: Context, live: Live, readings: Readings) => {
  const plans = new Map<string, Plan>()
  const jobs = createJobs(context, live, OPERATION)
  let operation: Operation | undefined
  let ended = 0
  const operationNow = () => operation && { ...operation, end: jobs.of(OPERATION)?.end }
  const isRunning = () => operation !== undefined && operationNow()?.end === undefined
  const keep = (made: Plan) => {
    plans.set(made.plan, made)
    return { plan: made.plan }
  }
  const planOf = (id: string): Plan => {
    const found = plans.get(id)
    if (found === undefined)
      throw cannot('find the plan', 'the console was restarted', 'make it again, or open its file')
    return found
  }
  const run = async (
    started: Operation,
    reason: string | undefined,
    context: Context,
    signal: AbortSignal,
  ) => {
    const { plan, command, action, name, failure } = started.plan
    const onStep = (outcome: string) => {
      started.counts[outcome] = (started.counts[outcome] ?? 0) + 1
    }
    const task = {
      action,
      name,
      failure,
      plan,
      selection: selectionOf(started.plan),
      ...(reason && { reason }),
    }
    try {
      const { stopped, missing } = await readings.inTurn(command, () =>
        carryOut(context, KINDS[command], task, { ...PACING, signal, onStep }),
      )
      started.missing = missing.length
      if (stopped !== undefined) throw new Failure(stopped)
    } finally {
      readings.forget(command)
      ended += 1
    }
    return undefined
  }

  live.poll('messages', 500, async () => ended)
  return [
    get('messages', command, async ({ command }) => {
      const { at, messages, hidden } = await readings.of(command)
      const shownOf = (each: Message) => ({
        ...summaryOf(each),
        group: groupOf(each),
        failure: failureOf(each),
        cause: whyFailed(each),
        deleted_at: deletedAt(each),
        is_http: each.queue === QUEUES.feedsDead,
      })
      return { at, hidden, groups: groupsOf(messages), messages: messages.map(shownOf) }
    }),
    post('messages/read', command, async ({ command }) => {
      // While an operation runs, a reading would wait for the operation to end, and the queue is read then anyway.
      if (!isRunning()) readings.forget(command)
    }),
    get('message', { ...command, id: v.string() }, async ({ command, id }) => {
      const { messages } = await readings.of(command)
      const found = messages.find(({ raw }) => raw.id === id)
      if (found === undefined) throw cannot('show the message', 'it is gone', 'read the queue again')
      const about = { ...summaryOf(found), deleted_at: deletedAt(found) }
      return { about, text: visibleLines(textOf(found)) }
    }),
    post(
      'plans',
      { ...selected, action: v.picklist(['replay', 'discard']) },
      async ({ command, action, since: period, ...filters }) => {
        const selection = {
          ...filters,
          ...(period !== undefined && { since: since(period) }),
          limit: Number.POSITIVE_INFINITY,
        }
        return keep(
          await readings.inTurn(command, () => makePlan(context, KINDS[command], { action, selection })),
        )
      },
    ),
    post('plans/open', { ...command, file: v.string() }, async ({ command, file }) =>
      keep(readPlan(file, context, command)),
    ),
    get('plan', plan, async ({ plan }) => planOf(plan)),
    get('plan/gone', plan, async ({ plan }) => {
      const { command, made_at } = planOf(plan)
      const operations = await operationsOf(context, command, { since: new Date(made_at) })
      return { ids: operations.flatMap(({ messages }) => messages) }
    }),
    post('carry-out', { ...plan, count: v.optional(v.number()), reason: text }, async given => {
      const { count, reason } = given
      const found = planOf(given.plan)
      const { length } = found.messages
      if (found.action === 'discard' && count !== length)
        throw cannot('delete the messages', 'their number was not confirmed', `type "${length}"`)
      const started = { plan: found, counts: {}, missing: 0 }
      jobs.start(OPERATION, 'carry out the plan', (context, signal) => run(started, reason, context, signal))
      operation = started
    }),
    post('break-off', {}, async () => jobs.stop(OPERATION)),
    get('operation', {}, async () => ({ operation: operationNow() })),
    get('operations', command, async ({ command }) => ({
      operations: await operationsOf(context, command, { limit: 20 }),
    })),
  ]
}
