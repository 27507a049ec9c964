import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import type { Table } from '../deploy/tables.ts'

type Keys = { KeySchema?: KeySchemaElement[] | undefined }
type Shape = Keys & { GlobalSecondaryIndexes?: (Keys & { IndexName?: string | undefined })[] | undefined }

const keysOf = ({ KeySchema = [] }: Keys) =>
  KeySchema.map(({ KeyType, AttributeName }) => `${KeyType} ${AttributeName}`).join(', ')

/** The keys of a table and its indexes in one line, to compare and to print. */
const shapeOf = ({ GlobalSecondaryIndexes = [], ...table }: Shape) =>
  [keysOf(table), ...GlobalSecondaryIndexes.map(index => `${index.IndexName}: ${keysOf(index)}`).sort()].join(
    '; ',
  )

const createTable = async (
  client: DynamoDBClient,
  { name: TableName, schema }: Pick<Table, 'name' | 'schema'>,
) => {
  try {
    await client.send(new CreateTableCommand({ TableName, ...schema, BillingMode: 'PAY_PER_REQUEST' }))
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
    const { Table: existing = {} } = await client.send(new DescribeTableCommand({ TableName }))
    const [found, expected] = [shapeOf(existing), shapeOf(schema)]
    if (found !== expected) {
      throw new Error(
        `Cannot use table "${TableName}" of an earlier start: its keys are (${found}), not (${expected}); remove ` +
          'the directory .order-relay/dynamodb (or that below ORDER_RELAY_DATA) to begin with empty tables',
        { cause: error },
      )
    }
  }
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.02, maxDelay: 0.2 }, { TableName })
}

/**
 * Creates the tables that do not exist yet.
 *
 * @throws Error when a table exists with other keys
 */
export const createTables = async (
  client: DynamoDBClient,
  tables: readonly Pick<Table, 'name' | 'schema'>[],
): Promise<void> => {
  await Promise.all(tables.map(table => createTable(client, table)))
}
