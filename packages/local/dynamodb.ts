import { mkdir, readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
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
import dynalite from 'dynalite'
import { Level } from 'level'
import * as v from 'valibot'
import { codeOf, listen } from './ports.ts'
import { CREDENTIALS, REGION, urlOf } from './settings.ts'

/** dynalite stores a table under the key `table~<name>`, with its description as JSON. */
const TABLES = { gte: 'table~', lt: 'table\u007f' }
const unfinished = v.looseObject({ TableStatus: v.picklist(['CREATING', 'DELETING']) })

const BLOCK = 32_768
const RECORD_HEADER = 7
const RECORD_TYPES = 4

/**
 * Whether the records of a write-ahead log of LevelDB follow each other up to one that a kill cut off
 * (https://github.com/google/leveldb/blob/main/doc/log_format.md). LevelDB takes a damaged header for such an end.
 */
const isIntact = (log: Buffer): boolean => {
  for (let start = 0; start < log.length; start += BLOCK) {
    const block = log.subarray(start, start + BLOCK)
    let at = 0
    while (at + RECORD_HEADER <= block.length) {
      const type = block.readUInt8(at + 6)
      if (type === 0 || type > RECORD_TYPES) return false
      at += RECORD_HEADER + block.readUInt16LE(at + 4)
    }
    if (at > block.length && start + BLOCK < log.length) return false
  }
  return true
}

const assertLogsIntact = async (path: string) => {
  for (const name of await readdir(path)) {
    if (name.endsWith('.log') && !isIntact(await readFile(join(path, name)))) {
      throw new Error(`${name} is damaged`)
    }
  }
}

/**
 * Opens the database first, since dynalite never responds if it cannot, and removes tables whose creation was
 * interrupted: they would remain CREATING.
 */
const prepare = async (path: string) => {
  await mkdir(path, { recursive: true })
  const db = new Level<string, unknown>(path, { valueEncoding: 'json' })
  try {
    await assertLogsIntact(path)
    await db.open()
    // It drops damaged entries from its log and reports that only there.
    const dropped = /\d+\.log: dropping .*/.exec(await readFile(join(path, 'LOG'), 'utf8'))?.[0]
    if (dropped !== undefined) throw new Error(dropped)
    // Reads everything, since a damaged block causes an error only when it is read.
    for await (const [key, value] of db.iterator()) {
      if (key >= TABLES.gte && key < TABLES.lt && v.is(unfinished, value)) await db.del(key)
    }
  } catch (error) {
    const code = codeOf(error)
    throw new Error(
      code === 'LEVEL_LOCKED'
        ? `Cannot open ${path}: another order-relay uses it; stop that one, or set ORDER_RELAY_DATA to another directory`
        : `Cannot open ${path}: the database cannot be read (${code ?? error}); remove the directory to begin with empty tables`,
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

/** Creates the tables through a temporary port. */
const createTablesIn = async (server: Server, tables: Parameters<typeof createTables>[1]) => {
  const entrance = createServer((request, response) => server.emit('request', request, response))
  await listen(entrance, 0)
  const { port } = entrance.address() as AddressInfo
  const client = new DynamoDBClient({ region: REGION, credentials: CREDENTIALS, endpoint: urlOf(port) })
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
}

/**
 * Starts the embedded DynamoDB on the loopback address.
 *
 * @throws Error when the directory is in use or cannot be read, or a table exists with other keys
 */
export const startDynamodb = async ({ port, path, tables = [] }: DynamodbOptions) => {
  await prepare(path)
  const server = dynalite({ path, createTableMs: 0 })
  if (tables.length > 0) await createTablesIn(server, tables)
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
