import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { tablesOf } from '../../deploy/tables.ts'
import { startDynamodb } from '../../local/dynamodb.ts'
import { startParameterStore } from '../../local/parameter-store.ts'
import { freePorts } from '../../local/ports.ts'
import { CREDENTIALS, type Ports, REGION, urlOf } from '../../local/settings.ts'
import { startSqs } from '../../local/sqs.ts'
import { clockIn } from '../../sandbox/clock.ts'
import { openStore } from '../../sandbox/store/open.ts'

let folder: string
let ports: Ports

const opened = (data: string) => ({
  dynamodb: () =>
    startDynamodb({
      port: ports.dynamodb,
      path: join(data, 'dynamodb'),
      tables: tablesOf({ prefix: '' }),
    }),
  sqs: () => startSqs({ port: ports.sqs, path: join(data, 'queues') }),
  ssm: () =>
    startParameterStore({
      port: ports.ssm,
      path: join(data, 'parameters.json'),
      seed: parameters => parameters.put('/key', 'a secret'),
    }),
  sandbox: async () => openStore(join(data, 'sandbox.db'), clockIn('UTC')),
})

/** The data of parts that were killed while they ran, and of parts that were stopped. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'order-relay-damage-'))
  ports = await freePorts()
  const data = join(folder, 'data')
  const parts = opened(data)
  const running = await Promise.all([parts.dynamodb(), parts.sqs(), parts.ssm(), parts.sandbox()])
  const dynamodb = new DynamoDBClient({
    region: REGION,
    credentials: CREDENTIALS,
    endpoint: urlOf(ports.dynamodb),
  })
  const sqs = new SQSClient({ region: REGION, credentials: CREDENTIALS, endpoint: urlOf(ports.sqs) })
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: 'plain' }))
  for (let n = 0; n < 30; n += 1) {
    const Item = { source: { S: 'api' }, external_id: { S: `${n}` }, data: { S: 'x'.repeat(2000) } }
    await dynamodb.send(new PutItemCommand({ TableName: 'orders', Item }))
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: `${n}${'x'.repeat(2000)}` }))
  }
  dynamodb.destroy()
  sqs.destroy()
  await cp(data, join(folder, 'killed'), { recursive: true })
  await Promise.all(running.map(part => part.close()))
  await cp(data, join(folder, 'stopped'), { recursive: true })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const whole = (bytes: Buffer) => randomBytes(bytes.length)
const page = (bytes: Buffer) => {
  const at = 4096 * Math.floor(bytes.length / 8192)
  return Buffer.concat([bytes.subarray(0, at), randomBytes(4096), bytes.subarray(at + 4096)])
}

test.each([
  ['killed', 'sandbox', 'sandbox.db-wal', whole],
  ['killed', 'sandbox', 'sandbox.db-wal', page],
  ['stopped', 'sandbox', 'sandbox.db', whole],
  ['stopped', 'sandbox', 'sandbox.db', page],
  ['killed', 'sqs', 'queues/fauxqs.db-wal', whole],
  ['killed', 'sqs', 'queues/fauxqs.db-wal', page],
  ['stopped', 'sqs', 'queues/fauxqs.db', whole],
  ['stopped', 'sqs', 'queues/fauxqs.db', page],
  ['stopped', 'dynamodb', 'dynamodb/CURRENT', whole],
  ['stopped', 'dynamodb', /^dynamodb\/MANIFEST/, whole],
  ['killed', 'dynamodb', /^dynamodb\/.*\.log$/, page],
  ['stopped', 'ssm', 'parameters.json', whole],
] as const)(
  'data of a %s %s with random bytes in %s is an error that names it and the remedy',
  async (state, part, name, damaged) => {
    const data = join(folder, 'damaged')
    await rm(data, { recursive: true, force: true })
    await cp(join(folder, state), data, { recursive: true })
    const names = await readdir(data, { recursive: true })
    const file = names.find(each => (typeof name === 'string' ? each === name : name.test(each)))
    if (file === undefined) throw new Error(`There is no ${name}`)
    const path = join(data, file)
    await writeFile(path, damaged(await readFile(path)))
    const opening = opened(data)[part]()
    await expect(opening).rejects.toThrow(
      /^Cannot (?:open|read) .*(?:dynamodb|fauxqs\.db|sandbox\.db|parameters\.json).*; (?:remove|delete) /s,
    )
    await expect(opening).rejects.not.toThrow(/a secret/)
  },
)

test.each(['killed', 'stopped'])(
  'intact data of %s parts is opened, with a write that a kill cut off',
  async state => {
    const data = join(folder, 'intact')
    await cp(join(folder, state), data, { recursive: true })
    if (state === 'killed') {
      for (const name of ['sandbox.db-wal', 'queues/fauxqs.db-wal', 'dynamodb/000005.log']) {
        await writeFile(join(data, name), (await readFile(join(data, name))).subarray(0, -1000))
      }
    }
    for (const open of Object.values(opened(data))) await (await open()).close()
    await rm(data, { recursive: true })
  },
)
