import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { itemBytes } from '../../lib/orders/bodies.ts'
import { messageGroupOf } from '../../lib/orders/events.ts'
import { MAX_BODY_BYTES } from '../../lib/protocol/json.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { deliveryOf } from '../../lib/webhook/deliveries.ts'
import { createReceiver } from '../../lib/webhook/handler.ts'
import { rotationValue } from '../../lib/webhook/secrets.ts'
import { context, httpEvent } from '../support/lambda.ts'
import { drain, scan } from '../support/parts.ts'
import { stackForTests } from '../support/stack.ts'

const NOW = 1_800_000_000
const { stack, recorded } = await stackForTests()

let now: number
let handler: Awaited<ReturnType<typeof createReceiver>>

const create = () =>
  createReceiver({
    ...stack,
    telemetry: recorded.telemetry,
    now: () => now * 1000,
    random: () => 0.5,
  })

beforeEach(async () => {
  now = NOW
  handler = await create()
  stack.clear()
})

const KEY = { source: 'shop', external_id: '1001' }
const webhook = (changes: object = {}, data: object = {}) => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: { ...KEY, status: 'paid', total: '1500000', ...data },
  ...changes,
})

const USUAL = {
  ...{ status: 'needs_review', status_display: 'نیاز به بررسی', total: '125000000', invoice_number: 10_234 },
  ...{ invoice_status: 'draft', receipt_number: null, return_number: null },
}

type Options = { headers?: Record<string, string>; t?: number; secret?: string; signed?: boolean }

const post = async (
  content: object | string | Uint8Array,
  { headers = {}, t = now, secret = 'webhook secret', signed = true }: Options = {},
) => {
  const body =
    typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content)
  const signature = signed ? { 'x-service-signature': sign({ secret, t, body }) } : {}
  const response = await handler(httpEvent({ body, headers: { ...signature, ...headers } }), context())
  return { status: response?.statusCode, headers: response?.headers, body: JSON.parse(response?.body ?? '') }
}

const queued = () => drain(stack.sqs, stack.settings.ordersQueueUrl)
const ok = (status: string) => ({ status: 200, body: { status } })
const refused = (status: number, code: string, message: unknown = expect.any(String)) => ({
  status,
  body: { error: { code, message } },
})

const CONTRADICTORY = refused(400, 'contradictory')

/** The sender is asked to try again. */
const unavailable = {
  ...refused(503, 'unavailable', 'The delivery could not be stored; send it again'),
  headers: { 'retry-after': '5' },
}

describe('an authentic webhook of a known store', () => {
  test('is queued byte for byte for its order and recorded for thirty days, with three calls to AWS', async () => {
    const hook = webhook()
    const text = JSON.stringify(hook, null, 2)
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'u'.repeat(200),
      x: 'y',
    }
    expect(await post(text, { headers })).toMatchObject(ok('queued'))
    expect(stack.commands()).toEqual(['GetItem', 'SendMessage', 'PutItem'])
    expect(stack.calls[0]).toMatchObject({ input: { TableName: 'deliveries', ConsistentRead: true } })
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
      headers: {
        S: JSON.stringify({ ...{ t: String(NOW) }, ...headers, 'user-agent': 'u'.repeat(100), x: undefined }),
      },
      body: { S: text },
    })
  })

  test('is kept with its record as far as both fit into one write unit', async () => {
    // Every field of the spec, with a reason in the service's language.
    const usual = webhook({}, { ...USUAL, error: 'موجودی کالا کافی نیست: کالای شماره ۱۲۳۴۵۶' })
    const large = webhook({}, { ...USUAL, error: 'x'.repeat(500) })
    const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'accounting/1.0' }
    for (const hook of [usual, large]) await post(hook, { headers })
    const found = (await scan(stack.dynamodb, 'deliveries')).map(item => ({
      ...deliveryOf(item),
      bytes: itemBytes(item),
    }))
    const recordOf = ({ delivery }: typeof usual) => found.find(record => record.delivery === delivery)
    expect(recordOf(usual)).toMatchObject({
      headers: { t: String(NOW), ...headers },
      body: JSON.stringify(usual),
    })
    expect(recordOf(usual)?.bytes).toBeLessThan(900)
    expect(recordOf(large)).toMatchObject({ headers, cut: true })
    expect(recordOf(large)).not.toHaveProperty('body')
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
    ['does not say when it expires', undefined, 'queued'],
  ])('whose record %s counts as expected, whatever DynamoDB has deleted', async (_name, expires, outcome) => {
    const hook = webhook()
    const Item = {
      delivery: { S: hook.delivery },
      source: { S: 'shop' },
      external_id: { S: '1001' },
      ...(expires !== undefined && { expires_at: { N: String(expires) } }),
    }
    await stack.dynamodb.putItem({ TableName: 'deliveries', Item })
    expect(await post(hook)).toMatchObject(ok(outcome))
  })

  test.each<[string, object, (json: string) => string | Uint8Array]>([
    ['bytes, which API Gateway passes as base64', { error: 'کمبود' }, Buffer.from],
    ['characters that SQS rejects', { note: 'a\uFFFEb\uFFFF\u0000' }, String],
    ['an unknown status and unknown fields', { status: 'archived', total: null, new: [] }, String],
  ])('may consist of %s', async (_name, data, bodyOf) => {
    const hook = webhook({ extra: 1 }, data)
    expect(await post(bodyOf(JSON.stringify(hook)))).toMatchObject(ok('queued'))
    expect((await queued()).map(({ Body = '' }) => JSON.parse(Body))).toEqual([hook])
  })

  test('may have headers that agree with its body', async () => {
    const hook = webhook()
    const headers = { 'x-service-delivery': hook.delivery, 'x-service-event': 'order.updated' }
    expect(await post(hook, { headers })).toMatchObject(ok('queued'))
  })
})

