import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import * as v from 'valibot'
import { eventOf, FOREIGN, SECRET } from '../../bench/deliveries.ts'
import { startParameterStore } from '../../local/parameter-store.ts'
import { freePorts } from '../../local/ports.ts'
import { urlOf } from '../../local/settings.ts'
import { createQueue, createTable, drain, type Parts, startParts } from '../support/parts.ts'

// The peers of the benchmark do the whole job: a comparison with less would be worth nothing.

const peer = v.looseObject({ handler: v.function() })

let parts: Parts
let store: Awaited<ReturnType<typeof startParameterStore>>
let folder: string
let line: string
const peers = new Map<string, v.InferOutput<typeof peer>>()

const context = {
  awsRequestId: 'test',
  functionName: 'test',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:test',
  memoryLimitInMB: '512',
  getRemainingTimeInMillis: () => 9000,
}

beforeAll(async () => {
  parts = await startParts()
  folder = await mkdtemp(join(tmpdir(), 'order-relay-peers-'))
  const { ssm } = await freePorts()
  store = await startParameterStore({ port: ssm, path: join(folder, 'p.json'), region: 'eu-central-1' })
  await fetch(urlOf(ssm), {
    method: 'POST',
    headers: { 'x-amz-target': 'AmazonSSM.PutParameter' },
    body: JSON.stringify({ Name: '/peers/webhook-secrets/one', Value: SECRET, Type: 'SecureString' }),
  })
  await createTable(parts.dynamodb, 'deliveries', ['delivery'])
  await createTable(parts.dynamodb, 'idempotency', ['id'])
  line = await createQueue(parts.sqs, 'order-line.fifo')
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: parts.endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: parts.endpoints.sqs,
    AWS_ENDPOINT_URL_SSM: urlOf(ssm),
    DELIVERIES_TABLE: 'deliveries',
    IDEMPOTENCY_TABLE: 'idempotency',
    LINE_URL: line,
    SECRETS_PATH: '/peers',
    SOURCES: 'api',
    WEBHOOK_SECRET: SECRET,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  })
  peers.set('powertools', v.parse(peer, await import('../../bench/peers/powertools.ts')))
  peers.set('tutorial', v.parse(peer, await import('../../bench/peers/tutorial.ts')))
})
afterAll(async () => {
  await Promise.all([parts.close(), store.close()])
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  jest.spyOn(console, 'log').mockImplementation(() => undefined)
})

const send = async (name: string, event: APIGatewayProxyEventV2) =>
  v.parse(v.looseObject({ statusCode: v.number() }), await peers.get(name)?.handler(event, context))
    .statusCode

test.each(['powertools', 'tutorial'])(
  'the peer "%s" queues a delivery once, in its own words',
  async name => {
    const event = eventOf('2 KB')
    expect(await send(name, event)).toBe(200)
    expect(await send(name, event)).toBe(200)
    const [message, ...more] = await drain(parts.sqs, line)
    expect(JSON.parse(message?.Body ?? '')).toEqual(JSON.parse(event.body ?? ''))
    expect(more).toEqual([])
  },
)

test.each(['powertools', 'tutorial'])(
  'the peer "%s" lets nothing through that is forged, stale or foreign',
  async name => {
    expect(await send(name, eventOf('2 KB', { secret: 'another' }))).toBe(401)
    expect(await send(name, eventOf('2 KB', { now: Date.now() - 301_000 }))).toBe(401)
    expect(await send(name, eventOf('2 KB', { source: FOREIGN }))).toBe(200)
    expect(await drain(parts.sqs, line)).toEqual([])
  },
)
