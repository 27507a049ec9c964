import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { Queue, Table } from './resources.ts'

type Keys = readonly { AttributeName?: string | undefined; KeyType?: string | undefined }[]
type Shape = {
  KeySchema?: Keys | undefined
  GlobalSecondaryIndexes?:
    | readonly { IndexName?: string | undefined; KeySchema?: Keys | undefined }[]
    | undefined
}

const keysOf = (keys: Keys = []) => keys.map(key => `${key.KeyType} ${key.AttributeName}`).join(', ')

/** The keys of a table and its indexes in one line, to compare and to show. */
const shapeOf = ({ KeySchema, GlobalSecondaryIndexes = [] }: Shape) =>
  [
    keysOf(KeySchema),
    ...GlobalSecondaryIndexes.map(index => `${index.IndexName}: ${keysOf(index.KeySchema)}`).sort(),
  ].join('; ')

const createTable = async (client: DynamoDBClient, table: Table) => {
  try {
    await client.send(new CreateTableCommand({ ...table, BillingMode: 'PAY_PER_REQUEST' }))
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
    const { Table: held } = await client.send(new DescribeTableCommand({ TableName: table.TableName }))
    const [found, wanted] = [shapeOf(held ?? {}), shapeOf(table)]
    if (found !== wanted) {
      throw new Error(
        `Cannot use table "${table.TableName}" of an earlier start: its keys are (${found}) and serverless.yml ` +
          `says (${wanted}); remove the directory .order-relay/dynamodb (or that below ORDER_RELAY_DATA) to begin with empty tables`,
        { cause: error },
      )
    }
  }
  await waitUntilTableExists(
    { client, maxWaitTime: 10, minDelay: 0.02, maxDelay: 0.2 },
    { TableName: table.TableName },
  )
}

/**
 * Creates the tables that are not there yet.
 *
 * @throws Error when a table of that name has other keys
 */
export const createTables = async (client: DynamoDBClient, tables: readonly Table[]): Promise<void> => {
  await Promise.all(tables.map(table => createTable(client, table)))
}

/** Creates the queues in the order given. */
export const createQueues = async (client: SQSClient, queues: readonly Queue[]): Promise<void> => {
  for (const { name, attributes } of queues) {
    await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }))
  }
}