describe('an authentic webhook that contradicts', () => {
  const quarantined = async () =>
    (await stack.taken(stack.settings.quarantineQueueUrl)).map(({ reason }) => reason)

  test.each(['x-service-delivery', 'x-service-event'])(
    'its unsigned header %s is refused, and quarantined unless its source is foreign',
    async header => {
      const headers = { [header]: 'other' }
      const reason = `The header ${header} does not agree with the signed body`
      expect(await post(webhook(), { headers })).toMatchObject(refused(400, 'contradictory', reason))
      expect(stack.commands()).toEqual(['GetItem', 'SendMessage', 'PutItem'])
      const foreign = webhook({}, { source: 'other' })
      expect(await post(foreign, { headers })).toMatchObject(refused(400, 'contradictory', reason))
      expect([await quarantined(), await queued()]).toEqual([[reason], []])
    },
  )

  test('an earlier one, with the same delivery id for another order, is refused and quarantined', async () => {
    const hook = webhook()
    const reason = 'The delivery id belongs to another order'
    expect(await post(hook)).toMatchObject(ok('queued'))
    const other = { ...hook, data: { ...hook.data, external_id: '1002' } }
    expect(await post(other)).toMatchObject(refused(400, 'contradictory', reason))
    expect(await queued()).toHaveLength(1)
    expect(await quarantined()).toEqual([reason])
  })
})

describe('an outcome', () => {
  const FORGED = refused(401, 'unauthorized', 'The signature is missing or not valid')
  const LARGE = refused(413, 'too_large', 'The body is larger than 256 KiB')
  const UNREADABLE = refused(400, 'unreadable')
  const foreign = { source: 'other' }

  /** What is answered without any call to AWS, and the others; those have a delivery that is not signed. */
  test.each<[string, object, string | object, object, Options?, 'with calls'?]>([
    ['ignored', ok('ignored'), webhook({}, foreign), { why: 'foreign source' }],
    ['ignored', ok('ignored'), webhook({}, { ...foreign, status: 7 }), { why: 'foreign source' }],
    ['ignored', ok('ignored'), webhook({ event: 'order.shipped' }), { why: 'other event' }],
    ['ignored', ok('ignored'), webhook({ event: 'relay.probe' }), { why: 'probe' }],
    ['forged', FORGED, webhook(), { why: 'malformed' }, { signed: false }],
    ['forged', FORGED, webhook(), { why: 'stale' }, { t: NOW - 301 }],
    ['forged', FORGED, webhook(), { why: 'stale' }, { t: NOW + 301 }],
    ['too_large', LARGE, `"${'x'.repeat(MAX_BODY_BYTES - 1)}"`, {}],
    ['queued', ok('queued'), webhook(), KEY, {}, 'with calls'],
    ['forged', FORGED, webhook(), { why: 'mismatch' }, { secret: 'guess' }, 'with calls'],
    ['contradictory', CONTRADICTORY, webhook(), KEY, { headers: { 'x-service-event': 'x' } }, 'with calls'],
    ['unreadable', UNREADABLE, webhook({}, { status: 5 }), { source: 'shop' }, {}, 'with calls'],
    ['unreadable', UNREADABLE, '"Sara Ahmadi"', {}, {}, 'with calls'],
  ])(
    '%s is answered, logged and counted, without the content',
    async (outcome, expected, content, about, options = {}, calls) => {
      expect(await post(content, options)).toMatchObject(expected)
      if (calls === undefined) expect(stack.calls).toEqual([])
      const isNamed = typeof content === 'object' && 'delivery' in content && outcome !== 'forged'
      const fields = { outcome, ...about, ...(isNamed && { delivery: content.delivery }) }
      expect(recorded.lines).toEqual([{ level: 'info', message: 'delivery received', fields }])
      expect(recorded.metrics).toContainEqual({ name: 'Deliveries', dimensions: { outcome }, value: 1 })
    },
  )

  test('forgeries are answered, but for one read of the secrets a minute', async () => {
    const secret = 'guess'
    for (; now < NOW + 59; now += 3) expect(await post(webhook(), { secret })).toMatchObject(FORGED)
    expect(stack.commands()).toEqual(['GetParametersByPath'])
  })
})

