import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { awsCall } from '../../lib/aws/call.ts'
import { DYNAMODB, dynamodb } from '../../lib/aws/dynamodb.ts'
import { SSM, ssm } from '../../lib/aws/ssm.ts'
import { parameter, parametersBelow } from '../../lib/secrets.ts'
import { addressOf } from '../support/address.ts'

type Heard = { headers: IncomingMessage['headers']; body: unknown }

const held = { ...process.env }
let server: Server
let heard: Heard[]
/** What the service does with each request; the last of them from then on. */
let behaviour: ((response: ServerResponse, request: IncomingMessage) => void)[]

const answers = (status: number, body: unknown) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
const hangsUp = (_response: ServerResponse, { socket }: IncomingMessage) => socket.destroy()
const saysNothing = () => undefined

beforeEach(async () => {
  heard = []
  server = createServer(async (request, response) => {
    heard.push({ headers: request.headers, body: JSON.parse(await text(request)) })
    const next = behaviour.length > 1 ? behaviour.shift() : behaviour[0]
    next?.(response, request)
  }).listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
    AWS_ENDPOINT_URL_DYNAMODB: addressOf(server),
    AWS_ENDPOINT_URL_SSM: addressOf(server),
  })
})

afterEach(() => {
  process.env = { ...held }
  server.close()
  server.closeAllConnections()
})

const limits = { tries: 2, timeout: 1000, random: () => 0 }
const client = (options = {}) => dynamodb(awsCall(DYNAMODB, { ...limits, ...options }))
const input = { TableName: 'orders', Key: { id: { S: 'ا' } } }

test('a call is a signed POST with action, session token and trace, and answers with what came', async () => {
  behaviour = [answers(200, { Item: { id: { S: 'ا' }, count: { N: '1' } } })]
  process.env._X_AMZN_TRACE_ID = 'Root=1-2-3'
  expect(await client().getItem(input)).toEqual({ Item: { id: { S: 'ا' }, count: { N: '1' } } })
  expect(heard).toEqual([
    {
      headers: expect.objectContaining({
        'x-amz-target': 'DynamoDB_20120810.GetItem',
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-security-token': 'token',
        'x-amzn-trace-id': 'Root=1-2-3',
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/dynamodb\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=[0-9a-f]{64}$/,
        ),
      }),
      body: input,
    },
  ])
})

test('an exception has the name that AWS gives it and is not tried again', async () => {
  behaviour = [
    answers(400, {
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      message: 'The conditional request failed',
    }),
  ]
  await expect(client().putItem({ TableName: 'orders', Item: {} })).rejects.toMatchObject({
    name: 'ConditionalCheckFailedException',
    message: 'Cannot PutItem (dynamodb): ConditionalCheckFailedException: The conditional request failed',
  })
  expect(heard).toHaveLength(1)
})

test.each([
  ['a server error', answers(500, 'oops')],
  ['throttling', answers(400, { __type: 'ThrottlingException', message: 'slow down' })],
  ['too much for the table', answers(400, { __type: 'x#ProvisionedThroughputExceededException' })],
  ['an answer that is no JSON', answers(200, '<html>')],
  ['a lost connection', hangsUp],
])('%s is tried once more', async (_name, failure) => {
  behaviour = [failure, answers(200, {})]
  expect(await client().getItem(input)).toEqual({})
  expect(heard).toHaveLength(2)
  expect(heard[1]?.body).toEqual(input)
})

test('what fails every time is told as the last try found it', async () => {
  behaviour = [hangsUp, answers(503, 'down for a moment')]
  await expect(client().getItem(input)).rejects.toMatchObject({
    name: 'Status503',
    message: 'Cannot GetItem (dynamodb): Status503: down for a moment',
  })
  expect(heard).toHaveLength(2)
})

test('a try has its time and no more', async () => {
  behaviour = [saysNothing]
  await expect(client({ timeout: 30 }).getItem(input)).rejects.toMatchObject({
    name: 'Unreachable',
    message: 'Cannot GetItem (dynamodb): no answer within 30 ms',
  })
  expect(heard).toHaveLength(2)
})

test('an answer that stops in the middle does not hang', async () => {
  behaviour = [
    response => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{')
    },
  ]
  await expect(client({ timeout: 30 }).getItem(input)).rejects.toMatchObject({ name: 'Unreachable' })
})

test('connections are kept', async () => {
  behaviour = [answers(200, {})]
  const connections = new Set()
  server.on('connection', connection => connections.add(connection))
  const calls = client()
  for (let each = 0; each < 5; each++) await calls.getItem(input)
  expect(connections.size).toBe(1)
})

test('without credentials in the environment a call says which is missing', async () => {
  delete process.env.AWS_SECRET_ACCESS_KEY
  await expect(client().getItem(input)).rejects.toThrow('Cannot call AWS: AWS_SECRET_ACCESS_KEY is not set')
})

test('parameters below a path are read page by page, by the rest of their names', async () => {
  behaviour = [
    answers(200, { Parameters: [{ Name: '/a/b/one', Value: '1' }], NextToken: 'more' }),
    answers(200, { Parameters: [{ Name: '/a/b/two/three', Value: '2' }], NextToken: null }),
  ]
  const load = parametersBelow(ssm(awsCall(SSM, limits)), '/a/b')
  expect(await load()).toEqual({ one: '1', 'two/three': '2' })
  const asked = { Path: '/a/b', Recursive: true, WithDecryption: true }
  expect(heard.map(({ body }) => body)).toEqual([asked, { ...asked, NextToken: 'more' }])
  expect(heard[0]?.headers['x-amz-target']).toBe('AmazonSSM.GetParametersByPath')
})

test('a parameter that is not there is none', async () => {
  behaviour = [answers(400, { __type: 'ParameterNotFound' })]
  expect(await parameter(ssm(awsCall(SSM, limits)), '/a', 'key')()).toEqual({})
})
