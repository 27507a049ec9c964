import { expect, test } from '@jest/globals'
import { AccountingError } from '../../lib/accounting/errors.ts'
import { itemBytes } from '../../lib/orders/bodies.ts'
import { entryItem, entryOf, type HistoryEntry, historyEntry, madeCall } from '../../lib/orders/history.ts'
import { newOrder, type Order } from '../../lib/orders/order.ts'
import { ExactNumber } from '../../lib/protocol/json.ts'

const KEY = { source: 'shop', external_id: '۱۴۰۴/#7' }
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const [at, previous] = ['2026-01-02T03:04:05.006Z', '2026-01-02T03:04:05.000Z']
const payment = { event: 'order.payment', delivery: id(1), data: { ...KEY, request: '{}' } } as const

/** The entry of a save that leads from one order to another. */
const between = (before: Partial<Order>, after: Partial<Order>, event: typeof payment = payment) =>
  historyEntry({ ...newOrder(KEY), ...before }, { ...newOrder(KEY), ...after }, event, {
    ...{ at, previous, messages: [] },
    calls: [
      madeCall({ to: 'read', outcome: 'lost' }, 8000),
      madeCall(
        { to: 'payment', outcome: 'refused', reason: { status: 400, code: 'c', message: 'Sara Ahmadi' } },
        12,
      ),
    ],
  })

const result = { ...KEY, status: 'invoiced', invoice_number: 12, total: '1000' }

test('an entry names what a save has changed, without the words of the service', () => {
  const intents = [
    { id: id(0), kind: 'create', state: 'registered' },
    { id: id(1), kind: 'payment', state: 'waiting', request: '{}' },
  ] as const
  const entry = between({}, { result, version: 3, intents })
  expect(entry).toEqual({
    ...{ ...KEY, at, previous, event: 'order.payment', delivery: id(1) },
    ...{
      status: 'invoiced',
      settled: false,
      version: 3,
      request: id(1),
      invoice_number: '12',
      published: [],
    },
    calls: [
      { to: 'read', outcome: 'lost', ms: 8000 },
      { to: 'payment', outcome: 'refused', status: 400, code: 'c', ms: 12 },
    ],
    requests: intents.map(({ id: request, kind, state }) => ({ id: request, kind, state })),
  })
  expect(entryOf(entryItem(entry))).toEqual(entry)

  expect(madeCall({ to: 'create', outcome: 'result', status: 201, result }, 7)).toEqual({
    ...{ to: 'create', outcome: 'result', status: 201, ms: 7 },
  })
  const reason = { status: 503, code: 'busy', message: 'Sara Ahmadi' }
  const unavailable = new AccountingError('unavailable', 'The accounting service answered 503', { reason })
  expect(madeCall({ to: 'read', outcome: 'lost' }, 9, unavailable)).toEqual({
    ...{ to: 'read', outcome: 'lost', status: 503, code: 'busy', ms: 9 },
  })
})

test('what the indexes find is only in the entry that brings it', () => {
  const known: Partial<Order> = { result, intents: [{ id: id(1), kind: 'payment', state: 'held' }] }
  const { request, invoice_number, requests } = between(known, { ...known, version: 1 })
  expect([request, invoice_number, requests]).toEqual([undefined, undefined, []])
  // A mark may have begun a withdrawal before its event came.
  expect(between({ ...known, withdrawals: [{ id: id(1), of: 'payment' }] }, known).request).toBe(id(1))
  const numbered = (number: unknown) =>
    between({}, { result: { ...result, invoice_number: number } }).invoice_number
  expect(['F-7', 'F\uD800', new ExactNumber('9007199254740993')].map(numbered)).toEqual([
    ...['F-7', 'F\uFFFD', '9007199254740993'],
  ])
  for (const none of [null, undefined, '', { a: 1 }, '9'.repeat(101)]) expect(numbered(none)).toBeUndefined()
})

test('an entry fits into one write unit; what is too much is cut', () => {
  const usual = between(
    {},
    { result, version: 3, intents: [{ id: id(1), kind: 'payment', state: 'registered' }] },
  )
  const published = [{ event: 'order.updated', delivery: id(2) }] as const
  expect(itemBytes(entryItem({ ...usual, published }))).toBeLessThan(600)

  const intents = Array.from(
    { length: 32 },
    (_, each) => ({ id: id(each), kind: 'payment', state: 'held' }) as const,
  )
  const external_id = 'س'.repeat(100)
  const status = 'س'.repeat(100)
  const saved = between({}, { result: { ...result, status: `${status}س` }, intents })
  const long: HistoryEntry = { ...saved, external_id }
  const item = entryItem(long)
  expect(itemBytes(item)).toBeLessThanOrEqual(1024)
  expect(entryOf(item)).toMatchObject({ external_id, status, cut: true, requests: { 0: long.requests[0] } })
})
