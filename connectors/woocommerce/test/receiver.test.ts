import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { sign } from 'order-relay-store'
import { orderUpdated } from 'order-relay-store/testing'
import { batchHandler } from '../lib/batch.ts'
import { type Connection, connectionId, sourceOf } from '../lib/connections.ts'
import { PATHS, receiver } from '../lib/receiver.ts'
import { ShopError } from '../lib/shop.ts'
import type { SyncEvent } from '../lib/synchronize.ts'

const SOURCE = 'فروشگاه'
const connection = {
  settings: { source: SOURCE },
  webhooks: { secret: 'shop secret' },
  relay: { secret: 'feed secret' },
} as unknown as Connection

/** Sends a request to the endpoint; returns its status and what was queued. */
const sent = async (
  path: string,
  body: string,
  headers: Record<string, string> = {},
  isBase64Encoded = false,
) => {
  const queued: SyncEvent[] = []
  const handle = receiver({
    connections: { get: async source => (source === SOURCE ? connection : undefined) },
    enqueue: async event => {
      queued.push(event)
    },
  })
  const event = { rawPath: path, headers, body, isBase64Encoded } as unknown as APIGatewayProxyEventV2
  const { statusCode } = (await handle(event)) as APIGatewayProxyStructuredResultV2
  return { statusCode, queued }
}

const shopPath = PATHS.shop + connectionId(SOURCE)
const feedPath = PATHS.feed + connectionId(SOURCE)

const webhook = (body: string, secret = 'shop secret') => ({
  'x-wc-webhook-signature': createHmac('sha256', secret).update(body).digest('base64'),
})

test('every source has an address, regardless of its characters', () => {
  for (const source of [SOURCE, 'a/b?c#d', '  ']) {
    expect(connectionId(source)).toMatch(/^[\w-]+$/)
    expect(sourceOf(connectionId(source))).toBe(source)
  }
})

describe('a webhook of the shop', () => {
  const body = JSON.stringify({ id: 17, status: 'processing', billing: { first_name: 'مریم' } })

  test('is queued as a hint, plain or in base64', async () => {
    const queued = [{ source: SOURCE, order: '17' }]
    expect(await sent(shopPath, body, webhook(body))).toEqual({ statusCode: 200, queued })
    const encoded = Buffer.from(body).toString('base64')
    expect(await sent(shopPath, encoded, webhook(body), true)).toEqual({ statusCode: 200, queued })
  })

  test.each<[string, string, Record<string, string>, number]>([
    ['that is forged', body, webhook(body, 'other'), 401],
    ['without a signature', body, {}, 401],
    ['whose body was changed', `${body} `, webhook(body), 401],
    ['that tests the URL', 'webhook_id=3', {}, 200],
    ['with an error instead of an order', '{"code":"x"}', webhook('{"code":"x"}'), 200],
    ['that is not JSON', 'x', webhook('x'), 200],
  ])('%s is not queued', async (_, text, headers, statusCode) => {
    expect(await sent(shopPath, text, headers)).toEqual({ statusCode, queued: [] })
  })

  test('to another address gets 404', async () => {
    for (const path of ['/shop/', '/shop/b3RoZXI', '/other/', '/'])
      expect(await sent(path, body, webhook(body))).toEqual({ statusCode: 404, queued: [] })
  })
})

describe("a message of the relay's feed", () => {
  const message = orderUpdated({ source: SOURCE, external_id: '17' })
  const body = JSON.stringify(message)

  test('is queued with its content', async () => {
    const headers = { 'x-service-signature': await sign(body, 'feed secret') }
    const { statusCode, queued } = await sent(feedPath, body, headers)
    expect(statusCode).toBe(200)
    expect(queued).toEqual([
      { source: SOURCE, order: '17', message: expect.objectContaining({ event: 'order.updated' }) },
    ])
  })

  test('that is forged, or signed with the secret of the shop, gets 401', async () => {
    for (const secret of ['other', 'shop secret']) {
      const headers = { 'x-service-signature': await sign(body, secret) }
      expect(await sent(feedPath, body, headers)).toEqual({ statusCode: 401, queued: [] })
    }
  })
})

test('a batch stops an order at its first failure without stopping others, and the failed events return after a delay', async () => {
  const handled: string[] = []
  const delays: [string, number][] = []
  const handle = batchHandler(
    async ({ order }) => {
      if (order === 'bad') throw new Error('the shop does not answer')
      if (order === 'closed') throw new ShopError('maintenance', { status: 503, retryAfter: 600 })
      handled.push(order)
    },
    async (receiptHandle, seconds) => {
      delays.push([receiptHandle, seconds])
    },
    { info: () => undefined, error: () => undefined },
  )
  const record = (messageId: string, group: string, order: string, receives = 1) => ({
    messageId,
    receiptHandle: messageId,
    body: JSON.stringify({ source: SOURCE, order }),
    attributes: { MessageGroupId: group, ApproximateReceiveCount: String(receives) },
  })
  const Records = [
    ...[record('1', 'a', 'bad'), record('2', 'b', 'good'), record('3', 'a', 'later')],
    ...[record('4', 'c', 'bad', 4), record('5', 'd', 'bad', 60), record('6', 'e', 'closed')],
  ]
  const { batchItemFailures } = await handle({ Records } as unknown as Parameters<typeof handle>[0])
  expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(['1', '3', '4', '5', '6'])
  expect(handled).toEqual(['good'])
  expect(Object.fromEntries(delays)).toEqual({ 1: 15, 3: 15, 4: 120, 5: 900, 6: 600 })
})
