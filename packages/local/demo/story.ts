import { randomUUID } from 'node:crypto'
import { acts, item, SOURCE } from './acts.ts'
import type { Parties } from './parties.ts'
import type { Step as DemoStep } from './run.ts'

type Step = DemoStep<Parties>

/** A webhook from review to the store's feed, then everything that must be rejected. */
const webhookStory: readonly Step[] = [
  [
    'store → service',
    'a paid order for more than is in stock needs review',
    async ({ caller, accountant }) => {
      await accountant.stock('KETTLE', 'Kettle', 1)
      const payment = { method: 'online', reference: '778899' }
      const { answer, body } = await caller.create({
        external_id: 'A-1',
        source: SOURCE,
        ...item('KETTLE', 2),
        payment,
      })
      return [answer, body.status, body.error]
    },
    [201, 'needs_review', 'Insufficient stock: "KETTLE" needs 2, available 1'],
  ],
  [
    'accountant',
    'corrects the stock and retries: the held payment is registered',
    async ({ accountant }) => {
      await accountant.stock('KETTLE', 'Kettle', 10)
      return [await accountant.retry('A-1')]
    },
    ['paid'],
  ],
  [
    'service → relay',
    'the signed webhook is verified and queued',
    ({ accountant }) => accountant.delivered('A-1'),
    [200, '{"status":"queued"}'],
  ],
  [
    'worker → feed',
    'the store is notified that its order is paid',
    async ({ store }) => {
      const { event, data, version } = await store.receive()
      return [event, data.external_id, data.status, `version ${version}`]
    },
    ['order.updated', 'A-1', 'paid', 'version 1'],
  ],
  [
    'relay table',
    'the order is saved with the status that was published',
    async ({ store }) => [await store.saved('A-1')],
    ['paid'],
  ],
  [
    'service → relay',
    'the same delivery, sent again, is a duplicate',
    async ({ accountant }) => {
      await accountant.resend('A-1')
      return accountant.delivered('A-1')
    },
    [200, '{"status":"duplicate"}'],
  ],
  [
    'forger → relay',
    'a forged webhook is refused',
    async ({ forger }) => {
      const data = { source: SOURCE, external_id: 'A-1', status: 'refunded' }
      return [(await forger.post({ event: 'order.updated', delivery: randomUUID(), data })).answer]
    },
    [401],
  ],
  [
    'service → relay',
    "another store's webhook is ignored",
    async ({ caller, accountant }) => {
      await accountant.stock('LAMP', 'Lamp', 0)
      await caller.create({ external_id: 'B-1', source: 'other-shop', ...item('LAMP', 1) })
      await accountant.stock('LAMP', 'Lamp', 5)
      await accountant.retry('B-1', 'other-shop')
      return accountant.delivered('B-1')
    },
    [200, '{"status":"ignored"}'],
  ],
]

/** A store that leaves everything to the relay. */
const callbackStory: readonly Step[] = [
  [
    'store → relay',
    "an order is created, with the service's own answer",
    async parties => {
      const { answer, body } = await acts.review(parties, 'C-1')
      return [answer, body.status]
    },
    [201, 'needs_review'],
  ],
  [
    'worker → feed',
    'the service has registered it and it needs review',
    async ({ store, caller }) => {
      const { data } = await store.receive()
      return [data.external_id, data.error, (await caller.read('C-1')).body.status]
    },
    ['C-1', 'Insufficient stock: "CHAIR" needs 1, available 0', 'needs_review'],
  ],
  [
    'store → relay',
    'a payment and a refund are requested during the review',
    async parties => {
      const payment = await acts.payInReview(parties, 'C-1')
      const refund = await parties.store.refund('C-1', { reason: 'the customer changed their mind' })
      return [payment, refund].flatMap(({ answer, body }) => [answer, body.state])
    },
    [202, 'held', 202, 'waiting'],
  ],
  [
    'worker → feed',
    'the store is notified that its payment is held and its refund waits',
    async ({ store }) => [(await store.receive()).event, (await store.receive()).event],
    ['order.held', 'order.waiting'],
  ],
  [
    'accountant',
    'corrects the stock and retries: the order is paid with the held payment',
    async parties => [await acts.fix(parties, 'C-1')],
    ['paid'],
  ],
  [
    'worker → feed',
    'the store is notified of the payment, then of the refund that the relay sent',
    async ({ store }) =>
      [await store.receive(), await store.receive()].map(
        ({ data, version }) => `version ${version}: ${data.status}`,
      ),
    ['version 4: paid', 'version 5: refunded'],
  ],
  [
    'service',
    'service and table agree, and the feed is empty',
    async ({ caller, store }) => [
      (await caller.read('C-1')).body.status,
      await store.saved('C-1'),
      await store.isFeedEmpty(),
    ],
    ['refunded', 'refunded', true],
  ],
]

export const story: readonly Step[] = [...webhookStory, ...callbackStory]
