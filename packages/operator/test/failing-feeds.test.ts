import { expect, test } from '@jest/globals'
import { textOf } from '../core/coded.ts'
import type { Context } from '../core/context.ts'
import type { FailingFeed } from '../feeds/failing.ts'
import { failingFeeds, failingFindings, failingIn } from '../feeds/failing.ts'
import { attemptIn, listAttempts } from '../model/attempts.ts'

/** A relay on AWS with a store `shop` and these lines of the feeder. */
const relayWith = (lines: readonly object[], patterns: string[] = []) => {
  const logs = async () => ({
    async *paginateFilterLogEvents({ filterPattern }: { filterPattern: string }) {
      patterns.push(filterPattern)
      yield { events: lines.map(line => ({ timestamp: Date.now(), message: JSON.stringify(line) })) }
    },
  })
  return {
    local: false,
    flags: '',
    aws: { logs },
    stores: () => [SHOP],
    stack: async () => ({ functions: { feeder: { name: 'feeder' } } }),
  } as unknown as Context
}

const SHOP = { source: 'shop', feed: { http: 'https://shop.example', disable_after: 60 } }

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

/** Before the next attempt after the latest failure in these tests is due. */
const NOW = at(12)

const failing = (attempts: Parameters<typeof failingIn>[0], now = NOW) =>
  failingIn(attempts, now).get('shop') ?? []

test('a store counts as failing from its first failure after its last accepted message', () => {
  const attempts = [
    attempt(0, 'a', 'failed'),
    attempt(1, 'b', 'accepted'),
    attempt(6, 'c', 'failed'),
    attempt(8, 'd', 'failed'),
  ]
  const expected: FailingFeed = {
    cause: 'store',
    at: at(8),
    message: 'refused 8',
    status: 500,
    code: undefined,
    since: at(6),
    earlier: false,
    next: at(13),
    orders: ['c', 'd'],
    accepted: at(1),
  }
  expect(failing(attempts, at(11))).toEqual([expected, expect.objectContaining({ orders: ['a'] })])
})

test('if the messages of only one order fail, names the order and when the store last accepted a message', () => {
  const attempts = [attempt(0, 'a', 'failed'), attempt(1, 'b', 'accepted'), attempt(7, 'a', 'failed')]
  const [only, ...others] = failing(attempts)
  expect(only).toMatchObject({ cause: 'orders', orders: ['a'], since: at(0), at: at(7), accepted: at(1) })
  expect(others).toEqual([])
})

test('a message that the relay cannot deliver says nothing about the store', () => {
  const foreign = {
    ...attempt(9, 'x', 'failed'),
    outcome: 'unsent' as const,
    status: undefined,
    error: 'foreign',
  }
  const [store, relay] = failing([attempt(8, 'a', 'failed'), foreign])
  expect(store).toMatchObject({ cause: 'store', orders: ['a'], since: at(8), status: 500 })
  expect(relay).toMatchObject({ cause: 'relay', orders: ['x'], since: at(9), message: 'foreign' })
})

test('a store is failing since its first failed attempt, without the time in which it had no signing secret', () => {
  const unsigned = (minutes: number, order: string) => ({
    ...attempt(minutes, order, 'failed'),
    outcome: 'unsent' as const,
    status: undefined,
    code: 'no_secret',
  })
  const attempts = [unsigned(0, 'a'), unsigned(1, 'b'), unsigned(2, 'a'), unsigned(7, 'b')]
  const failed = { ...attempt(8, 'a', 'failed'), receives: 3 }
  // The next attempt for the other order is not due yet.
  expect(failing([...attempts, failed])).toMatchObject([
    { status: 500, since: at(8), earlier: false, orders: ['a', 'b'] },
  ])
  expect(failingIn([...attempts, failed], NOW, at(0)).get('shop')).toMatchObject([{ earlier: false }])
  expect(failing(attempts)).toMatchObject([{ code: 'no_secret' }])
})

test("a disabled feed is reported with the status of the store's last response", () => {
  const disabled = {
    ...attempt(9, 'a', 'failed'),
    outcome: 'unsent' as const,
    status: undefined,
    code: 'disabled',
  }
  expect(failing([attempt(8, 'a', 'failed'), disabled])).toMatchObject([{ cause: 'store', status: 500 }])
})

