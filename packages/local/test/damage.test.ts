import { randomBytes } from 'node:crypto'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { tablesOf } from '@order-relay/deploy/tables.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { clientsAt } from '@order-relay/test-support/parts.ts'
import { clockIn } from 'order-relay-sandbox/src/clock.ts'
import { openStore } from 'order-relay-sandbox/src/store/open.ts'
import { startDynamodb } from '../dynamodb.ts'
import { startParameterStore } from '../parameter-store.ts'
import { freePorts } from '../ports.ts'
import type { Ports } from '../settings.ts'
import { startSqs } from '../sqs.ts'

const folder = useFolder()
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
  ports = await freePorts()
  const data = folder('data')
  const parts = opened(data)
  const running = await Promise.all([parts.dynamodb(), parts.sqs(), parts.ssm(), parts.sandbox()])
  const { dynamodb, sqs, destroy } = clientsAt(ports)
  const { QueueUrl } = await sqs.createQueue({ QueueName: 'plain' })
  for (let n = 0; n < 30; n += 1) {
    const Item = { source: { S: 'api' }, external_id: { S: `${n}` }, data: { S: 'x'.repeat(2000) } }
    await dynamodb.putItem({ TableName: 'orders', Item })
    await sqs.sendMessage({ QueueUrl, MessageBody: `${n}${'x'.repeat(2000)}` })
  }
  destroy()
  await cp(data, folder('killed'), { recursive: true })
  await Promise.all(running.map(part => part.close()))
  await cp(data, folder('stopped'), { recursive: true })
})

const whole = (bytes: Buffer) => randomBytes(bytes.length)
const cut = (bytes: Buffer) => bytes.subarray(0, Math.min(5000, bytes.length / 2))
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
  ['stopped', 'ssm', 'parameters.json', cut],
  ['stopped', 'sqs', 'queues/fauxqs.db', cut],
] as const)(
  'damaged data of a %s %s (%s) is an error with the remedy',
  async (state, part, name, damaged) => {
    const data = folder('damaged')
    await rm(data, { recursive: true, force: true })
    await cp(folder(state), data, { recursive: true })
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
  'opens intact data of %s components, including a write cut off by a kill',
  async state => {
    const data = folder('intact')
    await cp(folder(state), data, { recursive: true })
    if (state === 'killed') {
      for (const name of ['sandbox.db-wal', 'queues/fauxqs.db-wal', 'dynamodb/000005.log']) {
        await writeFile(join(data, name), (await readFile(join(data, name))).subarray(0, -1000))
      }
    }
    for (const open of Object.values(opened(data))) await (await open()).close()
    await rm(data, { recursive: true })
  },
)
