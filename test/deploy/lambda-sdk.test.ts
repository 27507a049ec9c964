import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { urlOf } from '@order-relay/local/settings.ts'
import { build, type Metafile, type Plugin } from 'esbuild'
import { BUNDLING, zipped } from '../../deploy/bundle.ts'
import { lambdaSdk } from '../../deploy/lambda-sdk.ts'
import { useFolder } from '../support/folder.ts'
import { type PlainResponse, startServer } from '../support/server.ts'

// Bundled with and without the plugin, the same function must behave the same towards a local server.

const FUNCTION = `
import { ConditionalCheckFailedException, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { QueueDoesNotExist, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm'

const classes = { ConditionalCheckFailedException, QueueDoesNotExist, ParameterNotFound }
const queue = () => process.env.AWS_ENDPOINT_URL + '/1/q.fifo'

const calls = {
  get: [DynamoDBClient, () => new GetItemCommand({ TableName: 'deliveries', Key: { delivery: { S: 'd' } } })],
  put: [DynamoDBClient, () => new PutItemCommand({ TableName: 'deliveries', Item: { delivery: { S: 'd' } } })],
  send: [SQSClient, () => new SendMessageCommand({ QueueUrl: queue(), MessageBody: 'hello', MessageGroupId: 'g' })],
  parameter: [SSMClient, () => new GetParameterCommand({ Name: '/p' })],
}

const outcome = ([Client, command]) =>
  new Client({ maxAttempts: 3 }).send(command()).catch(error => ({
    error: error.name,
    message: error.message,
    classes: Object.keys(classes).filter(name => error instanceof classes[name]),
  }))

const hostOf = async ([Client, command]) => {
  let host
  const handle = async request => {
    host = request.hostname
    throw new Error('not sent')
  }
  await new Client({ requestHandler: { handle }, maxAttempts: 1 }).send(command()).catch(() => undefined)
  return host
}

process.on('message', async ({ call, environment, host }) => {
  process.env = environment
  process.send(await (host ? hostOf : outcome)(calls[call]))
})
`

type SdkCall = 'get' | 'put' | 'send' | 'parameter'

const MD5_OF_HELLO = '5d41402abc4b2a76b9719d911017c592'
const ENVIRONMENT = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDTEST',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'session',
}

const answer = (status: number, body: object, headers: Record<string, string> = {}): PlainResponse => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0', ...headers },
  body: JSON.stringify(body),
})
/** The connection breaks. */
const reset = undefined

const bundle = (outfile: string, plugins: Plugin[]) =>
  build({
    stdin: { contents: FUNCTION, resolveDir: import.meta.dirname },
    outfile,
    ...BUNDLING,
    plugins,
    metafile: true,
    logLevel: 'silent',
  })

const folder = useFolder()
let metafile: Metafile
const functions = new Map<string, ChildProcess>()
let answers: (PlainResponse | undefined)[] = []
let requests: IncomingHttpHeaders[] = []

let server: Awaited<ReturnType<typeof startServer>>

beforeAll(async () => {
  server = await startServer(async ({ headers }) => {
    requests.push(headers)
    return answers.shift()
  })
  const [bundled] = await Promise.all([
    bundle(folder('with.mjs'), [lambdaSdk]),
    bundle(folder('without.mjs'), []),
  ])
  metafile = bundled.metafile
  for (const name of ['with', 'without']) functions.set(name, fork(folder(`${name}.mjs`), { env: {} }))
})
afterAll(async () => {
  for (const child of functions.values()) child.kill()
  await server.close()
})

const ask = async (name: string, message: object): Promise<unknown> => {
  const child = functions.get(name)
  if (child === undefined) throw new Error(`Cannot call the function: no bundle is named ${name}`)
  child.send(message)
  return (await once(child, 'message'))[0]
}

/** The behavior of both bundles, which must be equal, for a sequence of responses. */
const run = async (
  call: SdkCall,
  given: readonly (PlainResponse | undefined)[],
  environment: object = ENVIRONMENT,
) => {
  const runs = []
  for (const name of ['without', 'with']) {
    answers = [...given]
    requests = []
    const message = { call, environment: { ...environment, AWS_ENDPOINT_URL: urlOf(server.port) } }
    const { $metadata: _, ...result } = (await ask(name, message)) as Record<string, unknown>
    runs.push({ result, requests })
  }
  const [bare, reduced = { result: {}, requests: [] }] = runs
  expect(reduced.result).toEqual(bare?.result)
  expect(reduced.requests).toHaveLength(bare?.requests.length ?? 0)
  return reduced
}

test('signs with the credentials of the environment, including the session token', async () => {
  const { requests: sent } = await run('get', [answer(200, { Item: { delivery: { S: 'd' } } })])
  const signature = /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-central-1\/dynamodb\/aws4_request/
  expect(sent[0]).toMatchObject({ 'x-amz-security-token': 'session' })
  expect(sent[0]?.authorization).toMatch(signature)
})

