import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Ssm } from '../../lib/platform/clients.ts'
import { itemBytes } from '../../lib/platform/dynamodb.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { untilText } from '../../lib/platform/parameters.ts'
import { MAX_BODY_BYTES } from '../../lib/protocol/json.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { deliveryOf } from '../../lib/webhook/deliveries.ts'
import { createWebhook } from '../../lib/webhook/handler.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { drain, scan } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const NOW = 1_800_000_000
const { stack, recorded } = await stackForTests()

let now: number
let handler: Awaited<ReturnType<typeof createWebhook>>

const create = (ssm: Ssm = stack.ssm) =>
  createWebhook({ ...stack, ssm, telemetry: recorded.telemetry, now: () => now * 1000, random: () => 0.5 })

beforeEach(async () => {
  now = NOW
  handler = await create()
  stack.clear()
})

const DELIVERY = '00000000-0000-4000-8000-000000000001'
const KEY = { source: 'shop', external_id: '1001' }
const webhook = (changes: object = {}, data: object = {}) => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: { ...KEY, status: 'paid', total: '1500000', ...data },
  ...changes,
})

const REVIEW = {
  status: 'needs_review',
  status_display: 'نیاز به بررسی',
  total: '125000000',
  invoice_number: 10_234,
  invoice_status: 'draft',
  receipt_number: null,
  return_number: null,
}

type Content = object | string | Uint8Array
type Options = { headers?: Record<string, string>; t?: number; secret?: string; signed?: boolean }

const bytesOf = (content: Content) =>
  typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content)

const post = async (
  content: Content,
  { headers = {}, t = now, secret = 'webhook secret', signed = true }: Options = {},
) => {
  const body = bytesOf(content)
  const signature = signed ? { 'x-service-signature': sign({ secret, t, body }) } : {}
  // Regardless of the remaining time: middy's early timeout would respond before the function.
  const nearEnd = context(() => 1)
  const response = await handler(httpEvent({ body, headers: { ...signature, ...headers } }), nearEnd)
  return { status: response?.statusCode, headers: response?.headers, body: JSON.parse(response?.body ?? '') }
}

const queued = () => drain(stack.sqs, stack.settings.ordersQueueUrl)
const quarantined = () => stack.taken(stack.settings.quarantineQueueUrl)
const ok = (status: string) => ({ status: 200, body: { status } })
const refused = (status: number, code: string, message: unknown) => ({
  status,
  body: { error: { code, message } },
})

/** A response that makes the sender retry. */
const unavailable = {
  ...refused(503, 'unavailable', 'The delivery could not be stored; send it again'),
  headers: { 'content-type': 'application/json', 'retry-after': '5' },
}

const STORED = ['GetItem', 'SendMessage', 'PutItem']

