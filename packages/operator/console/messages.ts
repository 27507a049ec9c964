import PQueue from 'p-queue'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { cannot, Failure } from '../core/errors.ts'
import { since } from '../core/options.ts'
import { visibleLines } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { operationsOf } from '../messages/history.ts'
import { DEAD_LETTERS, QUARANTINE } from '../messages/kinds.ts'
import {
  carryOut,
  collect,
  deletedAt,
  failureOf,
  groupOf,
  groupsOf,
  type Message,
  PACING,
  summaryOf,
  textOf,
} from '../messages/message.ts'
import { makePlan, type Plan, readPlan, selectionOf } from '../messages/plan.ts'
import { createJobs } from './jobs.ts'
import type { Live } from './live.ts'
import { get, PERIODS, post } from './route.ts'

const KINDS = { dead: DEAD_LETTERS, quarantine: QUARANTINE }

type Command = keyof typeof KINDS

/** Maximum number of messages read from a queue and shown; a plan contains all selected ones. */
const LIMIT = 1000

const text = v.optional(v.string())
const command = { command: v.picklist(['dead', 'quarantine']) }
const plan = { plan: v.string() }
const selected = {
  ...{ ...command, ids: v.optional(v.array(v.string())) },
  ...{ group: text, source: text, event: text, order: text },
  since: v.optional(v.picklist(PERIODS)),
}

/** A plan being carried out: the outcomes of its messages, and how many were already gone. */
type Operation = { plan: Plan; counts: Record<string, number>; missing: number }

/** One plan at a time. */
const OPERATION = 'operation'

/**
 * The dead letters and the quarantine. SQS shows a message to one reader at a time, so readings of a queue take turns,
 * and a reading is kept until the depth changes or a user asks for a new one.
 */
export const messageRoutes = (context: Context, live: Live) => {
  const readings = new Map<Command, ReturnType<typeof readNow>>()
  const plans = new Map<string, Plan>()
  const jobs = createJobs(context, live, OPERATION)
  let operation: Operation | undefined
  let ended = 0
  const turns = { dead: new PQueue({ concurrency: 1 }), quarantine: new PQueue({ concurrency: 1 }) }

  const readNow = (name: Command) =>
    turns[name].add(async () => ({
      at: new Date(),
      ...(await collect(context, KINDS[name], { limit: LIMIT })),
    }))
  const operationNow = () => operation && { ...operation, end: jobs.of(OPERATION)?.end }
  const isRunning = () => operation !== undefined && operationNow()?.end === undefined
  const depthsOf = async (name: Command) => {
    const depths = await Promise.all(KINDS[name].queues(context).map(queue => depthOf(context, queue)))
    return depths.reduce((sum, { all }) => sum + all, 0)
  }
  const readingOf = async (name: Command) => {
    const known = await readings.get(name)
    if (known !== undefined && (isRunning() || known.total === (await depthsOf(name)))) return known
    const reading = readNow(name)
    readings.set(name, reading)
    reading.catch(() => readings.delete(name))
    return reading
  }
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
      const { stopped, missing } = await turns[command].add(() =>
        carryOut(context, KINDS[command], task, { ...PACING, signal, onStep }),
      )
      started.missing = missing.length
      if (stopped !== undefined) throw new Failure(stopped)
    } finally {
      readings.delete(command)
      ended += 1
    }
    return undefined
  }

  live.poll('messages', 500, async () => ended)
  return [
    get('messages', command, async ({ command }) => {
      const { at, messages, hidden } = await readingOf(command)
      const shownOf = (each: Message) => ({
        ...summaryOf(each),
        ...{ group: groupOf(each), failure: failureOf(each) },
        deleted_at: deletedAt(each),
      })
      return { at, hidden, groups: groupsOf(messages), messages: messages.map(shownOf) }
    }),
    post('messages/read', command, async ({ command }) => {
      // It would wait for the end, when the queue is read anyway.
      if (!isRunning()) readings.delete(command)
    }),
    get('message', { ...command, id: v.string() }, async ({ command, id }) => {
      const { messages } = await readingOf(command)
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
        return keep(await turns[command].add(() => makePlan(context, KINDS[command], { action, selection })))
      },
    ),
    post('plans/open', { ...command, file: v.string() }, async ({ command, file }) =>
      keep(readPlan(file, context, command)),
    ),
    get('plan', plan, async ({ plan }) => planOf(plan)),
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
      operations: await operationsOf(context, command, 20),
    })),
  ]
}
