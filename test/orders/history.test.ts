import { expect, test } from '@jest/globals'
import { AccountingError } from '../../lib/accounting/errors.ts'
import type { FeedMessage } from '../../lib/orders/feed.ts'
import {
  entryItem,
  entryKeyItem,
  entryKeyOf,
  entryOf,
  type HistoryEntry,
  historyEntry,
  historyRecorder,
  type MadeCall,
  madeCall,
  partitionsOf,
} from '../../lib/orders/history.ts'
import { type EndedRequests, newOrder, type Order } from '../../lib/orders/order.ts'
import { itemBytes } from '../../lib/platform/dynamodb.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'
import { recordingTelemetry } from '../support/telemetry.ts'

const KEY = { source: 'shop', external_id: '۱۴۰۴/#7' }
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const [at, previous] = ['2026-01-02T03:04:05.006Z', '2026-01-02T03:04:05.000Z']

type Circumstances = Partial<Parameters<typeof historyEntry>[2]>

/** The entry of a save that changes one order into another. */
const between = (before: Partial<Order>, after: Partial<Order>, circumstances: Circumstances = {}) =>
  historyEntry(
    { ...newOrder(KEY), ...before },
    { ...newOrder(KEY), ...after },
    {
      at,
      previous,
      event: 'order.payment',
      delivery: id(1),
      request: undefined,
      calls: [],
      messages: [],
      ...circumstances,
    },
  )

const open = { body: '{}', accepted_at: 0, others: [], withdrawals: [] }
const result = { ...KEY, status: 'invoiced', invoice_number: 12, total: '1000' }

test('the entries of a store are spread over eight partitions, and keep their order', () => {
  const entries = Array.from({ length: 8000 }, (_, each) => {
    const external_id = String(1000 + (each % 10))
    return entryKeyItem({ source: 'shop', external_id, at: new Date(Date.UTC(2026, 0) + each).toISOString() })
  })
  const shares = Map.groupBy(entries, ({ partition }) => partition?.S)
  expect([...shares.keys()].sort()).toEqual(partitionsOf('shop'))
  for (const [, share] of shares) {
    expect(Math.abs(share.length - 1000)).toBeLessThan(150)
    const times = share.map(({ at }) => at?.S)
    expect(times).toEqual(times.toSorted())
  }
  expect(entries.slice(0, 1).map(entryKeyOf)).toEqual([
    { source: 'shop', external_id: '1000', at: '2026-01-01T00:00:00.000Z' },
  ])
})

test('a throttled entry is logged and counted, and any other failure is not hidden', async () => {
  const { telemetry, messages, counted } = recordingTelemetry()
  const failing = (name: string) => ({
    send: () => Promise.reject(Object.assign(new Error('no'), { name })),
  })
  const record = (name: string) =>
    historyRecorder(failing(name), 'history', telemetry)(between({}, { result }))
  for (const name of ['ThrottlingException', 'ProvisionedThroughputExceededException'])
    expect(await record(name)).toBe(false)
  expect([messages(), counted()]).toEqual([
    Array(2).fill('change not in the history'),
    Array(2).fill('HistoryThrottled'),
  ])
  await expect(record('AccessDeniedException')).rejects.toThrow('no')
})

test("an entry contains the changes of a save, without the service's text", () => {
  const reason = { status: 400, code: 'c', message: 'Sara Ahmadi' }
  const ended: EndedRequests[] = [
    { ids: [id(0)], kind: 'create', state: 'registered' },
    { ids: [id(8)], kind: 'refund', state: 'rejected', reason },
    { ids: [id(7)], kind: 'withdrawal', of: 'refund', state: 'rejected', reason },
  ]
  const payment = { ...open, id: id(1), others: [id(2)], kind: 'payment', stage: 'unanswered' } as const
  const call: MadeCall = { to: 'payment', outcome: 'refused', status: 400, code: 'c', ms: 12 }
  const data = { ...KEY, request: 'refund', id: id(8), error: reason } as const
  const cause = { event: 'order.payment', delivery: id(1) }
  const messages: FeedMessage[] = [
    { event: 'order.updated', delivery: id(4), data: result, version: 3, cause },
    { event: 'order.rejected', delivery: id(5), data, version: 3, cause },
  ]
  const entry = between(
    {},
    { result, version: 3, ended, open: { payment } },
    { request: id(1), calls: [call], messages },
  )
  expect(entry).toEqual({
    ...KEY,
    at,
    previous,
    event: 'order.payment',
    delivery: id(1),
    request: id(1),
    status: 'invoiced',
    settled: false,
    version: 3,
    invoice_number: '12',
    calls: [call],
    published: [
      { event: 'order.updated', delivery: id(4) },
      { event: 'order.rejected', delivery: id(5) },
    ],
    requests: [
      { id: id(0), kind: 'create', state: 'registered' },
      { id: id(8), kind: 'refund', state: 'rejected' },
      { id: id(7), kind: 'withdrawal', state: 'rejected' },
      ...[2, 1].map(each => ({ id: id(each), kind: 'payment', state: 'waiting' })),
    ],
  })
  expect(entryOf(entryItem(entry))).toEqual(entry)
})

