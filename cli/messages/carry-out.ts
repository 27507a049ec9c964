import type { Context } from '../core/context.ts'
import { cannot, explain } from '../core/errors.ts'
import { pace } from '../core/pace.ts'
import { beginOperation, type Operation } from './history.ts'
import {
  idsOf,
  isKept,
  type Kind,
  type Message,
  type Outcome,
  type Selection,
  type Step,
  visitSelected,
} from './message.ts'

/** What is to be done, and with which messages. */
export type Task = { action: Operation['action']; selection: Selection }

/**
 * Decides for each selected message what is done with it. A replayed message never overtakes one of its group that
 * is kept.
 *
 * @param take does it, and returns its outcome; nothing when it was only looked at
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

/** The service has its daily work beside a replay, and so many failures in a row mean that the cause is not fixed. */
export const PACING = { rate: 20, stopAfter: 5 } as const

/**
 * Carries out a task and keeps it in the history. Each message is sent and only then deleted: a crash in between sends
 * it twice, which is safe. What ends early, for whatever reason, can be repeated: what was done is gone from the queue.
 *
 * @param rate messages a second
 * @param stopAfter replays that fail in a row before the rest is left
 * @param signal breaks it off between two messages
 * @throws when the first message cannot be taken
 */
export const carryOut = async (
  context: Context,
  kind: Kind,
  task: Task & Pick<Operation, 'name' | 'plan' | 'reason'>,
  pacing: { rate: number; stopAfter: number; signal?: AbortSignal; onStep?: (outcome: Outcome) => void },
) => {
  const { selection, ...what } = task
  const { rate, stopAfter, signal, onStep } = pacing
  const done: { message: Message; outcome: Outcome }[] = []
  const inTime = pace(rate)
  let failures = 0
  let end: Awaited<ReturnType<typeof beginOperation>> | undefined

  const take = async (message: Message, step: Step) => {
    signal?.throwIfAborted()
    if (failures === stopAfter)
      throw cannot('go on', `${failures} replays failed in a row`, 'fix the cause first')
    if (!isKept(step.outcome)) end ??= await beginOperation(context, { command: kind.command, ...what })
    let { outcome } = step
    if (step.outcome === 'replayed') {
      await inTime()
      if (!(await step.send())) outcome = 'failed'
      failures = outcome === 'failed' ? failures + 1 : 0
    }
    done.push({ message, outcome })
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
  await end?.({
    ...(stopped !== undefined && { stopped }),
    counts: Object.fromEntries([...counts].map(([outcome, { length }]) => [outcome, length])),
    messages: done.flatMap(({ message, outcome }) => (isKept(outcome) ? [] : [message.raw.id])),
  })
  const found = new Set(done.flatMap(({ message }) => idsOf(message)))
  const missing = stopped === undefined ? (selection.ids ?? []).filter(id => !found.has(id)) : []
  return { done, missing, hidden, stopped }
}
