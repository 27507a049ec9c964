import { randomUUID } from 'node:crypto'
import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { MAX_BODY_BYTES } from '../../lib/body.ts'
import { groupOf } from '../../lib/line/messages.ts'
import { lineProducer } from '../../lib/line/producer.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { quarantineQueue } from '../../lib/quarantine.ts'
import { webhookSecrets } from '../../lib/secrets.ts'
import { deliveriesTable } from '../../lib/webhook/deliveries.ts'
import { type Ports, receive } from '../../lib/webhook/receive.ts'
import { createQueue, createTable, drain, onCall, type Parts, scan, startParts } from '../support/parts.ts'

const SECRET = 'whsec_test'
const NOW = 1_800_000_000

let parts: Parts
let line: string
let quarantine: string
let ports: Ports
/** Calls to AWS, as they go over the wire. */
let calls: string[]

beforeAll(async () => {
  parts = await startParts()
  await createTable(parts.dynamodb, 'deliveries', ['delivery'])
  line = await createQueue(parts.sqs, 'order-line.fifo')
  quarantine = await createQueue(parts.sqs, 'quarantine')
  onCall(parts, command => calls.push(command))
})
afterAll(() => parts.close())

beforeEach(() => {
  calls = []
  ports = {
    secrets: webhookSecrets(async () => ({ one: SECRET }), []),
    isOurs: source => source === 'shop',
    deliveries: deliveriesTable(parts.dynamodb, 'deliveries'),
    enqueue: lineProducer(parts.sqs, line),
    quarantine: quarantineQueue(parts.sqs, quarantine),
    now: () => NOW,
  }
})

const webhook = (changes: object = {}, data: object = {}) => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: { source: 'shop', external_id: '1001', status: 'paid', total: '1500000', ...data },
  ...changes,
})

const delivery = (content: object | string | Uint8Array, headers: Record<string, string> = {}, t = NOW) => {
  const body = Buffer.from(
    content instanceof Uint8Array || typeof content === 'string' ? content : JSON.stringify(content),
  )
  return { body, headers: { 'x-service-signature': sign({ secret: SECRET, t, body }), ...headers } }
}

describe('an authentic webhook of ours', () => {
  test('is queued in the very words of the service, in the group of its order, for three calls', async () => {
    const hook = webhook()
    const text = JSON.stringify(hook, null, 2)
    expect(await receive(delivery(text), ports)).toMatchObject({ outcome: 'queued', delivery: hook.delivery })
    expect(calls).toEqual(['GetItemCommand', 'SendMessageCommand', 'PutItemCommand'])
    const [message] = await drain(parts.sqs, line)
    expect(message?.Body).toBe(text)
    expect(message?.Attributes).toMatchObject({
      MessageGroupId: groupOf({ source: 'shop', external_id: '1001' }),
      MessageDeduplicationId: hook.delivery,
    })
  })

  test('is a duplicate the second time, for one call', async () => {
    const hook = webhook()
    await receive(delivery(hook), ports)
    calls = []
    expect(await receive(delivery(hook, {}, NOW + 30), ports)).toMatchObject({ outcome: 'duplicate' })
    expect(calls).toEqual(['GetItemCommand'])
    expect(await drain(parts.sqs, line)).toHaveLength(1)
  })

  test('comes through once however often it comes at once', async () => {
    const hook = webhook()
    const received = await Promise.all(Array.from({ length: 20 }, () => receive(delivery(hook), ports)))
    expect(new Set(received.map(({ outcome }) => outcome))).toContain('queued')
    expect(await drain(parts.sqs, line)).toHaveLength(1)
  })

  test('counts as new when its record has expired, even while DynamoDB has not deleted it', async () => {
    const hook = webhook()
    const put = (expires: number) =>
      parts.dynamodb.send(
        new PutItemCommand({
          TableName: 'deliveries',
          Item: { delivery: { S: hook.delivery }, expires_at: { N: String(expires) } },
        }),
      )
    await put(NOW)
    expect((await receive(delivery(hook), ports)).outcome).toBe('queued')
    await put(NOW + 1)
    expect((await receive(delivery(hook), ports)).outcome).toBe('duplicate')
    await drain(parts.sqs, line)
  })

  test('counts as new when its record does not say how long it holds', async () => {
    const hook = webhook()
    await parts.dynamodb.send(
      new PutItemCommand({ TableName: 'deliveries', Item: { delivery: { S: hook.delivery } } }),
    )
    expect((await receive(delivery(hook), ports)).outcome).toBe('queued')
    await drain(parts.sqs, line)
  })

  test('is looked for in what DynamoDB has last been told, not in an older copy', async () => {
    const asked: unknown[] = []
    parts.dynamodb.middlewareStack.add(
      next => args => {
        asked.push(args.input)
        return next(args)
      },
      { step: 'initialize', name: 'asked' },
    )
    const hook = webhook()
    await receive(delivery(hook), ports)
    parts.dynamodb.middlewareStack.remove('asked')
    expect(asked[0]).toMatchObject({ Key: { delivery: { S: hook.delivery } }, ConsistentRead: true })
    await drain(parts.sqs, line)
  })

  test('is remembered for thirty days, by its source and order', async () => {
    const hook = webhook()
    await receive(delivery(hook), ports)
    const item = (await scan(parts.dynamodb, 'deliveries')).find(
      ({ delivery }) => delivery?.S === hook.delivery,
    )
    expect(item).toEqual({
      delivery: { S: hook.delivery },
      source: { S: 'shop' },
      external_id: { S: '1001' },
      status: { S: 'paid' },
      received_at: { N: String(NOW) },
      expires_at: { N: String(NOW + 30 * 24 * 60 * 60) },
    })
    await drain(parts.sqs, line)
  })

  test('may hold what JSON allows and SQS does not', async () => {
    const hook = webhook({}, { note: 'a\uFFFEb\uFFFF\u0000' })
    expect((await receive(delivery(hook), ports)).outcome).toBe('queued')
    const [message] = await drain(parts.sqs, line)
    expect(JSON.parse(message?.Body ?? '')).toEqual(hook)
  })

  test.each([
    ['X-Service-Delivery', { 'x-service-delivery': randomUUID() }],
    ['X-Service-Event', { 'x-service-event': 'order.deleted' }],
  ])('is refused when the unsigned header %s tells another story', async (_name, headers) => {
    expect((await receive(delivery(webhook(), headers), ports)).outcome).toBe('contradictory')
    expect(calls).toEqual([])
  })

  test('is taken when the headers agree', async () => {
    const hook = webhook()
    const headers = { 'x-service-delivery': hook.delivery, 'x-service-event': 'order.updated' }
    expect((await receive(delivery(hook, headers), ports)).outcome).toBe('queued')
    await drain(parts.sqs, line)
  })

  test('with a status nobody knows and fields nobody knows is queued', async () => {
    const hook = webhook({ extra: 1 }, { status: 'archived', total: null, new_field: { deep: true } })
    expect((await receive(delivery(hook), ports)).outcome).toBe('queued')
    await drain(parts.sqs, line)
  })
})

