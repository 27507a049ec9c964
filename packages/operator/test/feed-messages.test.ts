import { expect, test } from '@jest/globals'
import type { Attempt } from '@order-relay/lib/feeds/attempts.ts'
import type { HistoryEntry } from '@order-relay/lib/orders/history.ts'
import { messageViews, withNewSecret } from '../feeds/messages.ts'
import { undeliveredTexts } from '../feeds/undelivered.ts'

const NOW = Date.parse('2026-03-02T00:00:00Z')
const HOUR_AGO = new Date(NOW - 3_600_000).toISOString()

/** An order with the messages `1` to `count`, one for each version. */
const published = (count: number, at = HOUR_AGO): HistoryEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    source: 'web',
    external_id: '1',
    at,
    event: 'order.check',
    delivery: 'd',
    settled: true,
    version: count - index,
    calls: [],
    requests: [],
    published: [{ event: 'order.updated' as const, delivery: String(count - index) }],
  }))

const attempt = (delivery: string, outcome: Attempt['outcome'], receives = 1): Attempt => ({
  at: HOUR_AGO,
  delivery,
  outcome,
  receives,
  ...(outcome === 'failed' && { status: 500, next_at: new Date(NOW + 60_000).toISOString(), handle: 'h' }),
})

/** Dead letters, all since the same time. */
const since = (deliveries: readonly string[]) => new Map(deliveries.map(delivery => [delivery, HOUR_AGO]))

/** The states of the messages, oldest first. */
const statesOf = (
  entries: HistoryEntry[],
  attempts: Attempt[],
  {
    feed = 'http',
    queued = 1,
    dead = [],
    recorded = 'all',
  }: { feed?: 'sqs' | 'http' | 'removed'; queued?: number; dead?: string[]; recorded?: string } = {},
) =>
  messageViews(entries, attempts, { feed, queued, dead: since(dead), recorded, now: NOW })
    .map(view => (view.state === 'queued' && view.behind ? `behind ${view.behind}` : view.state))
    .toReversed()

test('a message is accepted only if an attempt succeeded; others fail or wait behind it', () => {
  const attempts = [attempt('2', 'failed', 2), attempt('2', 'failed'), attempt('1', 'accepted')]
  expect(statesOf(published(4), attempts)).toEqual(['accepted', 'failing', 'behind 2', 'behind 2'])
  expect(statesOf(published(2), [attempt('1', 'unsent')])).toEqual(['unsent', 'behind 1'])
  expect(statesOf(published(2), [attempt('1', 'dead')])).toEqual(['dead', 'queued'])
  expect(statesOf(published(1), [attempt('1', 'accepted', 3), attempt('1', 'dead', 2)])).toEqual(['accepted'])
})

test('a message without an attempt is queued while it can be, and otherwise unrecorded', () => {
  expect(statesOf(published(2), [])).toEqual(['queued', 'queued'])
  expect(statesOf(published(2), [], { queued: 0 })).toEqual(['unrecorded', 'unrecorded'])
  expect(statesOf(published(1, new Date(NOW - 1000).toISOString()), [], { queued: 0 })).toEqual(['queued'])
  expect(statesOf(published(1, '2026-01-01T00:00:00Z'), [])).toEqual(['unrecorded'])
  // A later one has left the queue.
  expect(statesOf(published(3), [attempt('2', 'accepted')])).toEqual(['unrecorded', 'accepted', 'queued'])
  expect(statesOf(published(1), [attempt('1', 'failed')], { queued: 0 })).toEqual(['unrecorded'])
})

test('with the setting "failures", a message that has left the queue without a failure is shown as accepted', () => {
  const recorded = 'failures'
  expect(statesOf(published(2), [], { recorded })).toEqual(['not failed', 'not failed'])
  expect(statesOf(published(2), [], { recorded, queued: 0 })).toEqual(['accepted', 'accepted'])
  expect(statesOf(published(3), [attempt('2', 'failed')], { recorded })).toEqual([
    'accepted',
    'failing',
    'behind 2',
  ])
  expect(statesOf(published(1, '2026-01-01T00:00:00Z'), [], { recorded, queued: 0 })).toEqual(['unrecorded'])
})

test('a message to an SQS feed is shown as sent unless it is a dead letter', () => {
  expect(statesOf(published(2), [], { feed: 'sqs' })).toEqual(['sent', 'sent'])
  expect(statesOf(published(2), [], { feed: 'sqs', dead: ['1'] })).toEqual(['dead', 'sent'])
})

test('a message to a removed store is shown with its last attempt, or as unrecorded if there was none', () => {
  const attempts = [attempt('2', 'failed'), attempt('1', 'accepted')]
  const removed = { feed: 'removed', queued: 0, recorded: 'failures' } as const
  const now = new Date(NOW).toISOString()
  expect(statesOf(published(3, now), attempts, removed)).toEqual(['accepted', 'stopped', 'unrecorded'])
})

