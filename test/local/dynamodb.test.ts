import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import { beforeEach, expect, test } from '@jest/globals'
import { Level } from 'level'
import { tablesOf } from '../../deploy/tables.ts'
import { createTables, startDynamodb } from '../../local/dynamodb.ts'
import { codeOf, freePorts } from '../../local/ports.ts'
import { eachWithFolder } from '../support/folder.ts'
import { clientsAt } from '../support/parts.ts'
import { until } from '../support/until.ts'

let path: string
let port: number
let client: DynamoDB
let server: Awaited<ReturnType<typeof startDynamodb>> | undefined

type Schema = Parameters<typeof createTables>[1][number]['schema']
const tableWith = (schema: Schema) => [{ name: 'orders', schema }]
const keys = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
} satisfies Schema
const orders = tableWith(keys)

const start = async () => {
  server = await startDynamodb({ port, path })
}
const stop = async () => {
  await server?.close()
  server = undefined
}

const folder = eachWithFolder(async () => {
  client.destroy()
  await stop()
})
beforeEach(async () => {
  path = folder()
  const ports = await freePorts()
  port = ports.dynamodb
  client = clientsAt(ports, { maxAttempts: 3 }).dynamodb
})

test('the port opens with the tables of the stack and their index', async () => {
  const first = until(async () => {
    const call = client.describeTable({ TableName: 'orders' })
    return call.then(
      () => true,
      error => {
        expect(codeOf(error)).toBe('ECONNREFUSED')
        return false
      },
    )
  })
  server = await startDynamodb({ port, path, tables: tablesOf({ prefix: '' }) })
  await first
  const { Table } = await client.describeTable({ TableName: 'orders' })
  expect([Table?.TableStatus, Table?.GlobalSecondaryIndexes?.[0]?.IndexName]).toEqual(['ACTIVE', 'unsettled'])
  expect((await client.listTables({})).TableNames).toEqual(['deliveries', 'history', 'orders'])
})

test('a table of an earlier start with other keys is an error that names both', async () => {
  await start()
  await createTables(client, orders)
  const other = tableWith({
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
  })
  await expect(createTables(client, other)).rejects.toThrow(
    /^Cannot use table "orders" of an earlier start: its keys are \(HASH id\), not \(HASH key\); remove/,
  )
})

test('a directory that another stack uses is an error, and the other stack is not disturbed', async () => {
  await start()
  await createTables(client, orders)
  const { dynamodb } = await freePorts()
  await expect(startDynamodb({ port: dynamodb, path })).rejects.toThrow(
    `Cannot open ${path}: another order-relay uses it; stop that one, or set ORDER_RELAY_DATA to another directory`,
  )
  expect((await client.listTables({})).TableNames).toEqual(['orders'])
})

test('a table whose creation was interrupted is created again', async () => {
  await start()
  await createTables(client, orders)
  await stop()
  const db = new Level<string, object>(path, { valueEncoding: 'json' })
  await db.put('table~orders', { ...(await db.get('table~orders')), TableStatus: 'CREATING' })
  await db.close()
  await start()
  await createTables(client, orders)
  const { Table } = await client.describeTable({ TableName: 'orders' })
  expect(Table?.TableStatus).toBe('ACTIVE')
})
