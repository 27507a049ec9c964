import type { AttributeValue } from '@aws-sdk/client-dynamodb'

/** The attributes of an item of DynamoDB. */
export type Item = Record<string, AttributeValue>

/** The size of a DynamoDB write unit, in bytes. */
export const WRITE_UNIT = 1024

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
