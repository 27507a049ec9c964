import assert from 'node:assert/strict'
import fc from 'fast-check'
import { errorOf, retryAfterSeconds } from '../../lib/accounting/errors.ts'
import { anyJsonText, anyText, mostly, text } from './hostile.ts'

const CODES: readonly (readonly [(status: number) => boolean, readonly string[]])[] = [
  [status => status === 401 || status === 403, ['unauthorized']],
  [status => status === 404, ['unknown_order']],
  [status => status < 400 || status >= 500 || [408, 425, 429].includes(status), ['unavailable']],
  [() => true, ['rejected', 'not_ready']],
]

const body = fc.oneof(mostly({ error: mostly({ code: anyText, message: anyText }) }), anyJsonText)

/** However the service words a refusal, its status decides what it means, and there is something to read. */
export const errorProperty = () =>
  fc.property(fc.integer({ min: 100, max: 599 }), body, (status, json) => {
    const error = errorOf(status, JSON.parse(json), undefined)
    const [, codes = []] = CODES.find(([applies]) => applies(status)) ?? []
    assert.ok(codes.includes(error.code), `${status} became ${error.code}`)
    assert.ok(error.message.length > 0)
  })

/** Whatever a Retry-After header says, it is no time in the past and no part of a second. */
export const retryAfterProperty = () =>
  fc.property(
    fc.oneof(text, fc.date().map(String), fc.integer().map(String)),
    fc.nat(4e12),
    (header, now) => {
      const seconds = retryAfterSeconds(header, now)
      assert.ok(seconds === undefined || (Number.isInteger(seconds) && seconds >= 0))
    },
  )
