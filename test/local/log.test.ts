import { expect, test } from '@jest/globals'
import { readable } from '../../local/log.ts'

const constant = { timestamp: '2026-01-01T00:00:00Z', service: 'order-relay', sampling_rate: 0 }

test.each<[string, string, string | undefined]>([
  [
    'an entry of a function',
    JSON.stringify({ level: 'INFO', message: 'delivery received', ...constant, outcome: 'queued', count: 2 }),
    'delivery received outcome=queued count=2',
  ],
  [
    'an error',
    JSON.stringify({
      level: 'ERROR',
      message: 'request failed',
      ...constant,
      error: { name: 'TypeError', message: 'x', stack: 's' },
    }),
    'ERROR request failed error=TypeError: x',
  ],
  ['metrics', '{"_aws":{"Timestamp":1},"Deliveries":1}', undefined],
  ['an empty line', '  ', undefined],
  ['a frame', ' │  POST | http://127.0.0.1:3000/webhook  │', undefined],
  ['other text', '× Cannot start', '× Cannot start'],
  ['other JSON', '[1,2]', '[1,2]'],
])('%s is readable', (_name, line, expected) => {
  expect(readable(line)).toBe(expected)
})

test('while functions are being loaded only warnings and errors are shown', () => {
  const entry = (level: string) => JSON.stringify({ level, message: 'delivery received', ...constant })
  expect(readable(entry('INFO'), true)).toBeUndefined()
  expect(readable(entry('WARN'), true)).toBe('WARN delivery received')
})
