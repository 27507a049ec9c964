import { randomUUID } from 'node:crypto'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { account } from '../../cli/receipt/account.ts'
import { type Compared, type Facts, nameOf } from '../../cli/receipt/facts.ts'
import { hear, nothingHeard } from '../../cli/receipt/heard.ts'
import { groupOf } from '../../lib/line/messages.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { until } from '../support/until.ts'
import { type Local, startLocal } from './relay.ts'

const SINCE = new Date('2026-03-21T00:00:00Z')
const UNTIL = new Date('2026-03-22T00:00:00Z')
const NOON = new Date('2026-03-21T12:00:00Z')

describe('adding up', () => {
  const key = (external_id: string) => ({ source: 'api', external_id })
  const order = (
    external_id: string,
    change: Partial<Order>,
    service?: Compared['service'],
  ): [string, Compared] => [
    nameOf(key(external_id)),
    {
      key: key(external_id),
      held: { revision: 1, updated_at: '', order: { ...newOrder(key(external_id)), ...change } },
      service,
    },
  ]
  const paid = (external_id: string) => ({ ...key(external_id), status: 'paid' })

  const factsOf = (lines: object[], change: Partial<Facts> = {}): Facts => {
    const heard = nothingHeard()
    for (const { message, at = NOON, ...fields } of lines as { message: string; at?: Date }[]) {
      hear(heard, { at, message, fields, level: 'INFO', from: undefined, text: '' }, UNTIL)
    }
    return {
      since: SINCE,
      until: UNTIL,
      heard,
      recorded: new Map([...heard.queued].map(([id, { at }]) => [id, { delivery: id, ...paid(id), at }])),
      dead: new Set(),
      deadHidden: 0,
      quarantined: new Set(),
      waiting: 0,
      left: { dead: 0, quarantined: 0 },
      orders: new Map(),
      ...change,
    }
  }
  const received = (outcome: string, more: object = {}) => ({
    message: 'delivery received',
    outcome,
    ...more,
  })
  const queued = (id: string) => received('queued', { delivery: id, ...key(id) })
  const advanced = (id: string, changed: boolean) => ({ message: 'order advanced', delivery: id, changed })
  const accepted = (id: string, action: string) => ({
    message: 'request answered',
    status: 202,
    action,
    id,
    ...key(id),
  })

  test('every delivery ended in exactly one way', () => {
    const { deliveries, line, differences } = account(
      factsOf([
        queued('a'),
        advanced('a', true),
        queued('b'),
        advanced('b', false),
        received('duplicate', { delivery: 'a', ...key('a') }),
        received('ignored', { delivery: 'c', why: 'foreign source' }),
        received('forged', { why: 'stale' }),
        received('too large'),
        received('unreadable', { reason: 'The body is not JSON' }),
        { message: 'delivery not kept' },
        { message: 'store told', delivery: 'a' },
        { ...queued('later'), at: new Date(UNTIL.getTime() + 1) },
      ]),
    )
    expect(deliveries).toEqual({
      received: 8,
      outcomes: {
        queued: 2,
        duplicate: 1,
        'ignored: foreign source': 1,
        'refused: forged, stale': 1,
        'refused: too large': 1,
        quarantined: 1,
        'not kept': 1,
      },
    })
    expect(line).toMatchObject({ entered: 2, applied: 1, unchanged: 1, unaccounted: 0 })
    expect(differences).toEqual([])
  })

  test('what went on the line is applied, dead, in quarantine or waiting', () => {
    const { line, differences } = account(
      factsOf([queued('dead'), queued('odd'), queued('waits'), queued('hidden'), queued('crashed')], {
        dead: new Set(['dead']),
        quarantined: new Set(['odd']),
        waiting: 1,
        deadHidden: 1,
        orders: new Map([order('crashed', { result: paid('crashed') })]),
      }),
    )
    expect(line).toEqual({
      entered: 5,
      applied: 1,
      unchanged: 0,
      dead: 2,
      quarantined: 1,
      waiting: 1,
      unaccounted: 0,
    })
    expect(differences).toEqual([])
  })

  test('what left no trace is named', () => {
    const { line, differences } = account(factsOf([queued('lost'), accepted('gone', 'refund')]))
    expect(line.unaccounted).toBe(2)
    expect(differences).toEqual([
      { what: 'delivery went on the order line and left no trace', id: 'lost', ...key('lost') },
      { what: 'refund request went on the order line and left no trace', id: 'gone', ...key('gone') },
    ])
  })

  test('a delivery that was queued and not recorded is named', () => {
    const { differences } = account(factsOf([queued('a'), advanced('a', true)], { recorded: new Map() }))
    expect(differences).toMatchObject([{ id: 'a', what: expect.stringContaining('is not recorded') }])
  })

  test('without a log the tables speak', () => {
    const recorded = new Map([['a', { delivery: 'a', ...paid('a'), at: NOON }]])
    const orders = new Map([order('a', { result: paid('a') })])
    const { deliveries, line } = account({ ...factsOf([]), heard: undefined, recorded, orders })
    expect(deliveries).toBeUndefined()
    expect(line).toMatchObject({ entered: 1, applied: 1 })
  })

  test('a request is registered, held, waiting, rejected, or followed by another', () => {
    const intent = (id: string, state: 'registered' | 'held' | 'rejected') => ({ id, state, refusals: 0 })
    const { requests, intents, differences } = account(
      factsOf(
        [
          ...['a', 'b', 'c', 'old'].map(id => accepted(id, 'payment')),
          ...['a', 'b', 'c', 'old'].map(id => advanced(id, true)),
          accepted('new', 'payment'),
        ],
        {
          waiting: 1,
          orders: new Map([
            order('a', { intents: { payment: intent('a', 'registered') } }),
            order('b', { intents: { payment: intent('b', 'held') } }),
            order('c', { intents: { payment: intent('c', 'rejected') } }),
            order('old', { intents: { payment: intent('another', 'registered') } }),
          ]),
        },
      ),
    )
    expect(requests).toEqual({
      accepted: 5,
      states: { registered: 1, held: 1, rejected: 1, 'followed by another': 1, waiting: 1 },
    })
    expect(intents).toEqual({ 'payment registered': 2, 'payment held': 1, 'payment rejected': 1 })
    expect(differences).toEqual([])
  })

  test('orders that the service has otherwise are named, with how', () => {
    const unknown = { unknown: { status: 404, message: 'not registered' } }
    const { orders, differences } = account(
      factsOf([], {
        orders: new Map([
          order('same', { result: paid('same') }, { result: paid('same') }),
          order('rejected', {}, unknown),
          order('status', { result: paid('status') }, { result: { ...key('status'), status: 'refunded' } }),
          order('field', { result: paid('field') }, { result: { ...paid('field'), total: '7' } }),
          order('theirs', {}, { result: paid('theirs') }),
          order('ours', { result: paid('ours') }, unknown),
          order('away', { result: paid('away') }, { unread: 'no answer' }),
        ]),
      }),
    )
    expect(orders).toEqual({ known: 7, asked: 7, agree: 2 })
    expect(differences.map(({ external_id, what }) => `${external_id}: ${what}`)).toEqual([
      'status: order "paid" here, "refunded" at the service',
      'field: order differs in total',
      'theirs: order nothing known here, "paid" at the service',
      'ours: order "paid" here, and not known at the service',
      'away: order could not be read at the service: no answer',
    ])
  })
})

