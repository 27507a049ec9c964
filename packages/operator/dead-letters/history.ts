import { randomUUID } from 'node:crypto'
import { userInfo } from 'node:os'
import { TABLES } from '@order-relay/lib/platform/names.ts'
import * as v from 'valibot'
import type { Context } from '../core/context.ts'
import { itemsOf } from '../core/table.ts'

/** The partition of the history table with the operators' actions. */
const PARTITION = 'operations'

const operation = v.object({
  by: v.string(),
  reason: v.optional(v.string()),
  command: v.picklist(['dead', 'quarantine', 'orders', 'audit']),
  action: v.picklist(['replay', 'discard', 'erase', 'repair']),
  /** The order, the period, or the selection of messages as the operator named it: an id, a group, filters, or all. */
  name: v.string(),
  /** The failure of the selected group, in words. */
  failure: v.optional(v.string()),
  /** The plan that was carried out. */
  plan: v.optional(v.string()),
  /** Absent while it runs, or if its process was killed. */
  ended: v.optional(v.string()),
  /** Why it ended early. */
  stopped: v.optional(v.string()),
  /** Number of messages or orders by outcome, or of erased items by table. */
  counts: v.record(v.string(), v.number()),
  /** Number of deleted feed messages, by store. */
  undelivered: v.optional(v.record(v.string(), v.number())),
  /** The causes of the first failed replays, by message id. */
  causes: v.optional(v.record(v.string(), v.string())),
  /** The first messages that were removed from their queue. */
  messages: v.array(v.string()),
})

export type Operation = v.InferOutput<typeof operation>

/** An item may have up to 400 KB, an id has 36 characters, and a cause has up to 200. */
const MAX_MESSAGES = 1000

/** The user of the command: the AWS caller, or the user of this machine. */
const operatorOf = async ({ local, aws }: Context): Promise<string> => {
  if (local) return userInfo().username
  const { Arn = 'unknown' } = await (await aws.sts()).getCallerIdentity({})
  return Arn
}

/**
 * Records an operator's action before it starts, so that the history includes interrupted actions.
 *
 * @returns a function that records how it ended
 */
export const beginOperation = async (
  context: Context,
  what: Pick<Operation, 'reason' | 'command' | 'action' | 'name' | 'failure' | 'plan'>,
) => {
  const { dynamodb, nameOf } = context
  const began = { ...what, by: await operatorOf(context), counts: {}, messages: [] }
  const at = `${new Date().toISOString()} ${randomUUID().slice(0, 8)}`
  const write = (written: Operation) =>
    dynamodb.putItem({
      TableName: nameOf(TABLES.history),
      Item: { partition: { S: PARTITION }, at: { S: at }, operation: { S: JSON.stringify(written) } },
    })
  await write(began)
  return ({
    messages,
    causes = {},
    ...end
  }: Pick<Operation, 'stopped' | 'counts' | 'undelivered' | 'causes' | 'messages'>) => {
    return write({
      ...began,
      ...end,
      messages: messages.slice(0, MAX_MESSAGES),
      causes: Object.fromEntries(Object.entries(causes).slice(0, MAX_MESSAGES)),
      ended: new Date().toISOString(),
    })
  }
}

/** The operators' actions of a command, newest first. */
export const operationsOf = async (
  context: Context,
  command: Operation['command'],
  { limit = Number.POSITIVE_INFINITY, since }: { limit?: number; since?: Date },
) => {
  const found: (Operation & { at: string })[] = []
  const history = { TableName: context.nameOf(TABLES.history), ScanIndexForward: false }
  const key = { 'partition =': PARTITION, 'at >': since?.toISOString() }
  for await (const item of itemsOf(context, history, { key })) {
    if (found.length === limit) break
    const each = v.parse(v.pipe(v.string(), v.parseJson(), operation), item.operation?.S)
    if (each.command === command) found.push({ at: item.at?.S?.split(' ')[0] ?? '', ...each })
  }
  return found
}

/** Maximum number of operations to search for failed replays. */
const SEARCHED = 50

/** Why the last replay of each dead letter failed, by message id. */
export const failedReplays = async (context: Context): Promise<ReadonlyMap<string, string>> => {
  const operations = await operationsOf(context, 'dead', { limit: SEARCHED })
  return new Map(operations.toReversed().flatMap(({ causes = {} }) => Object.entries(causes)))
}