describe('an authentic webhook of a known store', () => {
  test('is queued byte for byte for its order and recorded for thirty days, with three calls to AWS', async () => {
    const hook = webhook()
    const text = JSON.stringify(hook, null, 2)
    const shown = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'u'.repeat(100) }
    const headers = {
      ...shown,
      'user-agent': 'u'.repeat(200),
      x: 'y',
      'x-service-delivery': hook.delivery,
      'x-service-event': 'order.updated',
    }
    expect(await post(text, { headers })).toMatchObject(ok('queued'))
    expect(stack.commands()).toEqual(STORED)
    expect(stack.calls[0]).toMatchObject({ input: { TableName: 'deliveries', ConsistentRead: true } })
    const fields = { outcome: 'queued', ...KEY, delivery: hook.delivery, signed_with: 'first' }
    expect(recorded.lines).toEqual([{ level: 'info', message: 'delivery received', fields }])
    const Attributes = { MessageGroupId: messageGroupOf(KEY), MessageDeduplicationId: hook.delivery }
    expect(await queued()).toMatchObject([{ Body: text, Attributes }])
    const records = await scan(stack.dynamodb, 'deliveries')
    expect(records.find(({ delivery }) => delivery?.S === hook.delivery)).toEqual({
      delivery: { S: hook.delivery },
      source: { S: 'shop' },
      external_id: { S: '1001' },
      status: { S: 'paid' },
      received_at: { N: String(NOW) },
      expires_at: { N: String(NOW + 30 * 24 * 60 * 60) },
      headers: { S: JSON.stringify({ t: String(NOW), ...shown }) },
      body: { S: text },
    })
  })

  test.each([
    ['whole if it is usual', 'موجودی کالا کافی نیست: کالای شماره ۱۲۳۴۵۶', undefined],
    ['without its body if it is large', 'x'.repeat(500), true],
  ])('is recorded %s, in one write unit', async (_name, error, cut) => {
    // Every field of the spec, with a reason in the service's language.
    const hook = webhook({}, { ...REVIEW, error })
    const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'accounting/1.0' }
    await post(hook, { headers })
    const items = await scan(stack.dynamodb, 'deliveries')
    const item = items.find(({ delivery }) => delivery?.S === hook.delivery) ?? {}
    const { body, cut: isCut, ...record } = deliveryOf(item)
    expect({ body, cut: isCut }).toEqual({ body: cut ? undefined : JSON.stringify(hook), cut })
    expect(record).toMatchObject({ ...KEY, status: REVIEW.status, received_at: NOW, headers })
    expect(itemBytes(item)).toBeLessThan(900)
  })

  test('is a duplicate the second time, with one call to AWS', async () => {
    const hook = webhook()
    await post(hook)
    stack.clear()
    now += 30
    expect(await post(hook)).toMatchObject(ok('duplicate'))
    expect(stack.commands()).toEqual(['GetItem'])
    expect(await queued()).toHaveLength(1)
  })

  test.each([
    ['has expired', NOW, 'queued'],
    ['expires in a second', NOW + 1, 'duplicate'],
    ['has no expiry', undefined, 'queued'],
  ])(
    'whose record %s is handled as if DynamoDB deleted expired items at once',
    async (_name, expires, outcome) => {
      const hook = webhook()
      const Item = {
        delivery: { S: hook.delivery },
        source: { S: 'shop' },
        external_id: { S: '1001' },
        ...(expires !== undefined && { expires_at: { N: String(expires) } }),
      }
      await stack.dynamodb.putItem({ TableName: 'deliveries', Item })
      expect(await post(hook)).toMatchObject(ok(outcome))
    },
  )

  test.each<[string, object, (json: string) => string | Uint8Array]>([
    ['bytes, which API Gateway passes as base64', { error: 'کمبود' }, json => Buffer.from(`\uFEFF${json}`)],
    ['characters that SQS rejects', { note: 'a\uFFFEb\uFFFF\u0000' }, String],
    ['an unknown status and unknown fields', { status: 'archived', total: null, new: [] }, String],
  ])('may consist of %s', async (_name, data, bodyOf) => {
    const hook = webhook({ extra: 1 }, data)
    expect(await post(bodyOf(JSON.stringify(hook)))).toMatchObject(ok('queued'))
    expect((await queued()).map(({ Body = '' }) => JSON.parse(Body))).toEqual([hook])
  })

  test.each([{ external_id: '1002' }, { source: 'web' }])(
    "with another order's delivery id is refused and quarantined: %j",
    async changes => {
      const hook = webhook()
      const reason = 'The delivery id belongs to another order'
      expect(await post(hook)).toMatchObject(ok('queued'))
      const other = { ...hook, data: { ...hook.data, ...changes } }
      expect(await post(other)).toMatchObject(refused(400, 'contradictory', reason))
      expect(await queued()).toHaveLength(1)
      expect(await quarantined()).toMatchObject([{ reason }])
    },
  )
})

