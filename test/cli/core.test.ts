import { expect, test } from '@jest/globals'
import type { Context } from '../../cli/core/context.ts'
import { secondsOf, since } from '../../cli/core/options.ts'
import { count, facts, shellWord, table } from '../../cli/core/output.ts'
import { coloured } from '../../cli/core/terminal.ts'
import { feedSecretOf } from '../../cli/stores.ts'
import { visible } from '../../lib/platform/visible.ts'

test.each([
  ['90s', 90],
  ['15m', 900],
  ['2h', 7200],
  ['7d', 604_800],
  ['7', undefined],
  ['m', undefined],
  ['1.5h', undefined],
  ['-1h', undefined],
])('the duration "%s" is %s seconds', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds)
})

test('--since takes a duration or a date', () => {
  expect(Math.abs(since('2h').getTime() - (Date.now() - 7_200_000))).toBeLessThan(1000)
  expect(since('2026-03-21').toISOString()).toBe('2026-03-21T00:00:00.000Z')
  expect(since('2026-03-21T09:30:00+03:30').toISOString()).toBe('2026-03-21T06:00:00.000Z')
  for (const wrong of ['', 'yesterday', '2026-13-01', '21.3.2026', '1'])
    expect(() => since(wrong)).toThrow('date')
})

test.each([
  ['shop-1.ir', 'shop-1.ir'],
  ['فروشگاه شمالی', "'فروشگاه شمالی'"],
  ["Ann's $hop", "'Ann'\\''s $hop'"],
])('%s is an argument of a shell as %s', (word, quoted) => {
  expect(shellWord(word)).toBe(quoted)
})

test('columns are aligned, and control characters are escaped', () => {
  expect(
    table(
      ['A', 'LONG'],
      [
        ['xyz', 1],
        [undefined, 'a\u001b[2Jb'],
      ],
    ),
  ).toBe('A    LONG\nxyz  1\n-    a\\u001b[2Jb')
  expect(facts({ a: 1, longer: 'x\n', none: undefined })).toBe('a       1\nlonger  x\\u000a')
  expect(visible('فار\u200cسی 🛒')).toBe('فار\u200cسی 🛒')
  expect(visible('a\u2028b\u009bc\u202ed')).toBe('a\\u2028b\\u009bc\\u202ed')
  expect([count(1, 'message'), count(2, 'message'), count(0, 'reply', 'replies')]).toEqual([
    '1 message',
    '2 messages',
    '0 replies',
  ])
})

test.each([
  [true, {}, '\u001b[31mx\u001b[39m'],
  [true, { NO_COLOR: '' }, '\u001b[31mx\u001b[39m'],
  [true, { NO_COLOR: '1' }, 'x'],
  [false, {}, 'x'],
])(
  'text is coloured on a terminal, unless NO_COLOR is set (terminal %p, %j)',
  (isTTY, environment, expected) => {
    const { stdin, stdout, stderr } = process
    expect(coloured({ stdin, stdout, stderr, environment }, { isTTY }, 'red', 'x')).toBe(expected)
  },
)

test('a remedy names the store as a shell takes it, and the relay that was chosen', async () => {
  const context = { parameters: { get: async () => undefined }, flags: ' --local' } as unknown as Context
  await expect(feedSecretOf(context, 'web shop', 'test the feed')).rejects.toThrow(
    "create it: relay stores secret 'web shop' --local",
  )
})
