import { connect } from 'node:net'
import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import { beforeEach, expect, test } from '@jest/globals'
import { tablesOf } from '@order-relay/deploy/tables.ts'
import { eachWithFolder } from '@order-relay/test-support/folder.ts'
import { CREDENTIALS, clientsAt } from '@order-relay/test-support/parts.ts'
import { until } from '@order-relay/test-support/until.ts'
import { Level } from 'level'
import { createTables, type DynamodbOptions, startDynamodb } from '../dynamodb.ts'
import { codeOf, freePorts } from '../ports.ts'
import { urlOf } from '../settings.ts'

let port: number
let client: DynamoDB
let server: Awaited<ReturnType<typeof startDynamodb>>

/** A table with this partition key. */
const tableWith = (AttributeName: string) => {
  const AttributeDefinitions = [{ AttributeName, AttributeType: 'S' as const }]
  const KeySchema = [{ AttributeName, KeyType: 'HASH' as const }]
  return [{ name: 'orders', schema: { AttributeDefinitions, KeySchema } }]
}
const orders = tableWith('id')

const start = async (tables: NonNullable<DynamodbOptions['tables']>) => {
  server = await startDynamodb({ port, path: folder(), tables, credentials: CREDENTIALS })
}

const folder = eachWithFolder(async () => {
  client.destroy()
  await server.close()
})
beforeEach(async () => {
  const ports = await freePorts()
  port = ports.dynamodb
  client = clientsAt(ports, { maxAttempts: 3 }).dynamodb
})

test('keeps idle connections for longer than clients reuse them', async () => {
  await start([])
  expect((await fetch(urlOf(port))).headers.get('keep-alive')).toBe('timeout=65')
})

test('survives a client that disconnects in the middle of a request', async () => {
  await start(orders)
  const socket = connect(port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{')
  await new Promise(resolve => socket.write(' ', resolve))
  expect(await client.listTables()).toMatchObject({ TableNames: ['orders'] })
  socket.destroy()
  await new Promise(resolve => socket.on('close', resolve))
  expect(await client.listTables()).toMatchObject({ TableNames: ['orders'] })
})

test('the port opens once the tables of the stack and their indexes exist', async () => {
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
  await start(tablesOf({ prefix: '' }))
  await first
  const { Table } = await client.describeTable({ TableName: 'orders' })
  expect([Table?.TableStatus, Table?.GlobalSecondaryIndexes?.[0]?.IndexName]).toEqual(['ACTIVE', 'unsettled'])
  expect((await client.listTables({})).TableNames).toEqual([
    'deliveries',
    'history',
    'orders',
    'registrations',
  ])
})

test('reports a table from an earlier start with other keys, and names both keys', async () => {
  await start(orders)
  await expect(createTables(client, tableWith('key'))).rejects.toThrow(
    /^Cannot use table "orders" of an earlier start: its keys are \(HASH id\), not \(HASH key\); remove/,
  )
})

test('re-creates a table whose creation was interrupted', async () => {
  await start(orders)
  await server.close()
  const db = new Level<string, object>(folder(), { valueEncoding: 'json' })
  await db.put('table~orders', { ...(await db.get('table~orders')), TableStatus: 'CREATING' })
  await db.close()
  await start(orders)
  const { Table } = await client.describeTable({ TableName: 'orders' })
  expect(Table?.TableStatus).toBe('ACTIVE')
})