describe('a request that is not queued', () => {
  const ANSWERS: Readonly<Record<string, (reason: unknown) => object>> = {
    ignored: () => ok('ignored'),
    forged: () => refused(401, 'unauthorized', 'The signature is missing or not valid'),
    too_large: () => refused(413, 'too_large', 'The body is larger than 256 KiB'),
    unreadable: reason => refused(400, 'unreadable', reason),
    contradictory: reason => refused(400, 'contradictory', reason),
  }
  const named = (changes: object = {}, data: object = {}) => webhook({ delivery: DELIVERY, ...changes }, data)
  const foreign = { source: 'other' }
  const [delivery, why] = [DELIVERY, 'foreign source']
  // The beginning of the SHA-256 of the name.
  const source_hash = 'd9298a'
  const disagree = (name: string) => `The header ${name} does not agree with the signed body`
  const [ID, EVENT] = ['x-service-delivery', 'x-service-event']
  const HEADER = 'header'

  const LARGE = named({}, { x: 'ک'.repeat(32_768) })

  test.each<[outcome: string, content: Content, about: object, reason?: unknown, options?: Options]>([
    ['ignored', named({}, foreign), { why, delivery, source_hash }],
    ['ignored', named({}, { ...foreign, status: 7 }), { why, delivery, source_hash }],
    ['ignored', named({ event: 'order.shipped', data: {} }), { why: 'other event', delivery }],
    ['ignored', named({ event: 'relay.probe' }), { why: 'probe', known: true, delivery }],
    ['forged', webhook(), { why: 'malformed' }, '', { signed: false }],
    ['forged', webhook(), { why: 'stale' }, '', { t: NOW - 301 }],
    ['forged', webhook(), { why: 'stale' }, '', { t: NOW + 301 }],
    ['forged', webhook(), { why: 'mismatch' }, '', { secret: 'guess' }],
    ['too_large', `"${'x'.repeat(MAX_BODY_BYTES - 1)}"`, {}],
    ['contradictory', named(), { ...KEY, why: HEADER, delivery }, disagree(ID), { headers: { [ID]: 'x' } }],
    [
      'contradictory',
      named({ x: 1 }),
      { ...KEY, why: HEADER, delivery },
      disagree(EVENT),
      { headers: { [EVENT]: 'x' } },
    ],
    [
      'contradictory',
      named({}, foreign),
      { why: HEADER, delivery },
      disagree(ID),
      { headers: { [ID]: 'x' } },
    ],
    [
      'unreadable',
      named({}, { status: 1 }),
      { source: 'shop', delivery },
      'Field "data.status" is 1: must be a string',
    ],
    ['unreadable', LARGE, { source: 'shop', delivery }, expect.stringContaining('larger than 65536 bytes')],
    ['unreadable', named({}, { source: 7 }), { delivery }, 'Field "data.source" is 7: must be a string'],
    ['unreadable', named({ delivery: 'x' }), {}, 'Field "delivery" is "x": must be a UUID'],
    ['unreadable', 'null', {}, 'The body is null: must be an object'],
    ['unreadable', '7', {}, 'The body is 7: must be an object', { headers: { [ID]: DELIVERY } }],
    ['unreadable', '{"event":', {}, 'The body is not JSON'],
    ['unreadable', '['.repeat(65) + ']'.repeat(65), {}, 'The body is nested too deeply'],
    ['unreadable', Uint8Array.from([0xff, 0xfe, 0x00]), {}, 'The body is not UTF-8 text'],
    ['unreadable', `"${'x'.repeat(MAX_BODY_BYTES - 2)}"`, {}, expect.stringContaining('The body is "xxx')],
  ])(
    '%s: it is answered, logged and, unless it is a probe, counted without its content, and quarantined if authentic and of a known store: %#',
    async (outcome, content, about, reason = '', options = {}) => {
      const answer = ANSWERS[outcome]?.(reason)
      expect(await post(content, options)).toMatchObject(answer ?? {})
      const fields = { outcome, ...about }
      expect(recorded.lines).toEqual([{ level: 'info', message: 'delivery received', fields }])
      const deliveries = [{ name: 'Deliveries', dimensions: { outcome }, value: 1 }]
      const isProbe = 'why' in about && about.why === 'probe'
      expect(recorded.metrics.filter(({ name }) => name === 'Deliveries')).toEqual(isProbe ? [] : deliveries)

      const isKept = outcome === 'unreadable' || 'external_id' in about
      const isMismatch = 'why' in about && about.why === 'mismatch'
      expect(stack.commands()).toEqual(isKept ? STORED : isMismatch ? ['GetParametersByPath'] : [])
      await post(content, { t: NOW - 1, ...options })
      const received_at = new Date(NOW * 1000).toISOString()
      const body_base64 = Buffer.from(bytesOf(content)).toString('base64')
      expect(await quarantined()).toEqual(
        isKept
          ? [{ from: 'webhook', reason, received_at, body_base64, header_delivery: options.headers?.[ID] }]
          : [],
      )
      const counted = recorded.metrics.filter(({ name }) => name === 'Quarantined')
      expect(counted).toMatchObject(isKept ? [{ dimensions: { from: 'webhook' } }] : [])
      expect(await queued()).toEqual([])
    },
  )

  test('forgeries cause at most one read of the secrets a minute', async () => {
    for (; now < NOW + 59; now += 3) {
      expect(await post(webhook(), { secret: 'guess' })).toMatchObject({ status: 401 })
    }
    expect(stack.commands()).toEqual(['GetParametersByPath'])
  })
})