test('an entry contains a request when its state changed, not only its stage', () => {
  const payment = { ...open, id: id(1), kind: 'payment' } as const
  const requestsOf = (before: Partial<Order>, after: Partial<Order>) => between(before, after).requests
  const waiting = { open: { payment: { ...payment, stage: 'unsent' } } } as const
  const held = { open: { payment: { ...payment, stage: 'held' } } } as const
  expect(requestsOf(waiting, { open: { payment: { ...payment, stage: 'unanswered' } } })).toEqual([])
  expect(requestsOf(waiting, held)).toEqual([{ id: id(1), kind: 'payment', state: 'held' }])
  expect(requestsOf(held, { ended: [{ ids: [id(1)], kind: 'payment', state: 'registered' }] })).toEqual([
    { id: id(1), kind: 'payment', state: 'registered' },
  ])
})

test('a call is recorded with the status of its response or the code of its failure', () => {
  expect(madeCall({ to: 'create', outcome: 'result', status: 201, result }, 7)).toEqual({
    to: 'create',
    outcome: 'result',
    status: 201,
    ms: 7,
  })
  const reason = { status: 503, code: 'busy', message: 'Sara Ahmadi' }
  for (const outcome of ['refused', 'unknown order'] as const)
    expect(madeCall({ to: 'payment', outcome, reason }, 12)).toEqual({
      to: 'payment',
      outcome,
      status: 503,
      code: 'busy',
      ms: 12,
    })
  const answered = new AccountingError('unavailable', 'The accounting service answered 503', { reason })
  for (const outcome of ['unanswered', 'not served'] as const) {
    expect(madeCall({ to: 'read', outcome, error: answered }, 9)).toEqual({
      to: 'read',
      outcome,
      status: 503,
      code: 'busy',
      ms: 9,
    })
    for (const error of [
      new AccountingError('unavailable', 'no response'),
      new Error('Sara Ahmadi'),
      undefined,
    ])
      expect(madeCall({ to: 'read', outcome, error }, 8000)).toEqual({ to: 'read', outcome, ms: 8000 })
  }
})

test('the attributes of the indexes are only in the entry that introduces them', () => {
  const held = { ...open, id: id(1), kind: 'payment', stage: 'held' } as const
  const known: Partial<Order> = { result, open: { payment: held } }
  const { request, invoice_number, requests } = between(known, { ...known, version: 1 })
  expect([request, invoice_number, requests]).toEqual([undefined, undefined, []])
  const item = entryItem(between(known, { ...known, version: 1 }))
  expect(Object.keys(item).sort()).toEqual(['at', 'details', 'partition'])
  const numbered = (number: unknown) =>
    between({}, { result: { ...result, invoice_number: number } }).invoice_number
  expect(['F-7', 'F\uD800', new ExactNumber('9007199254740993')].map(numbered)).toEqual([
    ...['F-7', 'F\uFFFD', '9007199254740993'],
  ])
  for (const none of [null, undefined, '', { a: 1 }, '9'.repeat(101)]) expect(numbered(none)).toBeUndefined()
})

test('an entry is truncated to fit into one write unit', () => {
  const registered: EndedRequests = { ids: [id(1)], kind: 'payment', state: 'registered' }
  const calls: MadeCall[] = [
    { to: 'read', outcome: 'unanswered', ms: 8000 },
    { to: 'payment', outcome: 'refused', status: 400, code: 'c', ms: 12 },
  ]
  const usual = between({}, { result, version: 3, ended: [registered] }, { calls, request: id(1) })
  const published = [{ event: 'order.updated', delivery: id(2) }] as const
  expect(itemBytes(entryItem({ ...usual, published }))).toBeLessThan(600)

  const others = Array.from({ length: 31 }, (_, each) => id(each + 1))
  const held = { ...open, id: id(0), others, kind: 'payment', stage: 'held' } as const
  const external_id = 'س'.repeat(100)
  const status = 'س'.repeat(100)
  const saved = between(
    {},
    { result: { ...result, status: `${status}س` }, open: { payment: held } },
    { calls },
  )
  expect(saved.requests).toHaveLength(32)
  const long: HistoryEntry = { ...saved, external_id }
  const item = entryItem(long)
  expect(itemBytes(item)).toBeLessThanOrEqual(1024)
  expect(entryOf(item)).toMatchObject({ external_id, status, cut: true, requests: { 0: long.requests[0] } })
})
