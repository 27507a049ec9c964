import { PassThrough } from 'node:stream'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { createContext } from '@order-relay/operator/core/context.ts'
import { importsReader } from '@order-relay/operator/imports.ts'
import { announcementsOf } from '@order-relay/operator/model/read.ts'
import { failingOrders } from '@order-relay/operator/orders/list.ts'
import { findOrders } from '@order-relay/operator/orders/search.ts'
import { REQUEST_KINDS } from '../../../lib/orders/order.ts'
import { TABLES } from '../../../lib/platform/names.ts'
import { answerCalls, recordingCalls } from '../../support/calls.ts'
import { resolved, STACK, STAGE } from './resolve.ts'
import type { Template } from './template-schema.ts'

type Item = Record<string, AttributeValue>

/** The fields of DynamoDB's commands that name attributes. */
type Input = {
  TableName?: string
  IndexName?: string
  Key?: Item
  Item?: Item
  UpdateExpression?: string
  KeyConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Item
}

/** Attributes by use: `keys`, `written`, `queried` and `read`, each with the table or `table/index`. */
export type TableUse = ReturnType<typeof tableUse>

/** Records the attributes of tables and indexes that the code uses. */
export const tableUse = () => {
  const uses = new Map<string, Set<string>>()
  /** The type of each attribute, by table and name. */
  const types = new Map<string, string>()
  const of = (kind: 'keys' | 'written' | 'queried' | 'read', target: string) => {
    const known = uses.get(`${kind} ${target}`) ?? new Set<string>()
    uses.set(`${kind} ${target}`, known)
    return known
  }
  return {
    of,
    typeOf: (table: string, name: string) => types.get(`${table} ${name}`),
    targets: (kind: 'queried') =>
      [...uses.keys()].flatMap(use => (use.startsWith(`${kind} `) ? [use.slice(kind.length + 1)] : [])),
    record({ TableName = '', IndexName, ExpressionAttributeNames: names = {}, ...input }: Input) {
      const add = (kind: 'keys' | 'written' | 'queried', target: string, attributes: string[]) => {
        for (const name of attributes) of(kind, target).add(names[name] ?? name)
      }
      const namedIn = (expression = '', pattern: RegExp) =>
        [...expression.matchAll(pattern)].map(([, name = '']) => name)
      if (input.Key !== undefined) add('keys', TableName, Object.keys(input.Key))
      add('written', TableName, Object.keys(input.Item ?? {}))
      const typed = (name: string, value: AttributeValue | undefined) =>
        types.set(`${TableName} ${name}`, Object.keys(value ?? {})[0] ?? '')
      for (const [name, value] of Object.entries({ ...input.Item, ...input.Key })) typed(name, value)
      for (const [, name = '', value = ''] of (input.UpdateExpression ?? '').matchAll(/([#\w]+) = (:\w+)/g))
        typed(names[name] ?? name, input.ExpressionAttributeValues?.[value])
      add('written', TableName, namedIn(input.UpdateExpression, /([#\w]+) = /g))
      const queried = namedIn(input.KeyConditionExpression, /([#\w]+) (?:[<>]?=|[<>]|BETWEEN) /g)
      if (IndexName !== undefined) add('queried', `${TableName}/${IndexName}`, queried)
    },
    /** An item of an index that records which of its attributes are read. */
    observed: <Found extends Item>({ TableName, IndexName }: Input, item: Found): Found =>
      new Proxy(item, {
        get(target, name) {
          // `await` and `yield` read `then`.
          if (typeof name === 'string' && name !== 'then') of('read', `${TableName}/${IndexName}`).add(name)
          return Reflect.get(target, name)
        },
      }),
  }
}

/** Runs the queries and withdrawals of the operator's commands against tables with one item. */
export const recordOperator = async (template: Template, use: TableUse) => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const context = createContext({ stage: STAGE }, { stdin, stdout, stderr, environment: {} })
  const outputs = Object.entries(resolved(template).outputs)
  const Outputs = outputs.map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }))
  const text = { S: 'x#x', N: '1' }
  const item: Item = new Proxy({}, { get: () => text })
  const withdrawals = tableUse()
  answerCalls((action, input: Input) => {
    use.record(input)
    if (action === 'UpdateItem') withdrawals.record(input)
    if (action === 'DescribeStacks') return { Stacks: [{ Outputs }] }
    if (action === 'GetTemplate') return { TemplateBody: JSON.stringify(template) }
    return action === 'Query' ? { Items: [use.observed(input, item)] } : {}
  })
  try {
    return await recordingCalls([], async () => {
      await failingOrders(context, { limit: 1 })
      await findOrders(context, 'x')
      await importsReader(context)()
      const stack = await context.stack()
      const order = { source: 'x', external_id: 'x' }
      for (const of of REQUEST_KINDS)
        await announcementsOf(context).announceWithdrawal(order, { id: 'x', of, accepted_at: 0 })
      const table = `${STACK}-${TABLES.deliveries}`
      const withdrawn = [...withdrawals.of('keys', table), ...withdrawals.of('written', table)]
      return { stack, withdrawn }
    })
  } finally {
    answerCalls(undefined)
    context.close()
  }
}
