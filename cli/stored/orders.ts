import { type AttributeValue, paginateQuery, paginateScan } from '@aws-sdk/client-dynamodb'
import type { Wish } from '../../lib/orders/order.ts'
import type { Place } from '../place/place.ts'

/** One order of the table, without what its requests and results say. */
export type OrderLine = {
  source: string
  external_id: string
  status: string | undefined
  doubt: boolean
  /** How far each of the store's requests has come. */
  intents: Partial<Record<Wish, string>>
  updated_at: string
}

export type OrderFilter = {
  source?: string | undefined
  status?: string | undefined
  since?: Date | undefined
}

type Item = Record<string, AttributeValue>

const statesOf = (intents: string): Partial<Record<Wish, string>> => {
  const parsed: Record<string, { state: string }> = JSON.parse(intents)
  return Object.fromEntries(Object.entries(parsed).map(([wish, { state }]) => [wish, state]))
}

const lineOf = (item: Item): OrderLine => ({
  source: item.source?.S ?? '',
  external_id: item.external_id?.S ?? '',
  status: item.status?.S,
  doubt: item.doubt?.BOOL === true,
  intents: statesOf(item.intents?.S ?? '{}'),
  updated_at: item.updated_at?.S ?? '',
})

/** Reads through the orders table, one store's part of it when a source is given. */
export async function* ordersOf(
  place: Place,
  { source, status, since }: OrderFilter,
): AsyncGenerator<OrderLine> {
  const conditions = [
    ...(status === undefined ? [] : ['#status = :status']),
    ...(since === undefined ? [] : ['updated_at >= :since']),
  ]
  const values: Item = {
    ...(source !== undefined && { ':source': { S: source } }),
    ...(status !== undefined && { ':status': { S: status } }),
    ...(since !== undefined && { ':since': { S: since.toISOString() } }),
  }
  const input = {
    TableName: place.names.orders,
    ConsistentRead: true,
    ProjectionExpression: '#source, external_id, #status, doubt, intents, updated_at',
    // Both are reserved words of DynamoDB.
    ExpressionAttributeNames: { '#source': 'source', '#status': 'status' },
    ...(conditions.length > 0 && { FilterExpression: conditions.join(' AND ') }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  }
  const client = { client: place.dynamodb }
  const pages =
    source === undefined
      ? paginateScan(client, input)
      : paginateQuery(client, { ...input, KeyConditionExpression: '#source = :source' })
  for await (const { Items = [] } of pages) yield* Items.map(lineOf)
}

/** Whether something of the order is still to come: a review, a request of the store, or an answer. */
export const isUnsettled = ({ status, doubt, intents }: OrderLine): boolean =>
  status === undefined ||
  status === 'needs_review' ||
  doubt ||
  Object.values(intents).some(state => state === 'waiting' || state === 'held')
