import { expect, test } from '@jest/globals'
import { exactText, type FeedMessage, feedMessages, type Outbox } from '@order-relay/lib/orders/feed.ts'
import { historyEntry } from '@order-relay/lib/orders/history.ts'
import { newOrder, type Order } from '@order-relay/lib/orders/order.ts'
import { rebuild } from '../feeds/content.ts'

const KEY = { source: 'web', external_id: '1' }
const REQUEST = '00000000-0000-4000-8000-000000000001'
const WEBHOOK = '00000000-0000-4000-8000-000000000002'

const result = (status: string) => ({ ...KEY, status, total: 1_000 })

const before = newOrder(KEY)
/** The order after its create, whose message reports the request. */
const created: Order = {
  ...before,
  version: 1,
  result: result('needs_review'),
  ended: [{ ids: [REQUEST], kind: 'create', state: 'registered' }],
}
const create: Outbox = {
  cause: { event: 'order.create', delivery: REQUEST },
  notices: [{ event: 'order.updated', requests: [REQUEST] }],
}
/** The order after a webhook. */
const finalized: Order = { ...created, version: 2, result: result('invoiced') }
const webhook: Outbox = {
  cause: { event: 'order.updated', delivery: WEBHOOK },
  notices: [{ event: 'order.updated', isWebhook: true }],
}
const paid: Order = { ...finalized, version: 3, result: result('paid') }

const published = (from: Order, to: Order, outbox: Outbox) => {
  const messages = feedMessages(to, outbox)
  const entry = historyEntry(from, to, { at: '', ...outbox.cause, calls: [], messages })
  return { entry, message: messages[0] as FeedMessage }
}
const ofCreate = published(before, created, create)
const ofWebhook = published(created, finalized, webhook)
const inexact = { exact: false }

test('a message is rebuilt from the last save of its order, or from an order that has not changed since', () => {
  const { entry, message } = ofCreate
  const original = { message, isOriginal: true }
  expect(rebuild({ order: created, outbox: create }, entry, message, inexact)).toEqual(original)
  // A later save, without a message, has replaced the outbox.
  const outbox = { cause: { event: 'order.check', delivery: 'd' }, notices: [] }
  expect(rebuild({ order: created, outbox }, entry, message, inexact)).toEqual(original)
})

test('if the order has changed since the message, shows the current data of the order and says so', () => {
  const { entry, message } = ofCreate
  expect(rebuild({ order: finalized, outbox: webhook }, entry, message, inexact)).toEqual({
    message: { ...message, data: result('invoiced') },
    isOriginal: false,
  })
})

test('a relayed webhook has the data that the relay received', () => {
  const { entry, message } = ofWebhook
  const stored = { order: paid, outbox: undefined }
  const text = exactText({ ...message, data: result('invoiced') })
  expect(rebuild(stored, entry, message, { webhook: text, exact: false })).toEqual({
    message,
    isOriginal: true,
  })
  expect(rebuild(stored, entry, message, inexact)).toEqual({
    message: { ...message, data: result('paid') },
    isOriginal: false,
  })
  expect(rebuild(stored, { ...entry, cut: true }, message, { webhook: text, exact: false })).toMatchObject({
    isOriginal: false,
  })
})

test('an exact store received the webhook as the service wrote it', () => {
  const { entry, message } = ofWebhook
  const spaced = JSON.stringify(
    { event: message.event, data: result('invoiced'), delivery: WEBHOOK },
    null,
    1,
  )
  const stored = { order: paid, outbox: undefined }
  expect(rebuild(stored, entry, message, { webhook: spaced, exact: true })).toMatchObject({
    message: { exact: spaced },
    isOriginal: true,
  })
  expect(rebuild(stored, entry, message, { exact: true })).toMatchObject({
    message: { exact: exactText({ ...message, data: result('paid') }) },
    isOriginal: false,
  })
})

test('a message about a request that the order has dropped cannot be rebuilt', () => {
  const cause = { event: 'order.payment', delivery: REQUEST }
  const rejected: Order = {
    ...before,
    version: 1,
    ended: [{ ids: [REQUEST], kind: 'payment', state: 'rejected' }],
  }
  const { entry, message } = published(before, rejected, {
    cause,
    notices: [{ event: 'order.rejected', request: REQUEST }],
  })
  const later = { ...rejected, version: 2 }
  expect(rebuild({ order: later, outbox: undefined }, entry, message, inexact)).toEqual({
    message,
    isOriginal: true,
  })
  const other = { ids: ['other'], kind: 'payment', state: 'rejected' } as const
  const without = { ...later, ended: [other] }
  expect(rebuild({ order: without, outbox: undefined }, entry, message, inexact)).toBeUndefined()
  expect(
    rebuild({ order: { ...later, ended: [] }, outbox: undefined }, entry, message, inexact),
  ).toBeUndefined()
})
