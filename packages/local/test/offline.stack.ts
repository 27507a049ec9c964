import { once } from 'node:events'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { clientsAt } from '@order-relay/test-support/parts.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import { until } from '@order-relay/test-support/until.ts'
import { type Child, startChild } from '../child.ts'
import { credentialsIn, readEnvironment } from '../credentials.ts'
import { freePorts } from '../ports.ts'
import { environmentOf, queueUrl, type Settings, STORES_CHANGED, urlOf } from '../settings.ts'

const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js')

let settings: Settings
let offline: Child
let clients: ReturnType<typeof clientsAt>
const printed: string[] = []
const messages: unknown[] = []
const projectPath = useFolder(async () => {
  clients?.destroy()
  await offline?.stop()
})

const start = (changes: Partial<Settings> = {}) =>
  startChild({
    name: 'project',
    args: [serverless, 'offline'],
    cwd: projectPath(),
    environment: {
      ...process.env,
      ...environmentOf({ ...settings, ...changes }),
      RELAY_WEBHOOK_SECRETS: 'one,two',
      AWS_PROFILE: 'company',
      AWS_SESSION_TOKEN: 'real',
      AWS_SECRET_ACCESS_KEY: 'real',
    },
    onLine: line => printed.push(line),
    onMessage: message => messages.push(message),
  })
const endpoint = (path: string, init: RequestInit = {}) =>
  fetch(`${urlOf(settings.ports.relay)}/endpoint/${path}`, init)
const parameters = async () => {
  const path = { Path: '/throwaway', Recursive: true, WithDecryption: true }
  const { Parameters = [] } = await clients.ssm.getParametersByPath(path)
  return Object.fromEntries(Parameters.map(({ Name, Value }) => [Name, Value]))
}

beforeAll(async () => {
  const project = projectPath()
  await cp(join(import.meta.dirname, 'project'), project, { recursive: true })
  for (const name of ['node_modules', 'packages', 'package.json']) {
    await symlink(join(ROOT, name), join(project, name))
  }
  settings = { ports: await freePorts(), dataDir: join(project, 'data'), watch: true }
  clients = clientsAt(settings.ports, {
    region: 'eu-west-1',
    credentials: credentialsIn(settings.dataDir),
  })
  offline = start()
})

test('the HTTP port opens once keys and secrets are known and the functions are loaded', async () => {
  const known = until(() => parameters().catch(() => undefined), 60_000)
  expect(Object.keys(await Promise.race([offline.ended, known]))).toEqual([
    '/throwaway/accounting-key',
    expect.stringMatching(/^\/throwaway\/store-keys\/shop\/[0-9a-f]{12}-read-only$/),
    expect.stringMatching(/^\/throwaway\/store-keys\/shop\/[0-9a-f]{12}$/),
    '/throwaway/webhook/secrets/local-1',
    '/throwaway/webhook/secrets/local-2',
  ])
  await expect(endpoint('elsewhere')).rejects.toThrow('fetch failed')
  offline.send({ webhookSecret: 'three' })
  await offline.ready()
  expect((await endpoint('elsewhere')).status).toBe(404)
  expect(await parameters()).toMatchObject({
    '/throwaway/webhook/secrets/local-1': 'one',
    '/throwaway/webhook/secrets/local-2': 'two',
    '/throwaway/webhook/secrets/sandbox': 'three',
  })
})

test('a function sees its tables and queues, but not the developer’s own AWS account', async () => {
  const environment = (await (await endpoint('environment')).json()) as Record<string, string>
  const { ports, dataDir } = settings
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = await readEnvironment(dataDir)
  expect(environment).toMatchObject({
    ORDERS_TABLE: 'orders',
    ORDERS_QUEUE_URL: queueUrl(ports.sqs, 'orders.fifo'),
    AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY,
    AWS_ENDPOINT_URL_DYNAMODB: urlOf(ports.dynamodb),
    AWS_ENDPOINT_URL_SQS: urlOf(ports.sqs),
    AWS_ENDPOINT_URL_SSM: urlOf(ports.ssm),
  })
  expect(Object.keys(environment)).not.toContain('AWS_PROFILE')
  expect(Object.keys(environment)).not.toContain('AWS_SESSION_TOKEN')
  expect((await clients.dynamodb.listTables({})).TableNames).toEqual([
    'deliveries',
    'history',
    'orders',
    'registrations',
  ])
})

test.each([
  'endpoint/throw',
  'endpoint/throw-text',
  'endpoint/throw-status',
  'endpoint/throw-later',
  'endpoint/reject-later',
  'endpoint/exit',
  'endpoint/nothing',
  'slow/hang',
])('a function that fails, as in %s, results in 500 without detail, as in an HTTP API', async path => {
  const response = await fetch(`${urlOf(settings.ports.relay)}/${path}`)
  expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }])
  expect((await endpoint('elsewhere')).status).toBe(404)
})

