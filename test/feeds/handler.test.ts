import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import type { SQSRecord } from 'aws-lambda'
import { asideQueue } from '../../lib/feeds/aside.ts'
import { feeder, waitBeforeTelling } from '../../lib/feeds/feeder.ts'
import { FeedError } from '../../lib/feeds/http.ts'
import { feedSecrets } from '../../lib/feeds/secrets.ts'
import { createQueue, drain, type Parts, startParts } from '../support/parts.ts'
import { hearTelemetry } from '../support/telemetry.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.parse('2026-03-01T00:00:00Z')

const store = { source: 'shop', feed: { http: 'https://shop.example/', disable_after: 24 * 60 * 60 } }

let now: number
let posted: string[]
let aside: string[]
let answers: (delivery: string) => void
let counted: string[]
let pass: (record: SQSRecord) => Promise<void>

/** A message of an order of its own, sent and first received at START unless said otherwise. */
const record = (delivery: string, { sent = START, receives = 1 } = {}): SQSRecord => ({
  messageId: delivery,
  receiptHandle: delivery,
  body: JSON.stringify({ event: 'order.updated', delivery, version: 1, data: { source: 'shop' } }),
  attributes: {
    MessageGroupId: delivery,
    ApproximateReceiveCount: String(receives),
    SentTimestamp: String(sent),
    ApproximateFirstReceiveTimestamp: String(sent),
    SenderId: '',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: '',
  awsRegion: '',
})

beforeEach(() => {
  ;({ counted } = hearTelemetry())
  now = START
  posted = []
  aside = []
  answers = () => undefined
  const handle = feeder({
    post: async ({ delivery }) => {
      posted.push(delivery)
      answers(delivery)
    },
    secretOf: async () => 'secret',
    putAside: async ({ messageId }) => {
      aside.push(messageId)
    },
    now: () => now,
  })
  pass = message => handle(store, message)
})
afterEach(() => {
  jest.restoreAllMocks()
})

const down = () => {
  throw new FeedError('Cannot tell the store: it answered 500')
}

describe('an endpoint that fails', () => {
  beforeEach(() => {
    answers = down
  })

  test('is tried with every message for as long as stores.yml says', async () => {
    now = START + 24 * HOUR - 1
    for (const id of ['a', 'b', 'c']) await expect(pass(record(id))).rejects.toThrow('500')
    expect(posted).toEqual(['a', 'b', 'c'])
    expect(counted).not.toContain('FeedDisabled')
  })

  test('counts as disabled after that: an alarm, and one probe in a quarter of an hour', async () => {
    now = START + 24 * HOUR
    await expect(pass(record('a'))).rejects.toThrow('500')
    expect(counted).toContain('FeedDisabled')

    now += 14 * MINUTE
    const others = await Promise.allSettled(['b', 'c'].map(id => pass(record(id, { sent: now }))))
    expect(others.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(pass(record('d'))).rejects.toMatchObject({ name: 'FeedError', retryAfter: 60 })
    expect(posted).toEqual(['a'])

    now += MINUTE
    const probes = await Promise.allSettled(['b', 'c', 'd'].map(id => pass(record(id, { sent: now }))))
    expect(probes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(posted).toEqual(['a', 'b'])
  })

  test('recovers by itself at the first probe that is taken', async () => {
    now = START + 2 * DAY
    await expect(pass(record('a'))).rejects.toThrow('500')
    answers = () => undefined
    now += 15 * MINUTE
    for (const id of ['b', 'a', 'c']) await pass(record(id))
    expect(posted).toEqual(['a', 'b', 'a', 'c'])
  })

  test('loses nothing: what it has not taken after thirteen days is put aside, tried or not', async () => {
    now = START + 13 * DAY - 1
    await expect(pass(record('a'))).rejects.toThrow('500')
    now += 1
    await pass(record('a'))
    await pass(record('behind a'))
    expect(aside).toEqual(['a', 'behind a'])
    expect(posted).toEqual(['a'])
    expect(counted.filter(metric => metric === 'FeedPutAside')).toHaveLength(2)
    await expect(pass(record('young', { sent: now }))).rejects.toThrow('left alone')
  })
})

test('a message that alone is never taken raises the alarm and does not stop the others', async () => {
  answers = delivery => {
    if (delivery === 'poison') down()
  }
  now = START + 2 * DAY
  await pass(record('a', { sent: now }))
  for (let probe = 0; probe < 3; probe++) {
    now += 15 * MINUTE
    await expect(pass(record('poison'))).rejects.toThrow('500')
    await pass(record(`after ${probe}`, { sent: now }))
  }
  expect(posted.filter(id => id.startsWith('after'))).toHaveLength(3)
  expect(counted).toContain('FeedDisabled')
})

describe('the secret of a store', () => {
  const setUp = () => {
    const state: { stored: Record<string, string>; loads: number } = { stored: { other: 'x' }, loads: 0 }
    const load = async () => {
      state.loads++
      return state.stored
    }
    return { state, secretOf: feedSecrets(load, '/order-relay/production/feed-secrets', () => now) }
  }

  test('that is missing is an error which says where it belongs and how it gets there', async () => {
    await expect(setUp().secretOf('shop')).rejects.toThrow(
      'Cannot sign for the store "shop": there is no /order-relay/production/feed-secrets/shop in Parameter Store; make it with "npx relay stores secret shop"',
    )
  })

  test('is found within a minute once it is there, and missing it costs a call a minute', async () => {
    const { state, secretOf } = setUp()
    for (let count = 0; count < 10; count++) await expect(secretOf('shop')).rejects.toThrow()
    expect(state.loads).toBe(2)
    state.stored = { shop: 'whsec' }
    now += MINUTE
    expect(await secretOf('shop')).toBe('whsec')
    expect(await secretOf('shop')).toBe('whsec')
    expect(state.loads).toBe(3)
  })
})

describe('what failed', () => {
  const waits = async (error: unknown, receives: number) => {
    const calls: { ids: string[]; seconds: number }[] = []
    const wait = waitBeforeTelling(
      async (records, seconds) => {
        calls.push({ ids: records.map(({ messageId }) => messageId), seconds })
      },
      () => 1,
    )
    await wait(error, record('first', { receives }), [record('second'), record('third')])
    return calls
  }

  test('waits longer each time, and what is behind it in its order with it', async () => {
    expect(await waits(new Error('x'), 1)).toEqual([{ ids: ['first', 'second', 'third'], seconds: 5 }])
    expect(await waits(new Error('x'), 4)).toMatchObject([{ seconds: 40 }])
    expect(await waits(new Error('x'), 100)).toMatchObject([{ seconds: 900 }])
  })

  test('waits so long after a hundred receives that a thousand last for thirteen days', async () => {
    const [wait] = await waits(new Error('x'), 101)
    expect(wait?.seconds).toBeGreaterThanOrEqual((13 * DAY) / 1000 / 900)
    // Shorter than the period of its alarms, which would else go out in between.
    expect(wait?.seconds).toBeLessThan(25 * 60)
  })

  test('waits as long as the store asks', async () => {
    const [wait] = await waits(new FeedError('x', { retryAfter: 3600 }), 1)
    expect(wait?.seconds).toBeGreaterThanOrEqual(3600)
    expect(wait?.seconds).toBeLessThan(4000)
  })
})

describe('what is put aside', () => {
  let parts: Parts
  beforeAll(async () => {
    parts = await startParts()
  })
  afterAll(() => parts.close())

  test('waits in the dead-letter queue as it was, in the group of its order', async () => {
    const url = await createQueue(parts.sqs, 'feeds-dead.fifo')
    const message = record('a')
    await asideQueue(parts.sqs, url)(message)
    const [kept, ...more] = await drain(parts.sqs, url)
    expect(more).toEqual([])
    expect(kept).toMatchObject({ Body: message.body, Attributes: { MessageGroupId: 'a' } })
  })
})
