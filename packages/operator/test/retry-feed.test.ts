import { expect, test } from '@jest/globals'
import { attemptItem } from '@order-relay/lib/feeds/attempts.ts'
import { QUEUES } from '@order-relay/lib/platform/names.ts'
import type { Context } from '../core/context.ts'
import type { ReadDead } from '../feeds/dead.ts'
import { retriedText, retryStore } from '../feeds/retry.ts'

const SHOP = { source: 'shop', feed: { http: 'https://shop.example', disable_after: 60 } }

test('a message that becomes a dead letter because of its retry is counted once', async () => {
  const now = new Date().toISOString()
  const next = { seconds: 600, external_id: '1', delivery: 'd' }
  const line = { level: 'WARN', message: 'feed message retried', timestamp: now, source: 'shop', ...next }
  const key = { source: 'shop', external_id: '1' }
  const next_at = new Date(Date.now() + 600_000).toISOString()
  const attempt = attemptItem(key, {
    at: now,
    delivery: 'd',
    receives: 1000,
    outcome: 'failed',
    next_at,
    handle: 'h',
  })
  const dead: { source: string; queue: string }[] = []
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
        yield { Items: [attempt] }
      },
    },
    sqs: {
      getQueueAttributes: async () => ({ Attributes: { ApproximateNumberOfMessages: `${dead.length}` } }),
      // The message has been received too often: SQS moves it as soon as it is visible.
      changeMessageVisibility: async () => dead.push({ source: 'shop', queue: QUEUES.feedsDead }),
    },
  } as unknown as Context
  const readDead = (async () => ({ messages: dead, hidden: 0 })) as unknown as ReadDead
  const retry = () =>
    retryStore(context, 'shop', Number.POSITIVE_INFINITY, new AbortController().signal, readDead)
  expect(await retry()).toEqual({ retried: 1, dead: 0, more_dead: false })
  expect(dead).toHaveLength(1)
})

test('says that there may be more dead letters than those that can be read', () => {
  const textOf = (more_dead: boolean) => retriedText({ retried: 2, dead: 3, more_dead })
  expect(textOf(false)).toMatch(/retried in sequence: 2\. Dead letters, which only a replay retries: 3$/)
  expect(textOf(true)).toMatch(/which only a replay retries: at least 3$/)
})
