import { pace } from '../core/async.ts'
import type { Context } from '../core/context.ts'
import { cannot, explain } from '../core/errors.ts'
import {
  idsOf,
  isKept,
  type Kind,
  type Message,
  type Outcome,
  type Selection,
  type Step,
  visitSelected,
} from '../model/message.ts'
import { beginOperation, type Operation } from './history.ts'

/** What an operator can do with messages. */
export const MESSAGE_ACTIONS = ['replay', 'discard'] as const
export type MessageAction = (typeof MESSAGE_ACTIONS)[number]

/** An action and its messages. */
export type Task = { action: MessageAction; selection: Selection }

/**
 * Decides the action on each selected message. A replayed message never overtakes a kept one of its group.
 *
 * @param take performs the action and returns its outcome; undefined if the message was only inspected
 */
export const eachStep = (
  context: Context,
  kind: Kind,
  { action, selection }: Task,
  take: (message: Message, step: Step) => Promise<Outcome | undefined>,
) => {
  const stepOf = kind.planner(context)
  const blocked = new Set<string>()
  const groupOf = ({ queue, raw }: Message) => `${queue} ${raw.group ?? raw.id}`
  const decide = async (message: Message): Promise<Step> => {
    if (action === 'discard') return { outcome: 'discarded' }
    return blocked.has(groupOf(message)) ? { outcome: 'behind' } : stepOf(message)
  }
  const skip = (message: Message) => blocked.add(groupOf(message))
  const visit = async (message: Message) => {
    const step = await decide(message)
    const outcome = await take(message, step)
    if (isKept(outcome ?? step.outcome)) skip(message)
    return outcome === undefined || isKept(outcome) ? 'keep' : 'delete'
  }
  return visitSelected(context, kind, selection, visit, skip)
}

/**
 * The rate leaves the service capacity for its daily work. `stopAfter` consecutive failures indicate that the cause
 * remains.
 */
export const PACING = { rate: 20, stopAfter: 5 } as const

/**
 * Carries out a task and records it in the history. Each message is first sent, then deleted: a crash in between sends
 * it twice, which is safe. A task that ends early can be repeated: completed messages are no longer in the queue.
 *
 * @param rate messages per second
 * @param stopAfter number of consecutive failed replays after which it stops
 * @param signal stops it between two messages
 * @throws if the first message cannot be processed
 */
export const carryOut = async (
  context: Context,
  kind: Kind,
  task: Task & Pick<Operation, 'name' | 'failure' | 'plan' | 'reason'>,
  pacing: { rate: number; stopAfter: number; signal?: AbortSignal; onStep?: (outcome: Outcome) => void },
) => {
  const { selection, ...what } = task
  const { rate, stopAfter, signal, onStep } = pacing
  const done: { message: Message; outcome: Outcome }[] = []
  const causes: Record<string, string> = {}
  const inTime = pace(rate)
  let failures = 0
  let end: Awaited<ReturnType<typeof beginOperation>> | undefined

  const take = async (message: Message, step: Step) => {
    signal?.throwIfAborted()
    if (failures === stopAfter)
      throw cannot('continue', `${failures} consecutive replays failed`, 'fix the cause first')
    if (!isKept(step.outcome)) end ??= await beginOperation(context, { command: kind.command, ...what })
    if (step.outcome === 'discarded') await kind.beforeDeletion?.(context, message)
    let outcome: Outcome = step.outcome
    let explained = message
    if (step.outcome === 'replayed') {
      await inTime()
      const sent = await step.send()
      outcome = typeof sent === 'string' ? sent : 'failed'
      if (typeof sent !== 'string') {
        explained = { ...message, error: sent.failed }
        causes[message.raw.id] = sent.failed
      }
      failures = outcome === 'failed' ? failures + 1 : 0
    }
    done.push({ message: explained, outcome })
    onStep?.(outcome)
    return outcome
  }

  let hidden = 0
  let stopped: string | undefined
  try {
    hidden = (await eachStep(context, kind, task, take)).hidden
  } catch (error) {
    if (done.length === 0) throw error
    stopped = explain(error, context).message
  }
  const counts = Map.groupBy(done, ({ outcome }) => outcome)
  const undelivered = Map.groupBy(
    done.filter(({ message, outcome }) => message.from === 'feed' && outcome === 'discarded'),
    ({ message }) => message.source ?? '',
  )
  await end?.({
    ...(stopped !== undefined && { stopped }),
    counts: Object.fromEntries([...counts].map(([outcome, { length }]) => [outcome, length])),
    causes,
    undelivered: Object.fromEntries([...undelivered].map(([source, { length }]) => [source, length])),
    messages: done.flatMap(({ message, outcome }) => (isKept(outcome) ? [] : [message.raw.id])),
  })
  const found = new Set(done.flatMap(({ message }) => idsOf(message)))
  const missing = stopped === undefined ? (selection.ids ?? []).filter(id => !found.has(id)) : []
  return { done, missing, hidden, stopped }
}
