import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { type FeedMessage as Heard, shop } from '../../examples/shop.ts'
import type { FeedMessage } from '../../lib/feeds/message.ts'
import type { Tell } from '../../lib/feeds/sqs.ts'
import { hearTelemetry } from '../support/telemetry.ts'
import { until } from '../support/until.ts'

/** A feed under test: tell it something, and the store hears it. */
type FeedUnderTest = { tell: Tell; close: () => Promise<void> }

/** Starts a feed to a store that takes what `hear` does not throw at. */
export type StartFeed = (source: string, hear: (message: Heard) => void) => Promise<FeedUnderTest>

let sources = 0

/** What every feed promises (P9), whatever carries it. */
export const feedContract = (name: string, start: StartFeed) =>
  describe(`a feed by ${name}`, () => {
    let source: string
    let feed: FeedUnderTest
    let heard: Heard[]
    let taken: Heard[]
    let refuses: (message: Heard) => boolean

    const updated = (external_id: string, version: number, data: object = {}): FeedMessage => ({
      event: 'order.updated',
      delivery: randomUUID(),
      version,
      cause: { event: 'order.payment', delivery: randomUUID() },
      data: { source, external_id, status: 'paid', total: '1500000', ...data },
    })
    const versions = (external_id: string, messages = taken) =>
      messages.filter(({ data }) => data.external_id === external_id).map(({ version }) => version)

    beforeEach(async () => {
      hearTelemetry()
      jest.spyOn(console, 'error').mockImplementation(() => undefined)
      source = `shop-${sources++}`
      heard = []
      taken = []
      refuses = () => false
      feed = await start(source, message => {
        heard.push(message)
        if (refuses(message)) throw new Error('The shop is not in the mood')
        taken.push(message)
      })
    })
    afterEach(async () => {
      await feed.close()
      jest.restoreAllMocks()
    })

    test('tells a message as it is, in any script', async () => {
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
      for (const message of messages) await feed.tell(message)
      await until(() => taken.length >= messages.length)
      for (const message of messages) expect(taken).toContainEqual(message)
    })

    test('tells one order in order, and orders side by side', async () => {
      for (let version = 1; version <= 4; version++) {
        for (const id of ['a', 'b']) await feed.tell(updated(id, version))
      }
      await until(() => taken.length >= 8)
      expect(versions('a')).toEqual([1, 2, 3, 4])
      expect(versions('b')).toEqual([1, 2, 3, 4])
    })

    test('tells again what the store did not take, and meanwhile the other orders', async () => {
      let open = false
      refuses = ({ data }) => data.external_id === 'a' && !open
      await feed.tell(updated('a', 1))
      await feed.tell(updated('a', 2))
      await until(() => heard.length > 0)
      await feed.tell(updated('b', 1))
      await until(() => versions('b').length > 0)
      await until(() => versions('a', heard).length >= 2)
      // Nothing overtakes what the store has not taken.
      expect(new Set(versions('a', heard))).toEqual(new Set([1]))

      open = true
      await until(() => versions('a').length >= 2)
      expect(versions('a')).toEqual([1, 2])
      const first = heard.filter(({ data, version }) => data.external_id === 'a' && version === 1)
      expect(new Set(first.map(({ delivery }) => delivery)).size).toBe(1)
    })

    test('that tells twice, as after a crash, does so under one delivery id, and the shop applies it once', async () => {
      const { apply, orders } = shop()
      const message = updated('a', 1)
      for (const each of [message, message, updated('a', 2, { status: 'refunded' }), message])
        await feed.tell(each)
      await until(() => versions('a').includes(2))
      expect(new Set(taken.filter(({ version }) => version === 1).map(({ delivery }) => delivery)).size).toBe(
        1,
      )

      const news = [...taken, message].filter(each => apply(each))
      expect(versions('a', news)).toEqual([1, 2])
      expect(orders.get('a')).toMatchObject({ version: 2, status: 'refunded' })
    })
  })