// proofs/crash tests a failure of every call, before and after its effect.
test.each<[string, Content]>([
  ...STORED.map((command): [string, Content] => [command, webhook()]),
  ['SendMessage', '[1]'],
  ['PutItem', '[2]'],
])('returns 503 while AWS fails at %s', async (command, content) => {
  stack.faults.set(command, 'before')
  expect(await post(content)).toMatchObject(unavailable)
  const fields = typeof content === 'string' ? {} : { ...KEY, delivery: expect.any(String) }
  expect(recorded.lines).toMatchObject([{ level: 'error', message: 'delivery failed', fields }])
  expect(recorded.counted()).toEqual([...(content === '[2]' ? ['Quarantined'] : []), 'DeliveryFailed'])
})

test('starts even if the secrets cannot be read, and reads them again after a second or two', async () => {
  let reads = 0
  const send = async () => {
    await new Promise(setImmediate)
    reads++
    throw new Error('down')
  }
  handler = await create({ send } as unknown as Ssm)
  expect(reads).toBe(1)
  for (const { seconds, expected } of [
    { seconds: 1.4, expected: 1 },
    { seconds: 1.6, expected: 2 },
  ]) {
    now = NOW + seconds
    await post(webhook(), { t: NOW })
    expect(reads).toBe(expected)
  }
})

test('a probe asks whether a secret is in use, without a refusal and at most once a minute', async () => {
  const probe = webhook({ event: 'relay.probe' })
  const ask = (secret: string, options?: Options) => {
    const asked = sign({ secret, t: now, body: bytesOf(probe) })
    return post(probe, { headers: { 'x-relay-probed-signature': asked }, ...options })
  }
  expect(await ask('webhook secret')).toMatchObject(ok('ignored'))
  for (let asked = 0; asked < 5; asked++) expect(await ask('asked secret')).toMatchObject({ status: 503 })
  expect([stack.commands(), recorded.counted()]).toEqual([['GetParametersByPath'], []])
  await stack.set('webhook/secrets/asked', 'asked secret')
  now += 60
  expect(await ask('asked secret')).toMatchObject(ok('ignored'))
  await stack.unset('webhook/secrets/asked')

  // Only an authentic probe is answered.
  recorded.clear()
  expect(await ask('webhook secret', { secret: 'guess' })).toMatchObject({ status: 401 })
  expect(recorded.metrics).toMatchObject([{ name: 'Deliveries', dimensions: { outcome: 'forged' } }])
})

test('defers webhooks signed with a new secret during a rotation, without counting a failure', async () => {
  await stack.set('webhook/rotation', untilText('switching', NOW + 60))
  handler = await create()
  recorded.clear()
  expect(await post(webhook(), { secret: 'next secret' })).toMatchObject(unavailable)
  expect([recorded.messages(), recorded.counted()]).toEqual([['delivery deferred'], []])
  expect(await post(webhook())).toMatchObject(ok('queued'))

  await stack.set('webhook/secrets/third', 'next secret')
  now += 1
  expect(await post(webhook(), { secret: 'next secret' })).toMatchObject(ok('queued'))
  now += 60
  expect(await post(webhook(), { secret: 'forged' })).toMatchObject({ status: 401 })
  await stack.unset('webhook/secrets/third')
  await stack.unset('webhook/rotation')
})
