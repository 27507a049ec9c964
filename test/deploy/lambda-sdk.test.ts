import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { build, type Metafile, type Plugin } from 'esbuild'
import { lambdaSdk } from '../../deploy/lambda-sdk.ts'
import { addressOf } from '../support/address.ts'

// The same function, bundled with the plugin and without it, calls a local server: it behaves the same.

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

type Call = 'get' | 'put' | 'send' | 'parameter'
type Answer = (response: ServerResponse) => void

const MD5_OF_HELLO = '5d41402abc4b2a76b9719d911017c592'
const ENVIRONMENT = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDTEST',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'session',
}

const answer =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  response =>
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...headers })
      .end(JSON.stringify(body))

const reset: Answer = response => response.socket?.resetAndDestroy()

const bundle = (outfile: string, plugins: Plugin[]) =>
  build({
    stdin: { contents: FUNCTION, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    plugins,
    metafile: true,
    logLevel: 'silent',
  })

let folder: string
let metafile: Metafile
const functions = new Map<string, ChildProcess>()
let answers: Answer[] = []
let requests: IncomingHttpHeaders[] = []

const server = createServer((request, response) => {
  requests.push(request.headers)
  request.resume().on('end', () => answers.shift()?.(response))
})

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  folder = await mkdtemp(join(tmpdir(), 'order-relay-sdk-'))
  const [bundled] = await Promise.all([
    bundle(join(folder, 'with.mjs'), [lambdaSdk]),
    bundle(join(folder, 'without.mjs'), []),
  ])
  metafile = bundled.metafile
  for (const name of ['with', 'without']) functions.set(name, fork(join(folder, `${name}.mjs`), { env: {} }))
})
afterAll(async () => {
  for (const child of functions.values()) child.kill()
  server.close()
  server.closeAllConnections()
  await rm(folder, { recursive: true })
})

const ask = async (name: string, message: object): Promise<unknown> => {
  const child = functions.get(name)
  if (child === undefined) throw new Error(`Cannot call the function: no bundle is named ${name}`)
  child.send(message)
  return (await once(child, 'message'))[0]
}

/** Has the function make a call; the server gives the answers in turn. */
const run = (name: string, call: Call, given: readonly Answer[], environment: object = ENVIRONMENT) => {
  answers = [...given]
  requests = []
  return ask(name, { call, environment: { ...environment, AWS_ENDPOINT_URL: addressOf(server) } })
}

/** The host that the function would send a call to. */
const hostOf = (name: string, call: Call, environment: object) =>
  ask(name, { call, host: true, environment: { ...ENVIRONMENT, AWS_REGION: 'us-east-1', ...environment } })

