import { readFileSync } from 'node:fs'
import { afterEach, expect, jest, test } from '@jest/globals'
import type { SQSRecord } from 'aws-lambda'
import { feeder, waitBeforeTelling } from '../../lib/feeds/feeder.ts'
import { FeedError } from '../../lib/feeds/http.ts'
import { workThrough } from '../../lib/line/batch.ts'
import { virtualClock } from '../../proof/crash/clock.ts'
import { fifoQueue, type QueuedMessage } from '../../proof/crash/queue.ts'
import { until } from '../support/until.ts'
import { hearAlarms } from './alarms.ts'
import { DAY, HOUR, MINUTE, SECOND } from './days.ts'
import { asks, inReview, lifeOf } from './lives.ts'
import { withRelay } from './relay.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

/** What deploy/feeds.cjs gives the queue of a store with an HTTP feed. */
const QUEUE = { visibility: 720 * SECOND, maxReceives: 1000 }

const STORE = { source: 'web', feed: { http: 'https://web.example/', disable_after: 24 * 60 * 60 } }

/** The real feeder on a model of a store's queue, with a clock that costs nothing. */
const feedFor = (downUntil: number, random: () => number) => {
  const clock = virtualClock(0)
  const alarms = hearAlarms(clock.now)
  const queue = fifoQueue(clock, QUEUE)
  const tried: number[] = []
  const told: { delivery: string; at: number }[] = []
  const aside: { delivery: string; at: number }[] = []
  const receivedFirst = new Map<string, number>()
  const pass = feeder({
    post: async ({ delivery }) => {
      tried.push(clock.now())
      if (clock.now() < downUntil) throw new FeedError('Cannot tell the store: it answered 503')
      told.push({ delivery, at: clock.now() })
    },
    secretOf: async () => 'secret',
    putAside: async ({ body }) => {
      aside.push({ delivery: JSON.parse(body).delivery, at: clock.now() })
    },
    now: clock.now,
  })
  const failed = waitBeforeTelling(
    async (records, seconds) => {
      for (const { receiptHandle } of records) queue.hide(receiptHandle, seconds * SECOND)
    },
    random,
    clock.now,
  )
  const recordOf = ({ id, body, group, receives, sentAt }: QueuedMessage, handle: string): SQSRecord => ({
    ...{ messageId: id, receiptHandle: handle, body, messageAttributes: {}, md5OfBody: '' },
    ...{ eventSource: 'aws:sqs', eventSourceARN: '', awsRegion: '' },
    attributes: {
      MessageGroupId: group,
      ApproximateReceiveCount: String(receives),
      SentTimestamp: String(sentAt),
      ApproximateFirstReceiveTimestamp: String(receivedFirst.get(id)),
      SenderId: '',
    },
  })
  const poll = async () => {
    const batch = queue.receive(10)
    if (batch.length === 0) return
    for (const { id } of batch) if (!receivedFirst.has(id)) receivedFirst.set(id, clock.now())
    const records = batch.map(message => recordOf(message, message.handle))
    const { batchItemFailures } = await workThrough(records, record => pass(STORE, record), failed)
    const again = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    for (const { id, handle } of batch) if (!again.has(id)) queue.remove(handle)
  }
  queue.onChange(() => clock.after(0, () => void poll()))
  return {
    clock,
    queue,
    alarms,
    tried,
    told,
    aside,
    /** News of an order. */
    news(order: string, version: number) {
      const delivery = `${order} ${version}`
      const body = JSON.stringify({ event: 'order.updated', delivery, version, data: { source: 'web' } })
      queue.send({ group: order, dedup: delivery, body })
    },
  }
}

