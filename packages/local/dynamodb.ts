import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import type { Table } from '@order-relay/deploy/tables.ts'
import { KEEP_ALIVE_MS } from '@order-relay/web/foreign.ts'
import dynalite from 'dynalite'
import { Level } from 'level'
import * as v from 'valibot'
import type { Credentials } from './credentials.ts'
import { codeOf, listen } from './ports.ts'
import { REGION, START_OVER, urlOf } from './settings.ts'

/** dynalite stores a table under the key `table~<name>`, with its description as JSON. */
const TABLES = { gte: 'table~', lt: 'table\u007f' }
const unfinished = v.looseObject({ TableStatus: v.picklist(['CREATING', 'DELETING']) })

/**
 * Opens the database first, since dynalite never responds if it cannot, and removes tables whose creation was
 * interrupted: they would remain CREATING.
 */
const prepare = async (path: string) => {
  await mkdir(path, { recursive: true })
  const db = new Level<string, unknown>(path, { valueEncoding: 'json' })
  try {
    await db.open()
    for await (const [key, value] of db.iterator(TABLES)) if (v.is(unfinished, value)) await db.del(key)
  } catch (error) {
    const code = codeOf(error)
    throw new Error(
      code === 'LEVEL_LOCKED'
        ? `Cannot open ${path}: another order-relay uses it; stop that one, or set ORDER_RELAY_DATA to another directory`
        : `Cannot open ${path}: the database cannot be read (${code ?? error}); ${START_OVER}`,
      { cause: error },
    )
  } finally {
    await db.close()
  }
}

type Keys = { KeySchema?: KeySchemaElement[] | undefined }
type Shape = Keys & { GlobalSecondaryIndexes?: (Keys & { IndexName?: string | undefined })[] | undefined }

const keysOf = ({ KeySchema = [] }: Keys) =>
  KeySchema.map(({ KeyType, AttributeName }) => `${KeyType} ${AttributeName}`).join(', ')

/** The keys of a table and its indexes in one line, for comparison and output. */
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
        `Cannot use table "${TableName}" of an earlier start: its keys are (${found}), not (${expected}); ${START_OVER}`,
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

/** Creates the tables through a temporary port. */
const createTablesIn = async (
  server: Server,
  { tables = [], credentials }: Pick<DynamodbOptions, 'tables' | 'credentials'>,
) => {
  const entrance = createServer((request, response) => server.emit('request', request, response))
  await listen(entrance, 0)
  const { port } = entrance.address() as AddressInfo
  const client = new DynamoDBClient({ region: REGION, credentials, endpoint: urlOf(port) })
  try {
    await createTables(client, tables)
  } finally {
    client.destroy()
    entrance.close()
  }
}

export type DynamodbOptions = {
  port: number
  /** The directory of the tables. */
  path: string
  /** Tables to create before the port opens, if they do not exist. */
  tables?: Parameters<typeof createTables>[1]
  /** Those that this process requires on its ports, if any. */
  credentials: Credentials
}

/**
 * Starts the embedded DynamoDB on the loopback address.
 *
 * @throws Error when the directory is in use or cannot be read, or a table exists with other keys
 */
export const startDynamodb = async ({ port, path, tables = [], credentials }: DynamodbOptions) => {
  await prepare(path)
  const server = dynalite({ path, createTableMs: 0 })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  // dynalite throws, which would end the process, when a client disconnects in the middle of a request.
  server.on('request', request => request.removeAllListeners('error').on('error', () => undefined))
  if (tables.length > 0) await createTablesIn(server, { tables, credentials })
  await listen(server, port)
  return {
    close: async () => {
      const closed = promisify(server.close.bind(server))()
      // Clients keep their connections alive, and close waits for them.
      server.closeAllConnections()
      await closed
    },
  }
}
