import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { FAILING_INDEX, TABLES, UNSETTLED_INDEX } from '../../lib/platform/names.ts'
import type { Clock } from './clock.ts'
import { NotModeled } from './faults.ts'

export type Item = Record<string, AttributeValue>

const KEYS: Readonly<Record<string, readonly string[]>> = {
  [TABLES.deliveries]: ['delivery'],
  [TABLES.orders]: ['source', 'external_id'],
  [TABLES.history]: ['partition', 'at'],
  [TABLES.registrations]: ['source'],
}

/** The keys of the indexes of the orders. */
const INDEXES: Readonly<Record<string, { hash: string; range: string }>> = {
  [UNSETTLED_INDEX]: { hash: 'unsettled', range: 'check_at' },
  [FAILING_INDEX]: { hash: 'failing_shard', range: 'failing_since' },
}

type Names = Readonly<Record<string, string>>

const COMPARISONS: Readonly<Record<string, (a: string | number, b: string | number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
}

const plain = (value: AttributeValue | undefined) => (value?.N === undefined ? value?.S : Number(value.N))

/** Whether an item meets a condition: comparisons and `attribute_not_exists`, joined by AND and OR. */
const holds = (condition: string, item: Item, values: Item, names: Names = {}): boolean => {
  const attribute = (name = '') => item[names[name] ?? name]
  const isFulfilled = (term: string) => {
    const [, absent] = /^attribute_not_exists\((\S+)\)$/.exec(term) ?? []
    if (absent !== undefined) return attribute(absent) === undefined
    const [name, operator = '', parameter = ''] = term.split(' ')
    const [compare, value] = [COMPARISONS[operator], plain(values[parameter])]
    // An unknown condition must not count as met.
    if (compare === undefined || value === undefined)
      throw new NotModeled(`DynamoDB has no condition "${condition}"`)
    const stored = plain(attribute(name))
    return stored !== undefined && compare(stored, value)
  }
  return condition.split(' OR ').some(terms => terms.split(' AND ').every(isFulfilled))
}

