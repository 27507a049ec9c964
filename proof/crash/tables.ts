import * as v from 'valibot'
import { AwsError } from '../../lib/aws/error.ts'
import { NotModelled } from './faults.ts'

const value = v.looseObject({ S: v.exactOptional(v.string()), N: v.exactOptional(v.string()) })
const item = v.record(v.string(), value)
const withTable = v.looseObject({ TableName: v.string() })
const get = v.looseObject({ Key: item })
const conditional = {
  ConditionExpression: v.exactOptional(v.string()),
  ExpressionAttributeValues: v.exactOptional(item, {}),
}
const put = v.looseObject({ Item: item, ...conditional })
const update = v.looseObject({ Key: item, UpdateExpression: v.string(), ...conditional })
const query = v.looseObject({
  KeyConditionExpression: v.literal('unsettled = :shard AND check_at <= :now'),
  ExpressionAttributeValues: item,
  Limit: v.number(),
})

export type Item = v.InferOutput<typeof item>

const KEYS: Readonly<Record<string, readonly string[]>> = {
  deliveries: ['delivery'],
  orders: ['source', 'external_id'],
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The two conditions that the relay uses; another one is an error, so that none is taken for fulfilled. */
const holds = (condition: string, held: Item | undefined, values: Item): boolean => {
  const absent = /^attribute_not_exists\((\w+)\)$/.exec(condition)?.[1]
  if (absent !== undefined) return held?.[absent] === undefined
  const [, name, parameter] = /^(\w+) = (:\w+)$/.exec(condition) ?? []
  if (name === undefined || parameter === undefined)
    throw new NotModelled(`DynamoDB has no condition of the form "${condition}"`)
  return held?.[name] !== undefined && same(held[name], values[parameter])
}

const refused = () =>
  new AwsError('ConditionalCheckFailedException', 'The conditional request failed', { passing: false })

/** DynamoDB's tables `deliveries` and `orders`, as far as the relay uses them. */
export const dynamodbTables = () => {
  const tables = new Map<string, Map<string, Item>>(Object.keys(KEYS).map(name => [name, new Map()]))

  const tableOf = (name: string) => {
    const [table, keys] = [tables.get(name), KEYS[name]]
    if (table === undefined || keys === undefined) throw new NotModelled(`DynamoDB has no table "${name}"`)
    return { table, keyOf: (of: Item) => JSON.stringify(keys.map(key => of[key]?.S)) }
  }

  return {
    items: (name: string): Item[] => [...tableOf(name).table.values()],

    run(action: string, input: unknown): object {
      const { table, keyOf } = tableOf(v.parse(withTable, input).TableName)
      switch (action) {
        case 'GetItem': {
          const found = table.get(keyOf(v.parse(get, input).Key))
          return found === undefined ? {} : { Item: structuredClone(found) }
        }
        case 'PutItem': {
          const { Item, ConditionExpression: condition, ExpressionAttributeValues } = v.parse(put, input)
          const held = table.get(keyOf(Item))
          if (condition !== undefined && !holds(condition, held, ExpressionAttributeValues)) throw refused()
          table.set(keyOf(Item), structuredClone(Item))
          return {}
        }
        case 'UpdateItem': {
          const { Key, UpdateExpression, ConditionExpression, ExpressionAttributeValues } = v.parse(
            update,
            input,
          )
          const held = table.get(keyOf(Key))
          if (
            ConditionExpression !== undefined &&
            !holds(ConditionExpression, held, ExpressionAttributeValues)
          )
            throw refused()
          const set = [...UpdateExpression.matchAll(/(\w+) = (:\w+)/g)].map(
            ([, name = '', parameter = '']): [string, Item[string]] => [
              name,
              ExpressionAttributeValues[parameter] ?? {},
            ],
          )
          table.set(keyOf(Key), { ...Key, ...held, ...Object.fromEntries(set) })
          return {}
        }
        case 'Query': {
          const { ExpressionAttributeValues: values, Limit } = v.parse(query, input)
          const due = [...table.values()]
            .filter(({ unsettled }) => unsettled !== undefined && same(unsettled, values[':shard']))
            .filter(({ check_at }) => Number(check_at?.N) <= Number(values[':now']?.N))
            .sort((a, b) => Number(a.check_at?.N) - Number(b.check_at?.N))
          return { Items: structuredClone(due.slice(0, Limit)) }
        }
        default:
          throw new NotModelled(`DynamoDB has no ${action}`)
      }
    },
  }
}

export type Tables = ReturnType<typeof dynamodbTables>
