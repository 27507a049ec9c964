import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from './clients.ts'
import { unixSeconds } from './environment.ts'

/** The attributes of an item of DynamoDB. */
export type Item = Record<string, AttributeValue>

/** The size of a DynamoDB write unit, in bytes. */
export const WRITE_UNIT = 1024

/** The attribute for DynamoDB's time to live, `keep` seconds from `now` (milliseconds); none if `keep` is undefined. */
export const expiryItem = (keep: number | undefined, now: number): Item =>
  keep === undefined ? {} : { expires_at: { N: String(unixSeconds(now) + keep) } }

/** The size of an item of strings and numbers, in bytes; at most a few more than DynamoDB counts. */
export const itemBytes = (item: Item): number =>
  Object.entries(item).reduce(
    (sum, [name, { S, N }]) => sum + Buffer.byteLength(name) + Buffer.byteLength(S ?? N ?? '1'),
    0,
  )

const isConditionFailed = (error: unknown) =>
  error instanceof Error && error.name === 'ConditionalCheckFailedException'

/** Resolves whether a conditional write took place. */
export const unlessConditionFails = async (written: Promise<unknown>): Promise<boolean> => {
  try {
    await written
    return true
  } catch (error) {
    if (!isConditionFailed(error)) throw error
    return false
  }
}

/** Sets an attribute of an item that expires, unless it has the same or a later value; values are compared as text. */
export const setIfLater = async (
  dynamodb: DynamoDB,
  TableName: string,
  Key: Item,
  { name, value, expires }: { name: string; value: string; expires: number },
): Promise<void> => {
  await unlessConditionFails(
    dynamodb.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #name = :value, expires_at = :expires',
        ConditionExpression: 'attribute_not_exists(#name) OR #name < :value',
        ExpressionAttributeNames: { '#name': name },
        ExpressionAttributeValues: { ':value': { S: value }, ':expires': { N: String(expires) } },
      }),
    ),
  )
}