const DYNAMODB = 'com.amazonaws.dynamodb.v20120810#'
const exception = (__type: string) => answer(400, { __type, message: 'why' })
const received = (md5: string) => answer(200, { MessageId: 'm', MD5OfMessageBody: md5 })
const [taken, throttled, down] = [
  answer(200, {}),
  exception(`${DYNAMODB}ThrottlingException`),
  answer(503, {}),
]

test.each<[string, SdkCall, (PlainResponse | undefined)[], object]>([
  ['retries after a reset connection and throttling', 'put', [reset, throttled, taken], {}],
  ['gives up after three server errors', 'send', [down, down, down], { classes: [] }],
  ['accepts a message that SQS has received', 'send', [received(MD5_OF_HELLO)], { MessageId: 'm' }],
  ['rejects another one', 'send', [received('6'.repeat(32))], { message: 'InvalidChecksumError' }],
  ['names every exception', 'parameter', [exception('InvalidDocument')], { error: 'InvalidDocument' }],
])('%s', async (_what, call, given, result) => {
  const found = await run(call, given)
  expect(found.result).toMatchObject(result)
  expect(found.requests).toHaveLength(given.length)
})

test.each<[string, SdkCall, string]>([
  ['ConditionalCheckFailedException', 'put', DYNAMODB],
  ['QueueDoesNotExist', 'send', 'com.amazonaws.sqs#'],
  ['ParameterNotFound', 'parameter', ''],
])('throws %s as an instance of its class', async (error, call, namespace) => {
  const { result, requests: sent } = await run(call, [exception(`${namespace}${error}`)])
  expect(result).toMatchObject({ error, message: 'why', classes: [error] })
  expect(sent).toHaveLength(1)
})

test('corrects a wrong clock', async () => {
  const later = new Date(Date.now() + 3_600_000)
  const skewed = answer(400, { __type: 'InvalidSignatureException' }, { date: later.toUTCString() })
  const { requests: sent } = await run('get', [skewed, answer(200, {})])
  const hour = later.toISOString().replace(/[-:]/g, '').slice(0, 11)
  expect(String(sent[1]?.['x-amz-date']).slice(0, 11)).toBe(hour)
})

test.each([
  [{}, '.us-east-1.amazonaws.com'],
  [{ AWS_USE_FIPS_ENDPOINT: 'true' }, '-fips.us-east-1.amazonaws.com'],
  [{ AWS_USE_DUALSTACK_ENDPOINT: 'true' }, '.us-east-1.api.aws'],
  [{ AWS_REGION: 'cn-north-1' }, '.cn-north-1.amazonaws.com.cn'],
])('calls the endpoints selected by the environment %j', async (asked, host) => {
  const environment = { ...ENVIRONMENT, AWS_REGION: 'us-east-1', ...asked }
  for (const name of ['with', 'without']) {
    expect(await ask(name, { call: 'get', host: true, environment })).toBe(`dynamodb${host}`)
    expect(await ask(name, { call: 'parameter', host: true, environment })).toBe(`ssm${host}`)
  }
})

test('fails without credentials in the environment, and names the variables', async () => {
  const environment = { AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL: urlOf(server.port) }
  const result = await ask('with', { call: 'get', environment })
  expect(result).toMatchObject({ error: 'CredentialsProviderError' })
  expect(result).toMatchObject({ message: expect.stringContaining('AWS_ACCESS_KEY_ID') })
})

// The plugin itself fails a build that contains an excluded module.
test('bundles no import of a built-in module, and stays small', () => {
  const [output] = Object.values(metafile.outputs)
  expect(output?.imports).toEqual([])
  expect(output?.bytes).toBeLessThan(500_000)
})

test('produces the same zip for unchanged code, with a world-readable file', () => {
  const zip = Buffer.from(zipped('functions/webhook', Buffer.from('export {}')))
  const entry = zip.indexOf('PK\u0001\u0002')
  const [system, date, attributes] = [
    zip[entry + 5],
    zip.readUInt32LE(entry + 12),
    zip.readUInt32LE(entry + 38),
  ]
  // On Unix, with the earliest time that a zip supports.
  expect([system, date, attributes]).toEqual([3, 0x00_21_00_00, 0o100644 * 2 ** 16])
})

test('fails the build when an upgrade moves a module that the plugin rewrites', async () => {
  const moved: Plugin = {
    name: 'moved',
    setup: ({ onLoad }) =>
      onLoad({ filter: /configLoader\.js$/ }, () => ({
        contents: 'export const loadConfig = () => undefined',
      })),
  }
  await expect(bundle(folder('moved.mjs'), [moved, lambdaSdk])).rejects.toThrow(
    /configLoader\.js is no longer loaded; update deploy\/lambda-sdk\.ts/,
  )
})