describe('an authentic body that is unreadable', () => {
  test.each<[string, string | Uint8Array]>([
    ['bytes that are not text', Uint8Array.from([0xff, 0xfe, 0x00])],
    ['text that is not JSON', '{"event":'],
    ['a delivery that is not a UUID', JSON.stringify(webhook({ delivery: 'x' }))],
    ['an order without a status', JSON.stringify(webhook({}, { status: null }))],
    ['an order without a valid source', JSON.stringify(webhook({}, { source: 7 }))],
    ['a string of 256 KiB', `"${'x'.repeat(MAX_BODY_BYTES - 2)}"`],
  ])('%s is refused with a reason and quarantined byte for byte, once', async (_name, content) => {
    for (let replay = 0; replay < 3; replay++) {
      expect(await post(content, { t: now - replay })).toMatchObject(refused(400, 'unreadable'))
    }
    const [entry, ...more] = await stack.taken(stack.settings.quarantineQueueUrl)
    const { body_base64, ...rest } = entry ?? {}
    expect(Buffer.from(String(body_base64), 'base64').equals(Buffer.from(content))).toBe(true)
    expect(rest).toEqual({
      reason: expect.stringMatching(/\w/),
      from: 'webhook',
      received_at: new Date(NOW * 1000).toISOString(),
    })
    expect([more, await queued()]).toEqual([[], []])
    expect(recorded.metrics.filter(({ name }) => name === 'Quarantined')).toMatchObject([
      { dimensions: { from: 'webhook' } },
    ])
  })
})

describe('while AWS fails, the sender is asked to try again', () => {
  test.each<[string, 'before' | 'after', string | object, number]>([
    ['GetItem', 'before', webhook(), 0],
    ['SendMessage', 'before', webhook(), 0],
    ['SendMessage', 'after', webhook(), 1],
    ['PutItem', 'before', webhook(), 1],
    ['SendMessage', 'before', '[1]', 0],
    ['PutItem', 'before', '[2]', 0],
  ])('at %s (%s)', async (command, when, content, count) => {
    stack.faults.set(command, when)
    expect(await post(content)).toMatchObject(unavailable)
    expect(await queued()).toHaveLength(count)
    const fields = typeof content === 'string' ? {} : { ...KEY, delivery: expect.any(String) }
    expect(recorded.lines).toMatchObject([{ level: 'error', message: 'delivery failed', fields }])
    expect(recorded.counted()).toContain('DeliveryFailed')
    expect(recorded.counted()).not.toContain('Deliveries')
  })
})

describe('an exchange of the secret', () => {
  test('defers deliveries signed with a secret that is still unknown, which is no failure', async () => {
    await stack.set('webhook/rotation', rotationValue('switching', NOW + 60))
    handler = await create()
    recorded.clear()
    expect(await post(webhook(), { secret: 'next secret' })).toMatchObject(unavailable)
    expect([recorded.messages(), recorded.counted()]).toEqual([['delivery deferred'], []])
    expect(await post(webhook())).toMatchObject(ok('queued'))

    await stack.set('webhook/secrets/third', 'next secret')
    now += 1
    expect(await post(webhook(), { secret: 'next secret' })).toMatchObject(ok('queued'))
    await stack.unset('webhook/secrets/third')
    await stack.unset('webhook/rotation')
  })
})
