import { randomBytes } from 'node:crypto'
import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from './clients.ts'
import { unlessConditionFails } from './dynamodb.ts'

/** A URL that a store has registered for its HTTP feed, and the secret that signs its messages. */
export type Registration = {
  url: string
  secret: string
  /** When API Gateway received the request, as an ISO date. */
  registered_at: string
}

/** A secret for an HTTP feed, in the form of Standard Webhooks. */
export const newFeedSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** The registrations table: one item per store that has registered a URL (spec: PUT and DELETE webhook). */
export const registrationRepository = (dynamodb: DynamoDB, table: string) => ({
  /** The current registration of a store: replaced and removed ones are no longer used. */
  async get(source: string): Promise<Registration | undefined> {
    const { Item: { url, secret, registered_at } = {} } = await dynamodb.send(
      new GetItemCommand({ TableName: table, Key: { source: { S: source } }, ConsistentRead: true }),
    )
    if (url?.S === undefined || secret?.S === undefined) return undefined
    return { url: url.S, secret: secret.S, registered_at: registered_at?.S ?? '' }
  },

  /** Replaces a store's registration unless a later one is stored. Resolves to whether it was replaced. */
  put(source: string, { url, secret, registered_at }: Registration): Promise<boolean> {
    const Item = {
      source: { S: source },
      url: { S: url },
      secret: { S: secret },
      registered_at: { S: registered_at },
    }
    return unlessConditionFails(
      dynamodb.send(
        new PutItemCommand({
          TableName: table,
          Item,
          ConditionExpression: 'attribute_not_exists(registered_at) OR registered_at <= :at',
          ExpressionAttributeValues: { ':at': Item.registered_at },
        }),
      ),
    )
  },

  /** Removes the registration of a store if it has this URL and is not later than a time. */
  async remove(source: string, url: string, at: string): Promise<void> {
    await unlessConditionFails(
      dynamodb.send(
        new DeleteItemCommand({
          TableName: table,
          Key: { source: { S: source } },
          ConditionExpression: '#url = :url AND registered_at <= :at',
          ExpressionAttributeNames: { '#url': 'url' },
          ExpressionAttributeValues: { ':url': { S: url }, ':at': { S: at } },
        }),
      ),
    )
  },
})

export type Registrations = ReturnType<typeof registrationRepository>