describe.each(['with', 'without'])('a function bundled %s the plugin', name => {
  test('signs with the credentials of the environment, session token included', async () => {
    const found = { Item: { delivery: { S: 'd' } } }
    expect(await run(name, 'get', [answer(200, found)])).toMatchObject(found)
    expect(requests).toHaveLength(1)
    expect(requests[0]?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d{8}\/eu-central-1\/dynamodb\/aws4_request/,
    )
    expect(requests[0]?.['x-amz-security-token']).toBe('session')
  })

  test('retries after a reset connection, throttling and a server error', async () => {
    const throttled = answer(400, { __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException' })
    const result = await run(name, 'put', [reset, throttled, answer(200, {})])
    expect(result).toMatchObject({ $metadata: { attempts: 3 } })
    await run(name, 'send', [answer(503, {}), answer(503, {}), answer(503, {})])
    expect(requests).toHaveLength(3)
  })

  test('rejects a message whose body SQS received differently', async () => {
    const sent = (md5: string) => run(name, 'send', [answer(200, { MessageId: 'm', MD5OfMessageBody: md5 })])
    expect(await sent(MD5_OF_HELLO)).toMatchObject({ MessageId: 'm' })
    expect(await sent(MD5_OF_HELLO.replace('5', '6'))).toMatchObject({ message: 'InvalidChecksumError' })
  })

  test('corrects a wrong clock', async () => {
    const later = new Date(Date.now() + 3_600_000)
    const skewed = answer(400, { __type: 'InvalidSignatureException' }, { date: later.toUTCString() })
    await run(name, 'get', [skewed, answer(200, {})])
    const hour = later.toISOString().replace(/[-:]/g, '').slice(0, 11)
    expect(requests[1]?.['x-amz-date']?.slice(0, 11)).toBe(hour)
  })

  test.each<[string, Call, string]>([
    ['ConditionalCheckFailedException', 'put', 'com.amazonaws.dynamodb.v20120810#'],
    ['QueueDoesNotExist', 'send', 'com.amazonaws.sqs#'],
    ['ParameterNotFound', 'parameter', ''],
  ])('throws %s as an instance of its class', async (error, call, namespace) => {
    const result = await run(name, call, [answer(400, { __type: `${namespace}${error}` })])
    expect(result).toMatchObject({ error, classes: [error] })
    expect(requests).toHaveLength(1)
  })

  test('names every other exception', async () => {
    const body = { __type: 'InvalidDocument', message: 'why' }
    const result = await run(name, 'parameter', [answer(400, body)])
    expect(result).toMatchObject({ error: 'InvalidDocument', message: 'why' })
  })

  test.each([
    [{}, 'dynamodb.us-east-1.amazonaws.com', 'ssm.us-east-1.amazonaws.com'],
    [
      { AWS_USE_FIPS_ENDPOINT: 'true' },
      'dynamodb-fips.us-east-1.amazonaws.com',
      'ssm-fips.us-east-1.amazonaws.com',
    ],
    [{ AWS_USE_DUALSTACK_ENDPOINT: 'true' }, 'dynamodb.us-east-1.api.aws', 'ssm.us-east-1.api.aws'],
    [{ AWS_REGION: 'cn-north-1' }, 'dynamodb.cn-north-1.amazonaws.com.cn', 'ssm.cn-north-1.amazonaws.com.cn'],
  ])('calls the endpoints that the environment %j asks for', async (environment, dynamodb, ssm) => {
    expect(await hostOf(name, 'get', environment)).toBe(dynamodb)
    expect(await hostOf(name, 'parameter', environment)).toBe(ssm)
  })
})

test('without credentials in the environment, a call fails and names the variables', async () => {
  expect(await run('with', 'get', [], { AWS_REGION: 'eu-central-1' })).toMatchObject({
    error: 'CredentialsProviderError',
    message: expect.stringContaining('AWS_ACCESS_KEY_ID'),
  })
  expect(requests).toHaveLength(0)
})

test('the bundle holds no other source of credentials or settings and imports no built-in', () => {
  const [output] = Object.values(metafile.outputs)
  const bundled = Object.entries(output?.inputs ?? {}).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [path] : [],
  )
  const excluded = [
    ...['sso', 'ini', 'process', 'web-identity', 'http', 'login'].map(name => `credential-provider-${name}/`),
    ...[
      'credential-provider-imds/',
      'nested-clients/',
      'token-providers/',
      'endpoint-cache/',
      'eventstream-codec/',
    ],
    ...['readFile.js', 'loadSharedConfigFiles.js', 'fromSharedConfigFiles.js'],
  ]
  expect(excluded.filter(name => bundled.some(path => path.includes(name)))).toEqual([])
  expect(output?.imports).toEqual([])
  expect(output?.bytes).toBeLessThan(500_000)
})

test('the build fails when an upgrade moves a module that the plugin rewrites', async () => {
  const moved: Plugin = {
    name: 'moved',
    setup: ({ onLoad }) =>
      onLoad({ filter: /configLoader\.js$/ }, () => ({
        contents: 'export const loadConfig = () => undefined',
      })),
  }
  await expect(bundle(join(folder, 'moved.mjs'), [moved, lambdaSdk])).rejects.toThrow(
    /configLoader\.js is not loaded any more; update deploy\/lambda-sdk\.ts/,
  )
})
