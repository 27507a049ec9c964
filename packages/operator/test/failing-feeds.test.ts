import { expect, test } from '@jest/globals'
import type { FailingFeed } from '../feeds/failing.ts'
import { failingFinding, failingIn } from '../feeds/failing.ts'

/** A time, in minutes. */
const at = (minutes: number) => new Date(Date.UTC(2020, 10, 27, 10, minutes))

const attempt = (minutes: number, external_id: string, outcome: 'accepted' | 'failed' | 'dead') => ({
  ...{ at: at(minutes), source: 'shop', external_id, outcome, delivery: external_id },
  ...(outcome !== 'accepted' && { error: `refused ${minutes}`, status: 500, next_at: at(minutes + 7) }),
})

test('a store fails as long as it has not accepted a message that it refused, whatever else it accepts', () => {
  const failing = failingIn([
    attempt(0, 'a', 'failed'),
    attempt(1, 'b', 'failed'),
    attempt(2, 'a', 'accepted'),
    attempt(3, 'b', 'failed'),
    attempt(4, 'c', 'accepted'),
  ])
  const expected: FailingFeed = { at: at(3), message: 'refused 3', status: 500, since: at(1), next: at(10) }
  expect([...failing]).toEqual([['shop', expected]])
})

test('a store that has accepted all its messages does not fail', () => {
  expect([...failingIn([attempt(0, 'a', 'failed'), attempt(1, 'a', 'accepted')])]).toEqual([])
})

test('the finding about a store without a secret is the command that creates it', () => {
  const failing = { at: at(1), since: at(1), message: 'Cannot sign', code: 'no_secret', next: undefined }
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
    { status: undefined, next: at(2) },
    'messages to the store "shop" fail: since 2020-11-27T10:01:00.000Z: no connection; waiting: 3 messages; the next attempt is due',
  ],
])('the finding names the cause, the messages that wait and the next attempt (%j)', (about, words) => {
  const failing = { at: at(1), since: at(1), message: 'no connection', ...about }
  const { check, found } = failingFinding({ flags: '' }, 'shop', failing, 3)
  expect([check, found].map(text => (typeof text === 'object' ? text.text : text)).join(': ')).toBe(words)
})
