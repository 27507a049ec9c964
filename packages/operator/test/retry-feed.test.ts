import { expect, test } from '@jest/globals'
import { type Attempt, attemptItem } from '@order-relay/lib/feeds/attempts.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import type { ReadDead } from '../feeds/dead.ts'
import { retriedText, retryStore } from '../feeds/retry.ts'

const SHOP = { source: 'shop', feed: { http: 'https://shop.example', disable_after: 60 } }

const key = { source: 'shop', external_id: '1' }
const now = new Date().toISOString()
const next_at = new Date(Date.now() + 600_000).toISOString()
const FAILED = { at: now, delivery: 'd', receives: 7, outcome: 'failed', next_at, handle: 'h' } as const

/** Retries a store with one failing message. @param release makes the message visible; returns the attempts afterwards */
const retry = async (
  release: (stop: () => void) => readonly Attempt[],
  dead: { source: string; queue: string }[] = [],
) => {
  const next = { seconds: 600, external_id: '1', delivery: 'd' }
  const line = { level: 'WARN', message: 'feed message retried', timestamp: now, source: 'shop', ...next }
  const stop = new AbortController()
  let attempts: readonly Attempt[] = [FAILED]
  const context = {
    local: false,
    flags: '',
    terminal: { stderr: { isTTY: false } },
    stores: () => [SHOP],
    nameOf: (name: string) => name,
    queueUrl: async (name: string) => name,
    aws: {
      logs: async () => ({
        async *paginateFilterLogEvents() {
          yield { events: [{ timestamp: Date.now(), message: JSON.stringify(line) }] }
        },
      }),
    },
    stack: async () => ({ functions: { feeder: { name: 'feeder' } } }),
    dynamodb: {
      async *paginateQuery() {
        yield { Items: attempts.map(attempt => attemptItem(key, attempt)) }
      },
    },
    sqs: {
      getQueueAttributes: async () => ({ Attributes: { ApproximateNumberOfMessages: `${dead.length}` } }),
      changeMessageVisibility: async () => {
        attempts = release(() => stop.abort())
      },
    },
  } as unknown as Context
  const readDead = (async () => ({ messages: dead, hidden: 0 })) as unknown as ReadDead
  return retryStore(context, 'shop', Number.POSITIVE_INFINITY, stop.signal, readDead)
}

test('a message that becomes a dead letter because of its retry is counted once', async () => {
  const dead: { source: string; queue: string }[] = []
  const done = await retry(stop => {
    // The message has been received too often: SQS moves it as soon as it is visible.
    dead.push({ source: 'shop', queue: QUEUES.feedsDead })
    stop()
    return [FAILED]
  }, dead)
  expect(done).toMatchObject({ retried: 1, unknown: 1, dead: 0, more_dead: false })
  expect(dead).toHaveLength(1)
})

test.each([
  ['accepted', 'Accepted: 1. Failed again: 0'],
  ['failed', 'Accepted: 0. Failed again: 1'],
  ['unsent', 'Accepted: 0. Failed again: 0. Not sent: 1'],
] as const)('says that a retry was %s', async (outcome, text) => {
  const done = await retry(() => [{ ...FAILED, receives: 8, outcome }, FAILED])
  expect(retriedText(done)).toBe(`Orders whose first waiting message was retried: 1. ${text}`)
})

test('says that there may be more dead letters than those that can be read', () => {
  const outcomes = { accepted: 1, failed: 0, unsent: 0, unknown: 1 }
  const textOf = (more_dead: boolean) => retriedText({ retried: 2, ...outcomes, dead: 3, more_dead })
  expect(textOf(false)).toMatch(/Not ended yet: 1\. Dead letters, which only a replay retries: 3$/)
  expect(textOf(true)).toMatch(/which only a replay retries: at least 3$/)
})