test('an endpoint that is down for nine days hears everything in order within forty minutes after', async () => {
  const feed = feedFor(9 * DAY, () => 0.5)
  for (const [version, day] of [0, 0, 1, 5, 8.9].entries())
    feed.clock.after(day * DAY, () => feed.news('a', version + 1))
  for (let order = 0; order < 20; order++)
    feed.clock.after(3 * DAY + order * MINUTE, () => feed.news(`b${order}`, 1))
  expect(await feed.clock.pass(20 * DAY)).toBe(true)

  const told = (order: string) => feed.told.filter(({ delivery }) => delivery.startsWith(order))
  expect(told('a').map(({ delivery }) => delivery)).toEqual(['a 1', 'a 2', 'a 3', 'a 4', 'a 5'])
  expect(told('b')).toHaveLength(20)
  expect(feed.told.every(({ at }) => at < 9 * DAY + 40 * MINUTE)).toBe(true)
  expect([...feed.queue.dead(), ...feed.aside]).toEqual([])
  // Probed once in a quarter of an hour, however many messages wait.
  const onDaySix = feed.tried.filter(at => at > 5 * DAY && at <= 6 * DAY)
  expect(onDaySix.length).toBeLessThanOrEqual(4 * 24)

  expect(feed.alarms.all()).toEqual(['feed-disabled', 'feed-stuck'])
  expect(feed.alarms.rang('feed-stuck')).toBeGreaterThan(HOUR)
  expect(feed.alarms.rang('feed-stuck')).toBeLessThan(1.3 * HOUR)
  expect(feed.alarms.rang('feed-disabled')).toBeGreaterThan(DAY)
  expect(feed.alarms.rang('feed-disabled')).toBeLessThan(DAY + 0.3 * HOUR)
})

test.each([0, 0.5, 1])(
  'what is not taken for thirteen days is put aside then, and not before: luck %s',
  async luck => {
    const feed = feedFor(Number.POSITIVE_INFINITY, () => luck)
    for (const version of [1, 2]) feed.news('a', version)
    expect(await feed.clock.pass(20 * DAY)).toBe(true)
    expect(feed.queue.dead()).toEqual([])
    expect(feed.aside.map(({ delivery }) => delivery)).toEqual(['a 1', 'a 2'])
    for (const { at } of feed.aside) {
      expect(at).toBeGreaterThan(13 * DAY)
      expect(at).toBeLessThan(13 * DAY + 0.5 * HOUR)
    }
  },
)

test('an endpoint that keeps quiet is noticed at every probe, so that its alarm does not go out', async () => {
  const feed = feedFor(Number.POSITIVE_INFINITY, () => 1)
  const silent: number[] = []
  feed.news('a', 1)
  for (let at = 1.1 * DAY; at < 12 * DAY; at += 10 * MINUTE)
    feed.clock.after(at, () => {
      if (!feed.alarms.rings('feed-disabled') || !feed.alarms.rings('feed-stuck')) silent.push(at)
    })
  await feed.clock.pass(20 * DAY)
  expect(silent).toEqual([])
})

test('the queue of the model is the one that is deployed', () => {
  const declared = readFileSync('deploy/feeds.cjs', 'utf8')
  expect(declared).toContain(`VisibilityTimeout: ${QUEUE.visibility / SECOND}`)
  expect(declared).toContain(`maxReceiveCount: ${QUEUE.maxReceives}`)
})

test('other stores hear at once, and in the end the store that was away knows as much as they', () =>
  withRelay(async relay => {
    const lives = [lifeOf('o00001', 'shop'), lifeOf('o00002', 'web', { returns: true })] as const
    const [, web] = lives
    relay.suffers(link => (link === 'feeder to store' ? 'reset before' : undefined))
    for (const life of lives) await inReview(relay, life)
    for (const { source, id } of lives) expect(await relay.sandbox.mend(source, id)).toBe(true)
    expect(await asks(relay, web, 'refund')).toBe(202)
    await until(async () => (await relay.undelivered(lives)) === 0)
    for (let passed = 0; passed < 90; passed += 15) {
      await relay.work()
      relay.pass(15 * MINUTE)
    }
    expect(relay.ears.of('o00001').at(-1)).toMatchObject({ data: { status: 'paid' } })
    expect(relay.ears.of('o00002')).toEqual([])
    expect(relay.alarms.all()).toEqual(['feed-stuck'])

    relay.recovers()
    await relay.settle(lives)
    expect(await relay.complaints(lives)).toEqual([])
  }))
