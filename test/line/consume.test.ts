import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { consume } from '../../lib/line/consume.ts'
import type { LineMessage } from '../../lib/line/messages.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { telemetry } from '../../lib/telemetry.ts'

const spies = () => ({
  info: jest.spyOn(telemetry, 'info').mockImplementation(() => undefined),
  warn: jest.spyOn(telemetry, 'warn').mockImplementation(() => undefined),
  count: jest.spyOn(telemetry, 'count').mockImplementation(() => undefined),
})
let heard: ReturnType<typeof spies>
beforeEach(() => {
  heard = spies()
})
afterEach(() => {
  jest.restoreAllMocks()
})

const DELIVERY = '00000000-0000-4000-8000-000000000001'
const key = { source: 'shop', external_id: '1' }

const consumed = async (body: string) => {
  const advanced: LineMessage[] = []
  const quarantined: object[] = []
  await consume({
    advance: async message => {
      advanced.push(message)
      return { changed: true, calls: 1, told: 2, status: 'paid' }
    },
    quarantine: async unreadable => {
      quarantined.push({ ...unreadable, body: Buffer.from(unreadable.body).toString() })
    },
    now: () => new Date('2026-01-02T03:04:05Z'),
  })({ body, messageId: 'm1' })
  return { advanced, quarantined }
}

describe('a message that can be read', () => {
  test.each([
    ['a webhook', 'order.updated', { ...key, status: 'paid', total: '1', new: { deep: [1] } }],
    ['a create', 'order.create', { ...key, request: '{}' }],
    ['a payment', 'order.payment', { ...key, request: '{}' }],
    ['a refund', 'order.refund', { ...key, request: '{}' }],
    ['a check', 'order.check', key],
  ])('%s goes to its order just as it is', async (_name, event, data) => {
    const message = { event, delivery: DELIVERY, data }
    expect(await consumed(JSON.stringify(message))).toEqual({ advanced: [message], quarantined: [] })
  })

  test('keeps numbers that no double can hold', async () => {
    const data = `{"source":"shop","external_id":"1","status":"paid","total":9007199254740993}`
    const { advanced } = await consumed(`{"event":"order.updated","delivery":"${DELIVERY}","data":${data}}`)
    expect(advanced[0]?.data).toMatchObject({ total: new ExactNumber('9007199254740993') })
  })

  test('is told of with its ids and what came of it, and with nothing else of the order', async () => {
    await consumed(JSON.stringify({ event: 'order.check', delivery: DELIVERY, data: key }))
    const ids = { delivery: DELIVERY, event: 'order.check', ...key }
    const outcome = { changed: true, calls: 1, told: 2, status: 'paid' }
    expect(heard.info.mock.calls).toEqual([['order advanced', { ...ids, ...outcome }]])
    expect(heard.count.mock.calls).toEqual([['Advanced', { event: 'order.check', changed: 'true' }]])
  })
})

describe('a message that cannot be read', () => {
  const create = { event: 'order.create', delivery: DELIVERY, data: { ...key, request: '{}' } }
  test.each([
    ['{', 'The body is not JSON'],
    [`${'['.repeat(65)}${']'.repeat(65)}`, 'The body is nested too deep'],
    [JSON.stringify({ ...create, delivery: 'x' }), 'delivery'],
    [JSON.stringify({ ...create, event: 'order.shipped' }), 'event'],
    [JSON.stringify({ ...create, data: key }), 'data.request'],
    [JSON.stringify({ ...create, data: { ...key, source: '', request: '{}' } }), 'data.source'],
    [JSON.stringify({ ...create, event: 'order.check', data: { source: 'shop' } }), 'data.external_id'],
    [JSON.stringify({ ...create, event: 'order.check', data: { external_id: '1' } }), 'data.source'],
  ])('%s goes to quarantine whole, at once, with the reason: %s', async (body, reason) => {
    const { advanced, quarantined } = await consumed(body)
    expect(advanced).toEqual([])
    expect(quarantined).toEqual([
      {
        from: 'line',
        reason: expect.stringContaining(reason),
        body,
        received_at: '2026-01-02T03:04:05.000Z',
      },
    ])
    expect(heard.warn.mock.calls).toEqual([
      ['line message quarantined', { messageId: 'm1', reason: expect.stringContaining(reason) }],
    ])
    expect(heard.count.mock.calls).toEqual([['Quarantined', { from: 'line' }]])
    expect(heard.info.mock.calls).toEqual([])
  })
})