test.each([
  ['is queued while its next attempt may be late', 11, ['a']],
  ['has left the queue', 13, []],
])('a message that fails %s', (_, now, orders) => {
  expect(failing([attempt(0, 'a', 'failed')], at(now)).flatMap(each => each.orders)).toEqual(orders)
})

test.each(['accepted', 'dead'] as const)('a store does not fail once its message is %s', outcome => {
  expect(failing([attempt(0, 'a', 'failed'), attempt(1, 'a', outcome)], at(2))).toEqual([])
})

test.each([
  ['an attempt before the first one that is read', 29, 2, true],
  ['no attempt before it', 29, 1, false],
  ['no attempt for so long that it was received behind another message', 31, 2, false],
])('whether a message failed earlier than read: %s', (_, minutes, receives, earlier) => {
  const found = failingIn([{ ...attempt(minutes, 'a', 'failed'), receives }], at(minutes), at(0))
  expect(found.get('shop')).toMatchObject([{ since: at(minutes), earlier }])
})

test('while no message fails, the accepted ones are not read', async () => {
  const patterns: string[] = []
  const context = relayWith([], patterns)
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

const FAILING: FailingFeed = {
  cause: 'store',
  at: at(3),
  since: at(1),
  earlier: false,
  message: 'no connection',
  next: at(2),
  orders: ['1', '2'],
  accepted: undefined,
}

test('a store without a secret is a problem, whose remedy is the command that creates the secret', () => {
  const unsigned = { ...FAILING, message: 'Cannot sign', code: 'no_secret' }
  expect(failingFindings({ flags: ' --local' }, { ...SHOP, source: 'my shop' }, [unsigned], 3)).toMatchObject(
    [
      {
        level: 'problem',
        found: { text: 'it has no signing secret' },
        remedy: "relay stores secret 'my shop' --local",
      },
    ],
  )
})

test.each<[Partial<FailingFeed>, string]>([
  [
    { status: 500, next: new Date('2999-01-01') },
    'the store "shop" last answered 500: failing since 2020-11-27T10:01:00.000Z; waiting: 3 messages; next attempt at 2999-01-01T00:00:00.000Z',
  ],
  [
    { status: 500, earlier: true },
    'the store "shop" last answered 500: failing since before 2020-11-27T10:01:00.000Z; waiting: 3 messages; the next attempt is due',
  ],
  [
    { status: 500, orders: ['1'] },
    'the store "shop" last answered 500 to the messages of order "1": failing since 2020-11-27T10:01:00.000Z; waiting: 3 messages; the next attempt is due',
  ],
  [
    {},
    'messages to the store "shop" fail: failing since 2020-11-27T10:01:00.000Z: no connection; waiting: 3 messages; the next attempt is due',
  ],
  [
    { cause: 'orders', status: 422, message: 'answers 422', orders: ['1'], accepted: at(2) },
    'the messages of order "1" to the store "shop" fail: failing since 2020-11-27T10:01:00.000Z, last at 2020-11-27T10:03:00.000Z: answers 422; the store accepts messages of other orders, the last one at 2020-11-27T10:02:00.000Z; waiting: 3 messages; the next attempt is due',
  ],
  [
    { cause: 'orders', accepted: at(2) },
    'the messages of 2 orders to the store "shop" fail: failing since 2020-11-27T10:01:00.000Z, last at 2020-11-27T10:03:00.000Z: no connection; the store accepts messages of other orders, the last one at 2020-11-27T10:02:00.000Z; waiting: 3 messages; the next attempt is due',
  ],
  [
    { cause: 'relay', message: 'not a feed message' },
    'the relay cannot deliver messages to the store "shop": failing since 2020-11-27T10:01:00.000Z: not a feed message; waiting: 3 messages; the next attempt is due',
  ],
])('the finding names the cause, the messages that wait and the next attempt (%j)', (about, words) => {
  const findings = failingFindings({ flags: '' }, SHOP, [{ ...FAILING, ...about }], 3)
  const texts = findings.map(({ check, found }) =>
    [check, found].map(text => (typeof text === 'object' ? text.text : text)).join(': '),
  )
  expect(texts).toEqual([words])
})

test.each([
  [SHOP, /secret of its feed.*raw bytes.*relay explain-signature .*: relay stores secret shop --local$/],
  [
    { source: 'shop', feed: { disable_after: 60 } },
    /secret of its feed.*raw bytes.*relay explain-signature .*register its URL again$/,
  ],
])(
  'the remedy for a store that answers 401 is to check its secret and verification (%j)',
  (store, remedy) => {
    const [finding] = failingFindings({ flags: ' --local' }, store, [{ ...FAILING, status: 401 }], 3)
    expect(finding?.remedy).toMatchObject({ text: expect.stringMatching(remedy) })
  },
)

test.each<[Partial<FailingFeed>, RegExp]>([
  [
    { status: 302 },
    /^the relay does not follow redirects\. See where .*: relay stores test shop\. If .*; if it is another page, such as a login page, /,
  ],
  [{ status: 404 }, /^check the path of the URL in stores\.yml/],
  [{ status: 500, cause: 'orders', accepted: at(2) }, /^find the error in the output of the store/],
  [{ status: 500, cause: 'orders', accepted: at(4) }, /retry those that wait: relay feeds retry shop$/],
  [{ message: 'no complete response within 10000 ms' }, /^answer within 10 seconds/],
  [{ code: 'ECONNREFUSED' }, /^check that the store is running/],
  [{ code: 'ENOTFOUND' }, /^check the host name of the URL in stores\.yml/],
  [{ code: 'CERT_HAS_EXPIRED' }, /^install a certificate that is valid/],
  // The store has not been called.
  [{ cause: 'relay', message: 'not a feed message' }, /^relay feeds list --source shop shows them/],
  [{ code: 'disabled', message: 'The feed is disabled' }, /^relay feeds list --source shop shows them/],
])('the remedy for failing messages depends on how the store answered: %j', (about, remedy) => {
  const [finding] = failingFindings({ flags: '' }, SHOP, [{ ...FAILING, ...about }], 3)
  expect(finding?.remedy).toMatchObject({ text: expect.stringMatching(remedy) })
})

test.each([
  [[401, 200], undefined],
  [
    [200, 401],
    /^the store "shop" answered 401 at 20.*: it refused the signature of the message: check that /,
  ],
  [[401, 500], /^the store "shop" answered 500 at 20.*: it did not accept the message: find the error /],
  [
    [500, undefined],
    /^the store "shop" did not answer at 20.*: Cannot reach the store: check that the store /,
  ],
])('the list of attempts has a remedy unless the last message was accepted: %j', async (statuses, text) => {
  const context = relayWith(
    statuses.map((status, index) => ({
      level: 'WARN',
      message: status === 200 ? 'feed message delivered' : 'feed message retried',
      timestamp: new Date(Date.now() - 60_000 + index * 1000).toISOString(),
      source: 'shop',
      ms: 1,
      status,
      ...(status !== 200 && { error: { message: 'Cannot reach the store' } }),
    })),
  )
  const { attempts, findings } = await listAttempts(context, {
    since: new Date(Date.now() - 3_600_000),
    limit: 10,
  })
  expect(attempts).toHaveLength(2)
  const texts = findings.map(({ check, found, remedy = '' }) => [check, found, remedy].map(textOf).join(': '))
  expect(texts).toEqual(text === undefined ? [] : [expect.stringMatching(text)])
})

test('no further attempt is planned for a message to a removed store', async () => {
  const retried = { level: 'WARN', message: 'feed message retried', seconds: 60, ms: 1, status: 503 }
  const timestamp = new Date(Date.now() - 1000).toISOString()
  const context = relayWith(['shop', 'removed'].map(source => ({ ...retried, timestamp, source })))
  const { attempts } = await listAttempts(context, { since: new Date(Date.now() - 3_600_000), limit: 10 })
  expect(attempts.map(each => [each.source, 'next_at' in each]).toSorted()).toEqual([
    ['removed', false],
    ['shop', true],
  ])
})