describe('of the local stack', () => {
  let local: Local
  beforeAll(async () => {
    local = await startLocal()
  })
  afterAll(() => local?.close())

  const store = async (path: string, body: object) => {
    const response = await fetch(`${local.urls.relay}/api/v1/orders/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer local-api' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(202)
  }
  const statusHere = async (external_id: string) =>
    (await local.json(['orders', 'show', 'api', external_id]).catch(() => undefined))?.data.result?.status

  test('everything that came in is accounted for, and agrees with the service', async () => {
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: false })
    await store('', { external_id: 'r-1', items: [{ sku: 'SKU-1', quantity: 0.01, unit_price: 1000 }] })
    await store('r-1/payment/', { method: 'card' })
    await until(async () => (await statusHere('r-1')) === 'needs_review')
    await local.sandbox('PUT', '/panel/settings', { automaticFinalization: true })
    await local.sandbox('POST', '/panel/orders/r-1/retry?source=api', {})
    await until(async () => (await statusHere('r-1')) === 'paid')
    await local.relay(['send', '--external-id', 'x', '--source', 'nobody'])
    await local.relay(['send', '--external-id', 'x'], { environment: { RELAY_WEBHOOK_SECRET: 'wrong' } })

    const { code, data } = await local.json(['receipt', '--since', '10m'])
    expect(data).toMatchObject({
      balanced: true,
      deliveries: { outcomes: { queued: 1, 'ignored: foreign source': 1, 'refused: forged, mismatch': 1 } },
      line: { entered: 3, applied: 3, unaccounted: 0 },
      requests: { accepted: 2, states: { registered: 2 } },
      intents: { 'create registered': 1, 'payment registered': 1 },
      orders: { known: 1, asked: 1, agree: 1 },
      left: { dead: 0, quarantined: 0 },
      differences: [],
    })
    expect(code).toBe(0)
    const { out } = await local.relay(['receipt', '--since', '10m'])
    expect(out).toContain('1 order changed; 1 of 1 agree with the service.')
    expect(out).toMatch(/Everything is accounted for\.\n$/)
  }, 30_000)

  test('an order that the service has otherwise is a difference', async () => {
    await local.relay(['send', '--external-id', 'made-up'])
    await local.sqs.send(
      new SendMessageCommand({
        QueueUrl: local.queue('order-line-dead.fifo'),
        MessageGroupId: groupOf({ source: 'api', external_id: 'dead' }),
        MessageDeduplicationId: randomUUID(),
        MessageBody: '{}',
      }),
    )
    await until(async () => (await statusHere('made-up')) === 'paid')
    const { code, out } = await local.relay(['receipt', '--since', '10m'])
    expect(out).toContain('1 difference:\n  api made-up: order "paid" here, and not known at the service')
    expect(out).toContain('Left to a person: 1 dead letter, 0 in quarantine.')
    expect(code).toBe(1)
    const unasked = await local.json(['receipt', '--since', '10m', '--no-service'])
    expect(unasked).toMatchObject({ code: 0, data: { balanced: true, orders: { asked: 0 } } })
  }, 30_000)
})
