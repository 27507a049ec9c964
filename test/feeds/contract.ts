import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { FeedMessage as Received } from '../../kit/src/messages.ts'
import { onceInMemory } from '../../kit/src/once.ts'
import type { FeedMessage, Publish } from '../../lib/orders/feed.ts'
import { until } from '../support/until.ts'

/** A feed under test, from publishing a message to the store that receives it. */
type FeedUnderTest = { publish: Publish; close: () => Promise<void> }

/** Starts a feed to a store that accepts every message for which `receive` does not throw. */
export type StartFeed = (source: string, receive: (message: Received) => void) => Promise<FeedUnderTest>

let sources = 0

/** What every feed guarantees (P9), by whatever transport. */
export const feedContract = (name: string, start: StartFeed) =>
  describe(`a feed by ${name}`, () => {
    let source: string
    let feed: FeedUnderTest
    let received: Received[]
    let accepted: Received[]
    let refuses: (message: Received) => boolean

    const updated = (external_id: string, version: number, data: object = {}): FeedMessage => ({
      event: 'order.updated',
      delivery: randomUUID(),
      version,
      cause: { event: 'order.payment', delivery: randomUUID() },
      data: { source, external_id, status: 'paid', total: '1500000', ...data },
    })
    const versions = (external_id: string, messages = accepted) =>
      messages.filter(({ data }) => data.external_id === external_id).map(({ version }) => version)

    beforeEach(async () => {
      source = `shop.ir ${sources++}`
      received = []
      accepted = []
      refuses = () => false
      feed = await start(source, message => {
        received.push(message)
        if (refuses(message)) throw new Error('The store refuses the message')
        accepted.push(message)
      })
    })
    afterEach(() => feed.close())

    test('delivers messages unchanged, in any script', async () => {
      const messages: FeedMessage[] = [
        updated('سفارش/۱۲ 😀 \u0000\uFFFF', 1, {
          error: 'موجودی "کافی" نیست',
          more: { a: [null, 0.1, '</script>'] },
        }),
        {
          ...updated('1', 1),
          event: 'order.rejected',
          data: {
            source,
            external_id: '1',
            request: 'refund',
            id: randomUUID(),
            error: { status: 400, message: 'خیر' },
          },
        },
      ]
      for (const message of messages) await feed.publish(message)
      await until(() => accepted.length >= messages.length)
      for (const message of messages) {
        // The types of the package admit every message that the relay publishes.
        const expected: Received = message
        expect(accepted).toContainEqual(expected)
      }
    })

    test('delivers the messages of one order in order', async () => {
      for (let version = 1; version <= 4; version++) {
        for (const id of ['a', 'b']) await feed.publish(updated(id, version))
      }
      await until(() => accepted.length >= 8)
      expect(versions('a')).toEqual([1, 2, 3, 4])
      expect(versions('b')).toEqual([1, 2, 3, 4])
    })

    test('repeats what the store refuses, and meanwhile delivers other orders', async () => {
      let open = false
      refuses = ({ data }) => data.external_id === 'a' && !open
      await feed.publish(updated('a', 1))
      await feed.publish(updated('a', 2))
      await until(() => received.length > 0)
      await feed.publish(updated('b', 1))
      await until(() => versions('b').length > 0)
      await until(() => versions('a', received).length >= 2)
      // Nothing overtakes a message that the store has not accepted.
      expect(new Set(versions('a', received))).toEqual(new Set([1]))

      open = true
      await until(() => versions('a').length >= 2)
      expect(versions('a')).toEqual([1, 2])
      const first = received.filter(({ data, version }) => data.external_id === 'a' && version === 1)
      expect(new Set(first.map(({ delivery }) => delivery)).size).toBe(1)
    })

    test('delivers repetitions under one delivery id, so that a store applies them once', async () => {
      const message = updated('a', 1)
      for (const each of [message, message, updated('a', 2, { status: 'refunded' }), message]) {
        await feed.publish(each)
      }
      await until(() => versions('a').includes(2))
      const repetitions = accepted.filter(({ version }) => version === 1)
      expect(new Set(repetitions.map(({ delivery }) => delivery)).size).toBe(1)

      const [once, applied]: [ReturnType<typeof onceInMemory>, Received[]] = [onceInMemory(), []]
      for (const each of [...accepted, ...accepted]) await once(each, () => applied.push(each))
      expect(versions('a', applied)).toEqual([1, 2])
    })
  })
