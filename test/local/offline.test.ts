import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Child, startChild } from '../../local/child.ts'
import { freePorts } from '../../local/ports.ts'
import { CREDENTIALS, environmentOf, type Settings, urlOf } from '../../local/settings.ts'
import { drain } from '../support/parts.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dirname, '../..')
const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js')

let project: string
let settings: Settings
let offline: Child
let sqs: SQSClient
let printed: string[] = []

const start = async (changes: Partial<Settings> = {}) => {
  printed = []
  offline = startChild({
    name: 'project',
    args: [serverless, 'offline'],
    cwd: project,
    environment: {
      ...process.env,
      ...environmentOf({ ...settings, ...changes }),
      AWS_PROFILE: 'company',
      AWS_SESSION_TOKEN: 'real',
      AWS_SECRET_ACCESS_KEY: 'real',
    },
    onLine: line => printed.push(line),
  })
  await offline.reached('functions', 60_000)
}

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'order-relay-project-'))
  await cp(join(import.meta.dirname, 'project'), project, { recursive: true })
  for (const name of ['node_modules', 'local', 'lib', 'package.json']) {
    await symlink(join(ROOT, name), join(project, name))
  }
  settings = { ports: await freePorts(), dataDir: join(project, 'data'), watch: true }
  await start()
  sqs = new SQSClient({ region: 'eu-west-1', endpoint: urlOf(settings.ports.sqs), credentials: CREDENTIALS })
}, 90_000)

afterAll(async () => {
  sqs?.destroy()
  await offline?.stop()
  await rm(project, { recursive: true, force: true })
}, 30_000)

const door = (way: string, init: RequestInit = {}) =>
  fetch(`${urlOf(settings.ports.relay)}/door/${way}`, init)
const queue = (name: string) => `${urlOf(settings.ports.sqs)}/000000000000/${name}`
const send = (group: string, body: string) =>
  sqs.send(
    new SendMessageCommand({
      QueueUrl: queue('line.fifo'),
      MessageBody: body,
      MessageGroupId: group,
      MessageDeduplicationId: `${group} ${body}`,
    }),
  )
/** What arrives in a queue until there is enough of it. */
const arrivals = async (name: string, count: number) => {
  const found: string[] = []
  await until(async () => {
    found.push(...(await drain(sqs, queue(name))).map(({ Body = '' }) => Body))
    return found.length >= count
  }, 15_000)
  return found.sort()
}

test('a function finds its tables and queues, and nothing of the developer’s own AWS account', async () => {
  const environment = (await (await door('environment')).json()) as Record<string, string>
  const { ports } = settings
  expect(environment).toMatchObject({
    SEEN_TABLE: 'seen-eu-west-1',
    LINE_ARN: 'arn:aws:sqs:eu-west-1:000000000000:line.fifo',
    OUT_URL: queue('out'),
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: urlOf(ports.dynamodb),
    AWS_ENDPOINT_URL_SQS: urlOf(ports.sqs),
    AWS_ENDPOINT_URL_SSM: urlOf(ports.ssm),
  })
  expect(Object.keys(environment)).not.toContain('AWS_PROFILE')
  expect(Object.keys(environment)).not.toContain('AWS_SESSION_TOKEN')
  const dynamodb = new DynamoDBClient({
    region: 'eu-west-1',
    endpoint: urlOf(ports.dynamodb),
    credentials: CREDENTIALS,
  })
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: 'seen-eu-west-1' }))
  expect(Table?.TableStatus).toBe('ACTIVE')
  dynamodb.destroy()
})

test('a function that throws or hangs is answered 500 without detail, as an HTTP API does', async () => {
  for (const way of ['throw', 'hang']) {
    const response = await door(way)
    expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }])
  }
  expect((await door('elsewhere')).status).toBe(404)
})

test('a body reaches the function as it was sent', async () => {
  const body = '{"total": 9007199254740993,  "name": "سارا 🛒"}\n'
  const response = await door('body', { method: 'POST', body })
  expect(await response.json()).toEqual({ body, isBase64Encoded: false })
})

test('a burst waits in line for a few threads, and every request is answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 150 }, async () => {
      const response = await door('wait')
      return { status: response.status, ...((await response.json()) as { thread: number }) }
    }),
  )
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(new Set(answers.map(({ thread }) => thread)).size).toBeLessThanOrEqual(16)
}, 60_000)

test('callers that give up, in line or at the function, take no place with them', async () => {
  for (const patience of [1, 30]) {
    const signal = AbortSignal.timeout(patience)
    const given = await Promise.allSettled(Array.from({ length: 40 }, () => door('wait', { signal })))
    expect(given.some(({ status }) => status === 'rejected')).toBe(true)
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => door('wait')))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
})

test('messages reach the worker; what fails is tried again and ends in the dead-letter queue', async () => {
  for (let index = 0; index < 8; index += 1) await send(`group-${index}`, `message ${index}`)
  for (const body of ['first', 'fail', 'last']) await send('mixed', body)
  const messages = Array.from({ length: 8 }, (_, index) => `message ${index}`)
  expect(await arrivals('dead.fifo', 1)).toEqual(['fail'])
  expect(await arrivals('out', 10)).toEqual(['first', 'last', ...messages])
  await send('other', 'throw')
  expect(await arrivals('dead.fifo', 1)).toEqual(['throw'])
  expect(await drain(sqs, queue('out'))).toEqual([])
}, 60_000)

test('a changed function is in use without a restart, and no request is lost meanwhile', async () => {
  const source = join(project, 'functions/door.ts')
  const before = await readFile(source, 'utf8')
  const statuses = new Set<number>()
  let asking = true
  const asked = (async () => {
    while (asking) statuses.add((await door('wait')).status)
  })()
  await writeFile(source, before.replace('answer(404, {})', 'answer(410, {})'))
  await until(async () => (await door('elsewhere')).status === 410, 20_000)
  asking = false
  await asked
  expect([...statuses]).toEqual([200])
}, 60_000)

test('it stops with exit code 0, and what is taken or in use is told at the next start', async () => {
  const other = await freePorts()
  const first = offline
  await expect(start()).rejects.toThrow(
    `(× Cannot start: port ${settings.ports.relay} is taken; set RELAY_PORT to a free port, or end what listens there)`,
  )
  await expect(start({ ports: other })).rejects.toThrow(/Cannot open .*dynamodb: another order-relay uses it/)
  await first.stop()
  expect(await first.ended).toBe('ended with exit code 0')
}, 60_000)

test('a property that cannot be resolved here stops the start, named', async () => {
  const yml = join(project, 'serverless.yml')
  await writeFile(
    yml,
    (await readFile(yml, 'utf8')).replace('LINE_ARN: !GetAtt Line.Arn', 'LINE_ARN: !Ref Lime'),
  )
  await expect(start()).rejects.toThrow(
    /Cannot resolve provider\.environment\.LINE_ARN: Ref "Lime" names no resource of serverless\.yml/,
  )
  expect(printed.join('\n')).not.toContain('at ')
}, 60_000)