test('a message whose dead letter was deleted neither fails nor blocks others', () => {
  const attempts = [attempt('1', 'deleted'), attempt('1', 'failed')]
  expect(statesOf(published(1), attempts)).toEqual(['deleted'])
  expect(statesOf(published(1), attempts, { queued: 0, recorded: 'failures' })).toEqual(['deleted'])
  const later = [attempt('1', 'deleted'), attempt('2', 'failed'), attempt('1', 'dead')]
  expect(statesOf(published(3), later)).toEqual(['deleted', 'failing', 'behind 2'])
  expect(statesOf(published(1), [attempt('1', 'deleted')], { feed: 'sqs' })).toEqual(['deleted'])
})

test('a replayed dead letter is queued again until its next attempt, and neither fails nor blocks others', () => {
  const attempts = [attempt('1', 'replayed'), attempt('1', 'dead'), attempt('1', 'failed')]
  expect(statesOf(published(2), attempts)).toEqual(['queued', 'queued'])
  expect(statesOf(published(1), [attempt('1', 'failed'), ...attempts])).toEqual(['failing'])
  expect(statesOf(published(1), [attempt('1', 'accepted'), ...attempts])).toEqual(['accepted'])
  expect(statesOf(published(1), attempts, { dead: ['1'] })).toEqual(['dead'])
  expect(statesOf(published(1), attempts, { queued: 0 })).toEqual(['unrecorded'])
  // A success without an earlier failure is not recorded.
  expect(statesOf(published(1), attempts, { queued: 0, recorded: 'failures' })).toEqual(['accepted'])
  // It is behind the messages that were queued in the meantime.
  const behind = [attempt('1', 'replayed'), attempt('2', 'failed'), attempt('1', 'dead')]
  expect(statesOf(published(2), behind)).toEqual(['behind 2', 'failing'])
  expect(statesOf(published(2), [...behind.slice(0, 1), attempt('2', 'accepted')])).toEqual([
    'queued',
    'accepted',
  ])
  // SQS keeps it as long as a new message.
  const old = published(1, '2026-01-01T00:00:00Z')
  expect(statesOf(old, [attempt('1', 'failed'), ...attempts])).toEqual(['failing'])
})

test('a message among the dead letters is shown as one, even if its last recorded attempt has another outcome', () => {
  expect(statesOf(published(2), [attempt('1', 'failed')], { dead: ['1'] })).toEqual(['dead', 'queued'])
})

test('no further attempt is planned for a message that is a dead letter or was deleted', () => {
  const attempts = [attempt('1', 'failed')]
  const circumstances = { feed: 'http', queued: 1, recorded: 'all', now: NOW } as const
  const [dead] = messageViews(published(1), attempts, { ...circumstances, dead: since(['1']) })
  expect(dead).toMatchObject({ state: 'dead', since: HOUR_AGO, last: { status: 500 } })
  const deletion = [attempt('1', 'deleted'), ...attempts]
  const [deleted] = messageViews(published(1), deletion, { ...circumstances, dead: since([]) })
  expect(JSON.stringify([dead, deleted])).not.toContain('next_at')
})

test('an overdue message may be a dead letter that is hidden behind another message of its order', () => {
  const attempts = [
    { ...attempt('2', 'failed'), next_at: new Date(NOW - 1000).toISOString() },
    attempt('1', 'failed'),
  ]
  const circumstances = { feed: 'http', queued: 1, recorded: 'all', now: NOW } as const
  const viewsWith = (hidden: number) =>
    messageViews(published(2), attempts, { ...circumstances, dead: since(['1']), hidden })
  expect(viewsWith(0).map(({ state }) => state)).toEqual(['failing', 'dead'])
  expect(viewsWith(1).map(({ state }) => state)).toEqual(['failing or dead', 'dead'])
  expect(JSON.stringify(viewsWith(1))).not.toContain('next_at')
})

test('with the setting "failures", a message that failed and has left the queue is not shown as accepted', () => {
  const gone = { queued: 0, recorded: 'failures' }
  expect(statesOf(published(1), [attempt('1', 'failed')], gone)).toEqual(['unrecorded'])
})

test('a receipt handle is not shown', () => {
  const [view] = messageViews(published(1), [attempt('1', 'failed')], {
    feed: 'http',
    queued: 1,
    dead: since([]),
    recorded: 'all',
    now: NOW,
  })
  expect(JSON.stringify(view)).not.toContain('handle')
  expect(view?.attempts).toHaveLength(1)
})

test('a message that was not sent for lack of a signing secret says whether the store has one now', async () => {
  const unsigned = { ...attempt('1', 'unsent'), code: 'no_secret', error: 'Cannot sign' }
  const now = { feed: 'http', queued: 1, dead: new Map(), recorded: 'all', now: NOW } as const
  const views = messageViews(published(1), [unsigned], now)
  const textOf = async (hasSecret: boolean) =>
    undeliveredTexts(
      { flags: '' },
      { source: 'web', external_id: '1' },
      await withNewSecret(views, async () => hasSecret),
      [],
      NOW,
    ).join()
  expect(await textOf(true)).toContain(
    `the store had no signing secret at ${HOUR_AGO}, and has one now; the next attempt is due`,
  )
  expect(await textOf(false)).toContain(`the store was not called at ${HOUR_AGO}: Cannot sign`)
})
