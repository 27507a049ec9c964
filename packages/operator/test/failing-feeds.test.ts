import { expect, test } from '@jest/globals'
import type { Context } from '../core/context.ts'
import { attemptIn } from '../feeds/attempts.ts'
import type { FailingFeed } from '../feeds/failing.ts'
import { failingFeeds, failingFinding, failingIn } from '../feeds/failing.ts'

/** A time, in minutes. */
const at = (minutes: number) => new Date(Date.UTC(2020, 10, 27, 10, minutes))

const attempt = (minutes: number, external_id: string, outcome: 'accepted' | 'failed' | 'dead') => ({
  at: at(minutes),
  source: 'shop',
  external_id,
  outcome,
  delivery: external_id,
  receives: 1,
  ...(outcome !== 'accepted' && { error: `refused ${minutes}`, status: 500 }),
  ...(outcome === 'failed' && { next_at: at(minutes + 7) }),
})

test('a store fails as long as it has not accepted a message that it refused, whatever else it accepts', () => {
  const failing = failingIn([
    attempt(0, 'a', 'failed'),
    attempt(1, 'b', 'failed'),
    attempt(2, 'a', 'accepted'),
    attempt(3, 'b', 'failed'),
    attempt(4, 'c', 'accepted'),
  ])
  const expected: FailingFeed = {
    at: at(3),
    message: 'refused 3',
    status: 500,
    since: at(1),
    earlier: false,
    next: at(10),
  }
  expect([...failing]).toEqual([['shop', expected]])
})

test.each(['accepted', 'dead'] as const)('a store does not fail once its message is %s', outcome => {
  expect([...failingIn([attempt(0, 'a', 'failed'), attempt(1, 'a', outcome)])]).toEqual([])
})

test.each([
  ['an attempt before the first one that is read', 29, 2, true],
  ['no attempt before it', 29, 1, false],
  ['no attempt for so long that it was received behind another message', 31, 2, false],
])('whether a message failed earlier than read: %s', (_, minutes, receives, earlier) => {
  const failing = failingIn([{ ...attempt(minutes, 'a', 'failed'), receives }], at(0))
  expect(failing.get('shop')).toMatchObject({ since: at(minutes), earlier })
})

test('while no message fails, the accepted ones are not read', async () => {
  const patterns: string[] = []
  const logs = async () => ({
    async *paginateFilterLogEvents({ filterPattern }: { filterPattern: string }) {
      patterns.push(filterPattern)
      yield { events: [] }
    },
  })
  const context = {
    local: false,
    aws: { logs },
    stores: () => [{ source: 'shop', feed: { http: 'https://shop.example' } }],
    stack: async () => ({ functions: { feeder: { name: 'feeder' } } }),
  } as unknown as Context
  expect([...(await failingFeeds(context))]).toEqual([])
  expect(patterns).toEqual(['{ ($.message = "feed message retried") }'])
})

test('the remedy of an attempt without a secret has the options of this relay', () => {
  const message = 'Cannot sign for the store "shop"; create it with npx relay stores secret shop'
  const fields = { source: 'shop', code: 'no_secret', error: { message } }
  const line = { at: at(1), from: 'feeder', level: 'WARN', message: 'feed message retried', fields }
  expect(attemptIn({ flags: ' --local' }, line)?.error).toBe(`${message} --local`)
  const other = { ...line, fields: { ...fields, code: 'ECONNREFUSED' } }
  expect(attemptIn({ flags: ' --local' }, other)?.error).toBe(message)
})

test('the finding about a store without a secret is the command that creates it', () => {
  const failing = {
    at: at(1),
    since: at(1),
    earlier: false,
    message: 'Cannot sign',
    code: 'no_secret',
    next: undefined,
  }
  expect(failingFinding({ flags: ' --local' }, 'my shop', failing, 3)).toMatchObject({
    found: { text: 'it has no signing secret' },
    remedy: "relay stores secret 'my shop' --local",
  })
})

test.each([
  [
    { status: 500, next: new Date('2999-01-01') },
    'the store "shop" answers 500: since 2020-11-27T10:01:00.000Z; waiting: 3 messages; next attempt at 2999-01-01T00:00:00.000Z',
  ],
  [
    { status: 500, earlier: true, next: at(2) },
    'the store "shop" answers 500: since before 2020-11-27T10:01:00.000Z; waiting: 3 messages; the next attempt is due',
  ],
  [
    { status: undefined, next: at(2) },
    'messages to the store "shop" fail: since 2020-11-27T10:01:00.000Z: no connection; waiting: 3 messages; the next attempt is due',
  ],
])('the finding names the cause, the messages that wait and the next attempt (%j)', (about, words) => {
  const failing = { at: at(1), since: at(1), earlier: false, message: 'no connection', ...about }
  const { check, found } = failingFinding({ flags: '' }, 'shop', failing, 3)
  expect([check, found].map(text => (typeof text === 'object' ? text.text : text)).join(': ')).toBe(words)
})