test.each(['{"total": 9007199254740993,  "name": "سارا 🛒"}\n', 'null', '0', 'false', '""', '{', undefined])(
  'the body %j reaches the function as it was sent',
  async body => {
    const headers = { 'content-type': 'application/json' }
    const response = await endpoint('echo', { method: 'POST', body: body ?? null, headers })
    expect(await response.json()).toEqual({ body, isBase64Encoded: false })
  },
)

test.each(['application/json', 'text/plain', 'no media type', 'multipart/form-data'])(
  'a body of the type "%s" that is not UTF-8 reaches the function byte for byte',
  async type => {
    const body = Uint8Array.of(0x22, 0xff, 0x00, 0x22)
    const response = await endpoint('echo', { method: 'POST', body, headers: { 'content-type': type } })
    const sent = Buffer.from(body).toString('base64')
    expect(await response.json()).toEqual({ body: sent, isBase64Encoded: true })
  },
)

test.each(['%ff/../echo', '%ff', '%zz', '%zz/?a=%zz'])(
  'a request with the path "%s" and an unreadable cookie reaches the function',
  async path => {
    const headers = { cookie: 'a="b c; "' }
    const [response] = await once(
      get({ port: settings.ports.relay, path: `/endpoint/${path}`, headers }),
      'response',
    )
    expect(response.statusCode).toBe(200)
  },
)

test('a request that is too large for an HTTP API is refused with an error of the usual shape', async () => {
  const response = await endpoint('echo', { method: 'POST', body: new Uint8Array(11 * 1024 * 1024) })
  expect([response.status, await response.json()]).toMatchObject([413, { error: { code: 'too_large' } }])
})

test('a batch whose function throws stays in its queue, and the failure is printed', async () => {
  const QueueUrl = queueUrl(settings.ports.sqs, 'orders.fifo')
  const message = { MessageBody: '{}', MessageGroupId: 'g', MessageDeduplicationId: 'd' }
  await clients.sqs.sendMessage({ QueueUrl, ...message })
  await until(() => printed.some(line => /Cannot run throwaway-local-consumer: .*the batch fails/.test(line)))
  const { Attributes } = await clients.sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['All'] })
  expect(Attributes).toMatchObject({ ApproximateNumberOfMessagesNotVisible: '1' })
})

test('a burst waits for a few threads, and every request is answered', async () => {
  const responses = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const response = await endpoint('wait')
      return { status: response.status, ...((await response.json()) as { thread: number }) }
    }),
  )
  expect(responses.every(({ status }) => status === 200)).toBe(true)
  expect(new Set(responses.map(({ thread }) => thread)).size).toBeLessThanOrEqual(16)
})

test('callers that disconnect, while waiting or being served, do not block others', async () => {
  for (const patience of [1, 30]) {
    const signal = AbortSignal.timeout(patience)
    const sent = await Promise.allSettled(Array.from({ length: 25 }, () => endpoint('wait', { signal })))
    expect(sent.some(({ status }) => status === 'rejected')).toBe(true)
  }
  const responses = await Promise.all(Array.from({ length: 10 }, () => endpoint('wait')))
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
})

test('uses changed code without a restart or a lost request; broken code results in 500', async () => {
  const source = projectPath('functions/endpoint.ts')
  const before = await readFile(source, 'utf8')
  const statuses = new Set<number>()
  let asking = true
  const asked = (async () => {
    while (asking) statuses.add((await endpoint('wait')).status)
  })()
  await writeFile(source, before.replace('respond(404, {})', 'respond(410, {})'))
  await until(async () => (await endpoint('elsewhere')).status === 410)
  asking = false
  await asked
  expect([...statuses]).toEqual([200])

  await writeFile(source, `${before}\nthrow new Error('this module cannot be loaded')\n`)
  await until(async () => (await endpoint('elsewhere')).status !== 410)
  const response = await endpoint('elsewhere')
  expect([response.status, await response.json()]).toEqual([500, { message: 'Internal Server Error' }])
  await writeFile(source, before)
  await until(async () => (await endpoint('elsewhere')).status === 404)
})

test('a change of stores.yml is reported to npm start, which restarts the relay', async () => {
  const path = projectPath('stores.yml')
  const before = await readFile(path, 'utf8')
  await writeFile(path, `${before}  - source: other\n    feed: sqs\n`)
  await until(() => messages.includes(STORES_CHANGED))
  await writeFile(path, before)
})

test('a second start names the directory in use, and the first stops with exit code 0', async () => {
  const environment = await readEnvironment(settings.dataDir)
  const second = start({ ports: await freePorts() })
  await expect(second.ready()).rejects.toThrow(
    /Cannot open .*dynamodb: another order-relay uses it; stop that one, or set ORDER_RELAY_DATA to another directory/,
  )
  expect(await readEnvironment(settings.dataDir)).toEqual(environment)
  expect((await clients.dynamodb.listTables({})).TableNames).toHaveLength(4)
  await offline.stop()
  expect(await offline.ended).toBe('ended with exit code 0')
})
