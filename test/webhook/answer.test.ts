import { expect, test } from '@jest/globals'
import { answer, unavailable } from '../../lib/webhook/answer.ts'
import type { Received } from '../../lib/webhook/receive.ts'

const ids = { delivery: 'd', source: 'shop', external_id: '1' }

test.each<[Received, object]>([
  [{ outcome: 'queued', ...ids }, { status: 'queued' }],
  [{ outcome: 'duplicate', ...ids }, { status: 'duplicate' }],
  [{ outcome: 'ignored', delivery: 'd', why: 'other event' }, { status: 'ignored' }],
])('%j is a success: the sender need not come again', (received, body) => {
  expect(answer(received)).toEqual({ status: 200, body })
})

test.each<[Received, number, string, string]>([
  [{ outcome: 'forged', why: 'stale' }, 401, 'unauthorized', 'The signature is missing or not valid'],
  [{ outcome: 'forged', why: 'mismatch' }, 401, 'unauthorized', 'The signature is missing or not valid'],
  [
    { outcome: 'contradictory', header: 'x-service-event' },
    400,
    'contradictory',
    'The header x-service-event does not agree with the signed body',
  ],
  [{ outcome: 'unreadable', reason: 'The body is not JSON' }, 400, 'unreadable', 'The body is not JSON'],
  [{ outcome: 'too large' }, 413, 'too_large', 'The body has more than 256 KiB'],
])('%j is refused with %i', (received, status, code, message) => {
  expect(answer(received)).toEqual({ status, body: { error: { code, message } } })
})

test('what could not be kept is asked for again', () => {
  expect(unavailable).toEqual({
    status: 503,
    body: { error: { code: 'unavailable', message: 'The delivery could not be kept; send it again' } },
    headers: { 'retry-after': '5' },
  })
})
