import type { AttributeValue, QueryCommandInput } from '@aws-sdk/client-dynamodb'
import type { Context } from './context.ts'

type Value = string | number

/**
 * Conditions by attribute and operator, such as `{ 'status =': 'paid', 'at BETWEEN': [from, to] }`; undefined values
 * are ignored.
 */
type Conditions = Readonly<Record<string, Value | readonly Value[] | undefined>>

/** The items of a table or index that match the key, if given, and the filter. */
export async function* itemsOf(
  { dynamodb }: Pick<Context, 'dynamodb'>,
  table: Pick<QueryCommandInput, 'TableName'> & Partial<QueryCommandInput>,
  { key = {}, filter = {} }: { key?: Conditions; filter?: Conditions },
): AsyncGenerator<Record<string, AttributeValue>> {
  // Some attribute names are reserved words.
  const names: Record<string, string> = {}
  const values: Record<string, AttributeValue> = {}
  const placeholder = (value: Value) => {
    const name = `:${Object.keys(values).length}`
    values[name] = typeof value === 'number' ? { N: String(value) } : { S: value }
    return name
  }
  const expression = (conditions: Conditions) => {
    const parts = Object.entries(conditions).flatMap(([condition, operands]) => {
      if (operands === undefined) return []
      const [attribute = '', operator] = condition.split(' ')
      names[`#${attribute}`] = attribute
      return [`#${attribute} ${operator} ${[operands].flat().map(placeholder).join(' AND ')}`]
    })
    return parts.length === 0 ? undefined : parts.join(' AND ')
  }
  const KeyConditionExpression = expression(key)
  const FilterExpression = expression(filter)
  const input = {
    ...table,
    FilterExpression,
    ...(Object.keys(values).length > 0 && {
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    }),
  }
  const pages =
    KeyConditionExpression === undefined
      ? dynamodb.paginateScan(input)
      : dynamodb.paginateQuery({ ...input, KeyConditionExpression })
  for await (const { Items = [] } of pages) yield* Items
}
