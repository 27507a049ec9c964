import { expect, test } from '@jest/globals'
import { normalizeMobile } from 'order-relay-sandbox/src/mobile.ts'
import { errorOf } from '../../lib/accounting/errors.ts'
import { bearerKey } from '../../lib/api/keys.ts'
import { readPreferences } from '../../lib/api/prefer.ts'
import { readRequest, route } from '../../lib/api/request.ts'
import { readOrderEvent } from '../../lib/orders/events.ts'
import { retryAfterSeconds } from '../../lib/platform/http-client.ts'
import { readJson } from '../../lib/protocol/json.ts'
import { scanJson } from '../../lib/protocol/scan-json.ts'
import { sign, verify } from '../../lib/protocol/signature.ts'
import { readWebhook } from '../../lib/webhook/receive.ts'
import { rotationPhase } from '../../lib/webhook/secrets.ts'

const create = (more: string) => `{"source":"shop","external_id":"1","items":[${more}]}`
const readCreate = (body: string) =>
  readRequest({ action: { to: 'create' }, query: [], body }, 'shop', () => '2026-01-01')

/** All readers of external input, with inputs whose size can be doubled. */
const parsers: readonly [name: string, read: (input: string) => unknown, input: (size: number) => string][] =
  [
    ['JSON with a long number', readJson, size => `{"x":1${'0'.repeat(size)}1}`],
    ['JSON with a long fraction', readJson, size => `{"x":0.${'0'.repeat(size)}1}`],
    ['JSON with many exact numbers', readJson, size => `[${'12345678901234567890,'.repeat(size / 20)}1]`],
    ['JSON with many short numbers', readJson, size => `[${'1e20,'.repeat(size / 5)}1]`],
    ['deep JSON', readJson, size => '['.repeat(size)],
    ['a long text', readJson, size => `"${'\\u0061'.repeat(size / 6)}"`],
    ['a request with a long name', scanJson, size => `{"${'\\u0061'.repeat(size / 6)}":1}`],
    ['a request with many names', scanJson, size => `{${'"a":1,'.repeat(size / 6)}"b":1}`],
    ['a create with unknown fields', readCreate, size => create(`{${'"a":1,'.repeat(size / 6)}"b":1}`)],
    ['a webhook with a long number', readWebhook, size => `{"data":1${'0'.repeat(size)}1}`],
    ['an event with a long number', readOrderEvent, size => `{"data":1${'0'.repeat(size)}1}`],
    ['a create with invalid items', readCreate, size => create(`${'1,'.repeat(size / 2)}1`)],
    ['a create with a long number', readCreate, size => create(`{"quantity":1${'0'.repeat(size)}1}`)],
    ['a path', path => route('POST', path), size => `/api/v1/orders/${'/payment'.repeat(size / 8)}`],
    ['a preference', readPreferences, size => `wait=${'"a\\'.repeat(size / 3)}`],
    ['a bearer key', bearerKey, size => `Bearer ${' '.repeat(size)}x y`],
    ['a mobile number', normalizeMobile, size => `+98${' '.repeat(size)}9`],
    ['Retry-After', header => retryAfterSeconds(header, 0), size => '1'.repeat(size)],
    ['a rotation', value => rotationPhase(value, 0), size => `announced until ${'1'.repeat(size)}`],
    [
      'a signature header',
      header => verify({ header, body: '', secrets: ['s'], now: 1 }),
      size => `${sign({ secret: 'x', t: 1, body: '' })}${',v0=x'.repeat(size / 5)}`,
    ],
    [
      'an error body',
      text => errorOf(400, { json: { error: text }, text }, undefined),
      size => 'x'.repeat(size),
    ],
  ]

type Reading = readonly [read: (input: string) => unknown, input: string]

/** CPU time in milliseconds, which other processes do not affect. */
const timed = ([read, input]: Reading) => {
  const began = process.cpuUsage()
  read(input)
  const { user, system } = process.cpuUsage(began)
  // Linux estimates the split between user and system time from samples; only the sum is exact.
  return (user + system) / 1000
}

/** Whether the fastest run of one reading takes at most `factor` times as long as the fastest run of the other. */
const isWithin = (factor: number, one: Reading, other: Reading): boolean => {
  let [fastest, otherFastest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 20; round++) {
    fastest = Math.min(fastest, timed(one))
    otherFastest = Math.min(otherFastest, timed(other))
    // A few milliseconds are noise; quadratic time would take seconds.
    if (round >= 2 && fastest <= factor * otherFastest + 5) return true
    if (fastest > 1000) return false
  }
  return false
}

test.each(parsers)('%s takes linear time', (_name, read, input) => {
  expect(isWithin(2.5, [read, input(100_000)], [read, input(50_000)])).toBe(true)
})

test('limits a number to 1,000 characters in every reader', () => {
  const long = '1'.repeat(1001)
  const reason = 'A number in the body has more than 1000 characters'
  expect(readJson(`[${long}]`)).toEqual({ unreadable: reason })
  expect(readJson(`[1${long.slice(2)}]`)).toHaveProperty('json')
  expect(readWebhook(`[${long}]`)).toEqual({ kind: 'unreadable', reason })
  expect(readOrderEvent(`[${long}]`)).toEqual({ unreadable: reason })
})

test('stops validating at the first of 87,000 invalid items', () => {
  const body = create(Array.from({ length: 87_000 }, () => '1').join(','))
  expect(readCreate(body)).toMatchObject({ invalid: { status: 400, body: { error: { field: 'items[0]' } } } })
  // Collecting an issue for each item would take about a hundred times as long as reading them.
  expect(isWithin(5, [readCreate, body], [readJson, body])).toBe(true)
})
