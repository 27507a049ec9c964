import { type Ending, keyOf, type Life, type World } from './world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const ORDER = keyOf('1001')

/** The store asks for everything, one after the other, and reads its order in between. */
const wholeLife = ({ store }: World, order = ORDER) =>
  store.create(order, () => store.pay(order, () => store.refund(order)))

const inReview = ({ service }: World) => service.outside.create(ORDER)

const refunded: Ending = {
  external_id: '1001',
  status: 'refunded',
  documents: ['invoice', 'receipt', 'return'],
}

const paid: Ending = { external_id: '1001', status: 'paid', documents: ['invoice', 'receipt'] }

/** What happens to orders, told as it happens when nothing goes wrong. */
export const LIVES: readonly Life[] = [
  {
    name: 'a webhook about an order that the relay does not know',
    treatment: () => ({ review: true }),
    happens(world) {
      inReview(world)
      world.service.outside.holdPayment(ORDER)
      world.service.outside.retry(ORDER)
    },
    ends: [paid],
  },
  {
    name: 'two changes, and the webhook of the first comes last',
    treatment: () => ({ review: true }),
    underWay: count => (count === 1 ? 20 * SECOND : 0),
    happens(world) {
      inReview(world)
      world.service.outside.retry(ORDER)
      world.clock.after(SECOND, () => world.service.outside.pay(ORDER))
    },
    ends: [paid],
  },
  {
    name: 'an invoice that is changed again and again without a change of status',
    happens({ service, clock }) {
      service.outside.create(ORDER)
      service.outside.pay(ORDER)
      for (const minutes of [1, 4, 9, 16]) clock.after(minutes * MINUTE, () => service.outside.edit(ORDER))
    },
    ends: [paid],
  },
  {
    name: 'the store creates, pays and returns an order',
    happens(world) {
      wholeLife(world)
      world.clock.after(MINUTE, () => world.store.read(ORDER, () => undefined))
    },
    ends: [refunded],
  },
  {
    name: 'the same while the order is in review for twenty minutes',
    treatment: () => ({ review: true, retriedAfter: 20 * MINUTE }),
    happens: world => wholeLife(world),
    ends: [refunded],
  },
  {
    name: 'the same with an accountant who is as quick as the store',
    treatment: () => ({ review: true, retriedAfter: 30 }),
    happens: world => wholeLife(world),
    ends: [refunded],
  },
  {
    name: 'the service refuses the order',
    treatment: () => ({ refuses: true }),
    happens: ({ store }) => store.create(ORDER),
    ends: [{ external_id: '1001', status: undefined, documents: [], rejected: 'create' }],
  },
  {
    name: 'the service is down for ten minutes',
    treatment: () => ({ down: 10 * MINUTE }),
    happens: world => wholeLife(world),
    ends: [refunded],
  },
  {
    name: 'an authentic webhook that cannot be read',
    happens({ sendWebhook }) {
      sendWebhook(() => '{"event":"order.updated"')
    },
    ends: [],
    quarantines: '{"event":"order.updated"',
  },
  {
    name: 'something unreadable on the line, and an order behind it',
    happens(world) {
      world.line.send({ group: 'foreign', dedup: 'foreign', body: 'not ours' })
      wholeLife(world)
    },
    ends: [refunded],
    quarantines: 'not ours',
  },
  {
    name: "the sender's clock is six minutes fast for a quarter of an hour",
    treatment: () => ({ review: true }),
    fast: elapsed => (elapsed < 15 * MINUTE ? 6 * MINUTE : 0),
    happens(world) {
      inReview(world)
      world.service.outside.retry(ORDER)
      world.service.outside.pay(ORDER)
    },
    ends: [paid],
  },
  {
    name: 'a webhook that was overheard is played back six minutes later',
    treatment: () => ({ review: true }),
    happens(world) {
      inReview(world)
      world.service.outside.retry(ORDER)
      world.clock.after(MINUTE, () => world.service.outside.pay(ORDER))
      world.clock.after(6 * MINUTE, () => world.sender.playBack(0))
    },
    ends: [paid],
  },
  {
    name: 'one order cannot be served for an hour, and others come with it',
    treatment: external_id => (external_id === '1001' ? { down: HOUR } : {}),
    happens({ store }) {
      for (const id of ['1001', '1002', '1003']) store.create(keyOf(id), () => store.pay(keyOf(id)))
    },
    ends: [
      paid,
      { ...paid, external_id: '1002', healthy: true },
      { ...paid, external_id: '1003', healthy: true },
    ],
  },
  {
    name: 'the webhook after the review never comes, and the invoice changes meanwhile',
    treatment: () => ({ review: true, retriedAfter: 2 * MINUTE }),
    underWay: count => (count === 1 ? 'never' : 0),
    reconciles: [15 * MINUTE, 45 * MINUTE],
    happens(world) {
      wholeLife(world)
      for (const minutes of [15.02, 16]) {
        world.clock.after(minutes * MINUTE, () => {
          if (world.service.truth(ORDER) !== undefined) world.service.outside.edit(ORDER)
        })
      }
    },
    ends: [refunded],
  },
]
