import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
} from '@aws-sdk/client-dynamodb'
import { NEW_ORDER, type OrderState } from './state.ts'

/** The partition of the index that lists the orders that need attention. */
const attentionItem = (source: string, { attention }: OrderState, at: string) =>
  attention === undefined ? {} : { needs: { S: source }, since: { S: at } }

/** The state of each order, and how far the orders of each shop have been read. */
export const stateRepository = (dynamodb: DynamoDBClient, TableName: string) => {
  const keyOf = (source: string, order: string) => ({ source: { S: source }, order: { S: order } })
  const get = async (source: string, order: string) => {
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName, Key: keyOf(source, order), ConsistentRead: true }),
    )
    return Item
  }
  return {
    /** The revision is 0 for an order that is not stored. */
    get: async (
      source: string,
      order: string,
    ): Promise<{ state: OrderState; revision: number; since: string | undefined }> => {
      const item = await get(source, order)
      if (item === undefined) return { state: NEW_ORDER, revision: 0, since: undefined }
      return {
        state: JSON.parse(item.state?.S ?? '{}') as OrderState,
        revision: Number(item.revision?.N),
        since: item.since?.S,
      }
    },
    /**
     * Saves the state of an order.
     *
     * @param since when it began to need attention, ISO 8601
     * @throws Error if it was saved by another function in the meantime
     */
    save: async (
      source: string,
      order: string,
      state: OrderState,
      revision: number,
      since: string,
    ): Promise<void> => {
      const command = new PutItemCommand({
        TableName,
        Item: {
          ...keyOf(source, order),
          state: { S: JSON.stringify(state) },
          revision: { N: String(revision + 1) },
          ...attentionItem(source, state, since),
        },
        ConditionExpression: revision === 0 ? 'attribute_not_exists(revision)' : 'revision = :read',
        ...(revision !== 0 && { ExpressionAttributeValues: { ':read': { N: String(revision) } } }),
      })
      await dynamodb.send(command).catch(error => {
        if (!(error instanceof ConditionalCheckFailedException)) throw error
        throw new Error(`Cannot save the order ${order}: another function has saved it`)
      })
    },
    /** The state of every order of a shop, by id as text. */
    all: async function* (source: string): AsyncGenerator<{ order: string; state: OrderState }> {
      const query = {
        TableName,
        KeyConditionExpression: '#source = :source',
        FilterExpression: 'attribute_exists(#state)',
        ExpressionAttributeNames: { '#source': 'source', '#state': 'state' },
        ExpressionAttributeValues: { ':source': { S: source } },
      }
      for await (const { Items = [] } of paginateQuery({ client: dynamodb }, query))
        for (const { order, state } of Items)
          yield { order: order?.S ?? '', state: JSON.parse(state?.S ?? '{}') as OrderState }
    },
    /** The time up to which a shop's changes were read, ISO 8601; undefined at first. */
    cursor: async (source: string, name: string): Promise<string | undefined> =>
      (await get(source, `#${name}`))?.at?.S,
    moveCursor: async (source: string, name: string, at: string): Promise<void> => {
      const Item = { ...keyOf(source, `#${name}`), at: { S: at } }
      await dynamodb.send(new PutItemCommand({ TableName, Item }))
    },
  }
}

export type States = ReturnType<typeof stateRepository>