describe('without a call to AWS', () => {
  test.each<[string, Parameters<typeof receive>[0], object]>([
    [
      'a forged signature',
      { ...delivery(webhook()), body: Buffer.from('{}') },
      { outcome: 'forged', why: 'mismatch' },
    ],
    ['no signature', { body: Buffer.from('{}'), headers: {} }, { outcome: 'forged', why: 'malformed' }],
    ['a replay after five minutes', delivery(webhook(), {}, NOW - 301), { outcome: 'forged', why: 'stale' }],
    ['a clock five minutes ahead', delivery(webhook(), {}, NOW + 301), { outcome: 'forged', why: 'stale' }],
    [
      "another store's order",
      delivery(webhook({}, { source: 'other' })),
      { outcome: 'ignored', why: 'foreign source' },
    ],
    [
      "another store's unreadable order",
      delivery(webhook({}, { source: 'other', status: 7 })),
      { outcome: 'ignored', why: 'foreign source' },
    ],
    [
      'an event nobody knows',
      delivery(webhook({ event: 'order.shipped' })),
      { outcome: 'ignored', why: 'other event' },
    ],
    ['a body that is too large', delivery(`"${'x'.repeat(MAX_BODY_BYTES)}"`), { outcome: 'too large' }],
  ])('%s is answered', async (_name, request, expected) => {
    expect(await receive(request, ports)).toMatchObject(expected)
    expect(calls).toEqual([])
  })
})

describe('what is authentic and cannot be read', () => {
  test.each([
    ['bytes that are no text', Uint8Array.from([0xff, 0xfe, 0x00])],
    ['text that is no JSON', '{"event":'],
    ['an empty body', ''],
    ['JSON that is no envelope', '[]'],
    ['a delivery that is no UUID', JSON.stringify(webhook({ delivery: 'x' }))],
    ['an order whose source is none', JSON.stringify(webhook({}, { source: 7 }))],
    ['an order without a status', JSON.stringify(webhook({}, { status: null }))],
    ['an order whose id is too long', JSON.stringify(webhook({}, { external_id: 'x'.repeat(101) }))],
  ])('%s goes to quarantine, byte for byte, and is refused with a reason', async (_name, content) => {
    const request = delivery(content)
    const received = await receive(request, ports)
    expect(received.outcome).toBe('unreadable')
    const [kept] = await drain(parts.sqs, quarantine)
    const { body_base64, ...told } = JSON.parse(kept?.Body ?? '{}') as Record<string, string>
    expect(Buffer.from(body_base64 ?? '', 'base64').equals(request.body)).toBe(true)
    const received_at = new Date(NOW * 1000).toISOString()
    expect(told).toEqual({ reason: expect.stringMatching(/\w/), from: 'webhook', received_at })
    expect(await drain(parts.sqs, line)).toEqual([])
  })
})

test('a body of 256 KiB is not yet too large', async () => {
  const request = delivery(`"${'x'.repeat(256 * 1024 - 2)}"`)
  const kept = { ...ports, quarantine: async () => undefined }
  expect((await receive(request, kept)).outcome).toBe('unreadable')
  const larger = delivery(`"${'x'.repeat(256 * 1024 - 1)}"`)
  expect((await receive(larger, kept)).outcome).toBe('too large')
})

describe('when AWS fails nothing is promised', () => {
  const failing = async () => {
    throw new Error('no answer')
  }
  test.each<[string, Partial<Ports>, number]>([
    ['at the read', { deliveries: { has: failing, record: failing } }, 0],
    ['at the send', { enqueue: failing }, 0],
    ['at the record', { deliveries: { has: async () => false, record: failing } }, 1],
    ['at the quarantine', { quarantine: failing }, 0],
  ])('%s', async (name, broken, queued) => {
    const content = name === 'at the quarantine' ? '[]' : webhook()
    await expect(receive(delivery(content), { ...ports, ...broken })).rejects.toThrow('no answer')
    expect(await drain(parts.sqs, line)).toHaveLength(queued)
  })

  test('a delivery that was sent but not recorded is not queued twice', async () => {
    const hook = webhook()
    const unrecorded = { has: async () => false, record: failing }
    await expect(receive(delivery(hook), { ...ports, deliveries: unrecorded })).rejects.toThrow()
    expect((await receive(delivery(hook, {}, NOW + 5), ports)).outcome).toBe('queued')
    expect(await drain(parts.sqs, line)).toHaveLength(1)
  })
})