/** The attributes that an update sets. */
const setValues = (expression: string, values: Item, names: Names): Item =>
  Object.fromEntries(
    [...expression.matchAll(/([#\w]+) = (:\w+)/g)].flatMap(([, name = '', parameter = '']) => {
      const value = values[parameter]
      return value === undefined ? [] : [[names[name] ?? name, value]]
    }),
  )

/** The sums of an `ADD` clause. */
const addValues = (expression: string, values: Item, item: Item): Item => {
  const [, name = '', parameter = ''] = /ADD (\w+) (:\w+)/.exec(expression) ?? []
  return name === ''
    ? {}
    : { [name]: { N: String(Number(item[name]?.N ?? 0) + Number(values[parameter]?.N)) } }
}

/** The limits of DynamoDB: keys must be neither empty nor too long, and text must have a UTF-8 form. */
const assertStorable = (item: Item, keys: readonly string[]) => {
  for (const [name, { S }] of Object.entries(item))
    if (S?.isWellFormed() === false)
      throw new NotModeled(`DynamoDB cannot store half a surrogate pair in ${name}`)
  for (const name of keys) {
    const bytes = Buffer.byteLength(item[name]?.S ?? '')
    if (bytes === 0 || bytes > 1024)
      throw new NotModeled(`DynamoDB cannot store a key ${name} of ${bytes} bytes`)
  }
}

export type TableOptions = {
  clock?: Pick<Clock, 'now' | 'after'>
  /** The delay until a change reaches the indexes, in milliseconds. @default 0 */
  indexLag?: () => number
  /** How long an expired item remains, in milliseconds. @default forever */
  expiryLag?: () => number
}

/** A model of DynamoDB tables with the features that the relay uses. */
export const dynamodbTables = ({ clock, indexLag = () => 0, expiryLag }: TableOptions = {}) => {
  const tables = new Map(Object.keys(KEYS).map(name => [name, new Map<string, Item>()]))
  /** The sparse indexes of the orders, by name and key. They may lag behind the table. */
  const indexes = new Map(Object.keys(INDEXES).map(name => [name, new Map<string, Item>()]))
  /** The times at which deliveries are deleted. */
  const expiring = new Map<string, number>()

  const project = (key: string, item: Item) => {
    for (const [name, index] of indexes) {
      if (item[INDEXES[name]?.hash ?? ''] === undefined) index.delete(key)
      else index.set(key, item)
    }
  }
  const isIndexed = (item: Item | undefined) =>
    Object.values(INDEXES).some(({ hash }) => item?.[hash] !== undefined)

  const place = (name = '', key: Item = {}) => {
    const [items, keys] = [tables.get(name), KEYS[name]]
    if (items === undefined || keys === undefined) throw new NotModeled(`DynamoDB has no table "${name}"`)
    return { items, keys, key: JSON.stringify(keys.map(attribute => key[attribute]?.S)) }
  }

  const put = (name: string | undefined, item: Item) => {
    const { items, keys, key } = place(name, item)
    assertStorable(item, keys)
    const before = items.get(key)
    items.set(key, item)
    if (name === TABLES.orders) {
      if (!isIndexed(before) && !isIndexed(item)) return
      const lag = indexLag()
      if (clock === undefined || lag === 0) project(key, item)
      else clock.after(lag, () => project(key, items.get(key) ?? item))
    } else if (name === TABLES.deliveries && clock !== undefined && expiryLag !== undefined) {
      for (const [expired, until] of expiring) {
        if (until > clock.now()) break
        items.delete(expired)
        expiring.delete(expired)
      }
      expiring.set(key, Number(item.expires_at?.N) * 1000 + expiryLag())
    }
  }

  const check = (item: Item = {}, condition: string | undefined, values: Item = {}, names: Names = {}) => {
    if (condition === undefined) return
    if (!holds(condition, item, values, names))
      throw new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} })
  }

  const find = (name: string | undefined, key: Item | undefined): Item | undefined => {
    const { items, key: text } = place(name, key)
    return items.get(text)
  }

  return {
    find,
    items: (name: string): Item[] => [...place(name).items.values()],
    /** Whether the index contains an order whose check is due; unix time in seconds. */
    hasDue: (now: number) =>
      [...(indexes.get(UNSETTLED_INDEX)?.values() ?? [])].some(({ check_at }) => Number(check_at?.N) <= now),
    /** Whether an order has a failing event. */
    hasFailing: () => Number(indexes.get(FAILING_INDEX)?.size) > 0,

    run(command: object): object {
      if (command instanceof GetItemCommand) {
        const item = find(command.input.TableName, command.input.Key)
        return item === undefined ? {} : { Item: { ...item } }
      }
      if (command instanceof PutItemCommand) {
        const { TableName, Item = {}, ConditionExpression, ExpressionAttributeValues } = command.input
        check(find(TableName, Item), ConditionExpression, ExpressionAttributeValues)
        put(TableName, { ...Item })
        return {}
      }
      if (command instanceof DeleteItemCommand) {
        const { TableName, Key, ConditionExpression, ...input } = command.input
        const { ExpressionAttributeValues: values, ExpressionAttributeNames: names } = input
        check(find(TableName, Key), ConditionExpression, values, names)
        const { items, key } = place(TableName, Key)
        items.delete(key)
        return {}
      }
      if (command instanceof UpdateItemCommand) {
        const { TableName, Key = {}, ConditionExpression } = command.input
        const { UpdateExpression = '', ExpressionAttributeValues: values = {} } = command.input
        const { ExpressionAttributeNames: names = {} } = command.input
        const item = find(TableName, Key) ?? {}
        check(item, ConditionExpression, values, names)
        const added = addValues(UpdateExpression, values, item)
        put(TableName, { ...Key, ...item, ...setValues(UpdateExpression, values, names), ...added })
        return { Attributes: added }
      }
      if (command instanceof QueryCommand) {
        const { IndexName = '', KeyConditionExpression = '', Limit } = command.input
        const { ExpressionAttributeValues: values = {} } = command.input
        const [index, { range = '' } = {}] = [indexes.get(IndexName), INDEXES[IndexName]]
        if (index === undefined) throw new NotModeled(`DynamoDB has no index "${IndexName}"`)
        const rangeOf = (item: Item) => plain(item[range]) ?? ''
        const found = [...index.values()]
          .filter(item => holds(KeyConditionExpression, item, values))
          .sort((a, b) => (rangeOf(a) < rangeOf(b) ? -1 : 1))
        return { Items: found.slice(0, Limit).map(item => ({ ...item })) }
      }
      throw new NotModeled(`DynamoDB has no ${command.constructor.name}`)
    },
  }
}

export type Tables = ReturnType<typeof dynamodbTables>
