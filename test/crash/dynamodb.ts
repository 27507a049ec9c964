import {
  type AttributeValue,
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { TABLES } from '../../lib/platform/names.ts'
import type { Clock } from './clock.ts'
import { NotModelled } from './faults.ts'

export type Item = Record<string, AttributeValue>

const KEYS: Readonly<Record<string, readonly string[]>> = {
  [TABLES.deliveries]: ['delivery'],
  [TABLES.orders]: ['source', 'external_id'],
  [TABLES.history]: ['partition', 'at'],
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** A mark of a withdrawal, as `lib/orders/repository.ts` makes it. */
const MARK = {
  update: 'ADD withdrawals :mark SET revision = if_not_exists(revision, :none) + :one',
  condition:
    '(attribute_not_exists(intents) OR NOT contains(intents, :id)) AND ' +
    '(attribute_not_exists(withdrawals) OR size(withdrawals) < :most)',
}

/** The conditions that the relay uses; any other is an error, so that none passes for fulfilled. */
const holds = (condition: string, item: Item | undefined, values: Item): boolean => {
  if (condition === MARK.condition)
    return (
      item?.intents?.S?.includes(values[':id']?.S ?? '') !== true &&
      (item?.withdrawals?.SS ?? []).length < Number(values[':most']?.N)
    )
  if (condition === 'attribute_not_exists(updated_at) OR updated_at <= :at')
    return (item?.updated_at?.S ?? '') <= String(values[':at']?.S)
  const absent = /^attribute_not_exists\((\w+)\)$/.exec(condition)?.[1]
  if (absent !== undefined) return item?.[absent] === undefined
  const [, name, parameter] = /^(\w+) = (:\w+)$/.exec(condition) ?? []
  if (name === undefined || parameter === undefined)
    throw new NotModelled(`DynamoDB has no condition "${condition}"`)
  return item?.[name] !== undefined && same(item[name], values[parameter])
}

/** What DynamoDB takes: keys that are neither empty nor too long, and text that has a UTF-8 form. */
const assertStorable = (item: Item, keys: readonly string[] = []) => {
  for (const [name, { S }] of Object.entries(item))
    if (S?.isWellFormed() === false)
      throw new NotModelled(`DynamoDB cannot store half a surrogate pair in ${name}`)
  for (const name of keys) {
    const bytes = Buffer.byteLength(item[name]?.S ?? '')
    if (bytes === 0 || bytes > 1024)
      throw new NotModelled(`DynamoDB cannot store a key ${name} of ${bytes} bytes`)
  }
}

export type TableOptions = {
  clock?: Pick<Clock, 'now' | 'after'>
  /** How long a change takes to reach the index, in milliseconds. @default 0 */
  indexLag?: () => number
  /** How long an item stays after it has expired, in milliseconds; by default for ever. */
  expiryLag?: () => number
}

/** The tables of DynamoDB, as far as the relay uses them. */
export const dynamodbTables = ({ clock, indexLag = () => 0, expiryLag }: TableOptions = {}) => {
  /** The index of unsettled orders, by shard and key, and each item's shard: it may lag behind the table. */
  const index = new Map<string, Map<string, Item>>()
  const shards = new Map<string, string>()

  /** No check is due before; unix time in seconds. */
  let nextDue = Number.POSITIVE_INFINITY

  /** When deliveries are deleted. */
  const expiring = new Map<string, number>()

  const project = (key: string, item: Item) => {
    const [before, shard] = [shards.get(key), item.unsettled?.S]
    if (before !== undefined && before !== shard) index.get(before)?.delete(key)
    if (shard === undefined) return void shards.delete(key)
    shards.set(key, shard)
    nextDue = Math.min(nextDue, Number(item.check_at?.N))
    index.set(shard, (index.get(shard) ?? new Map<string, Item>()).set(key, item))
  }

  const tables = new Map<string, Map<string, Item>>(Object.keys(KEYS).map(name => [name, new Map()]))

  const tableOf = (name = '') => {
    const [items, keys] = [tables.get(name), KEYS[name]]
    if (items === undefined || keys === undefined) throw new NotModelled(`DynamoDB has no table "${name}"`)
    return { items, keyOf: (item: Item = {}) => JSON.stringify(keys.map(key => item[key]?.S)) }
  }

  const put = (name: string, key: string, item: Item) => {
    const items = tables.get(name)
    const before = items?.get(key)
    items?.set(key, item)
    if (name === TABLES.orders) {
      if (before?.unsettled === undefined && item.unsettled === undefined) return
      const lag = indexLag()
      if (clock === undefined || lag === 0) project(key, item)
      else clock.after(lag, () => project(key, items?.get(key) ?? item))
    } else if (name === TABLES.deliveries && clock !== undefined && expiryLag !== undefined) {
      for (const [expired, until] of expiring) {
        if (until > clock.now()) break
        items?.delete(expired)
        expiring.delete(expired)
      }
      expiring.set(key, Number(item.expires_at?.N) * 1000 + expiryLag())
    }
  }

  const check = (
    item: Item | undefined,
    {
      ConditionExpression,
      ExpressionAttributeValues = {},
    }: Pick<PutItemCommand['input'], 'ConditionExpression' | 'ExpressionAttributeValues'>,
  ) => {
    if (ConditionExpression === undefined || holds(ConditionExpression, item, ExpressionAttributeValues))
      return
    throw new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} })
  }

  return {
    find: (name: string, key: Item): Item | undefined => tableOf(name).items.get(tableOf(name).keyOf(key)),
    items: (name: string): Item[] => [...tableOf(name).items.values()],
    /** Whether the index has an order whose check is due; unix time in seconds. */
    hasDue(now: number) {
      if (nextDue > now) return false
      nextDue = Number.POSITIVE_INFINITY
      for (const items of index.values())
        for (const { check_at } of items.values()) nextDue = Math.min(nextDue, Number(check_at?.N))
      return nextDue <= now
    },

    run(command: object): object {
      if (command instanceof GetItemCommand) {
        const { items, keyOf } = tableOf(command.input.TableName)
        const item = items.get(keyOf(command.input.Key))
        return item === undefined ? {} : { Item: { ...item } }
      }
      if (command instanceof PutItemCommand) {
        const { TableName, Item = {} } = command.input
        const { items, keyOf } = tableOf(TableName)
        check(items.get(keyOf(Item)), command.input)
        assertStorable(Item, KEYS[TableName ?? ''])
        put(TableName ?? '', keyOf(Item), { ...Item })
        return {}
      }
      if (command instanceof UpdateItemCommand) {
        const { TableName, Key, UpdateExpression = '', ExpressionAttributeValues = {} } = command.input
        const { items, keyOf } = tableOf(TableName)
        const item = items.get(keyOf(Key))
        check(item, command.input)
        if (UpdateExpression === MARK.update) {
          const SS = [
            ...new Set([...(item?.withdrawals?.SS ?? []), ...(ExpressionAttributeValues[':mark']?.SS ?? [])]),
          ]
          const revision = { N: String(Number(item?.revision?.N ?? 0) + 1) }
          put(TableName ?? '', keyOf(Key), { ...Key, ...item, withdrawals: { SS }, revision })
          return {}
        }
        const set: Item = {}
        for (const [, name = '', parameter = ''] of UpdateExpression.matchAll(/(\w+) = (:\w+)/g)) {
          const value = ExpressionAttributeValues[parameter]
          if (value !== undefined) set[name] = value
        }
        put(TableName ?? '', keyOf(Key), { ...Key, ...item, ...set })
        return {}
      }
      if (command instanceof QueryCommand) {
        const {
          TableName,
          KeyConditionExpression,
          ExpressionAttributeValues: values = {},
          Limit,
        } = command.input
        if (KeyConditionExpression !== 'unsettled = :shard AND check_at <= :now')
          throw new NotModelled(`DynamoDB has no query "${KeyConditionExpression}"`)
        if (TableName !== TABLES.orders) throw new NotModelled(`DynamoDB has no index of "${TableName}"`)
        const due = [...(index.get(values[':shard']?.S ?? '')?.values() ?? [])]
          .filter(({ check_at }) => Number(check_at?.N) <= Number(values[':now']?.N))
          .sort((a, b) => Number(a.check_at?.N) - Number(b.check_at?.N))
        return { Items: due.slice(0, Limit).map(item => ({ ...item })) }
      }
      throw new NotModelled(`DynamoDB has no ${command.constructor.name}`)
    },
  }
}

export type Tables = ReturnType<typeof dynamodbTables>
