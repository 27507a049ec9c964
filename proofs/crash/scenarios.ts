import { MAX_OPEN } from '../../lib/orders/order.ts'
import { messageGroupOf } from '../../lib/platform/fifo.ts'
import { PARAMETERS } from '../../lib/platform/names.ts'
import { untilText } from '../../lib/platform/parameters.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { NAME, REASON } from '../../test/support/personal.ts'
import { DAY, HOUR, type Lifecycle, MINUTE, SECOND } from '../../test/support/scenarios.ts'
import { APP, APP_URL, SHOP, WEB } from './places.ts'
import { every } from './scenario.ts'
import { AFTER_ROTATION, type Scenario, STRANGERS, type World } from './world.ts'

const UNREADABLE = `{"event":"order.updated","name":"${NAME}"`
const DEAD_LETTER = JSON.stringify({
  event: 'order.updated',
  delivery: '22222222-2222-4222-8222-222222222222',
  version: 1,
  data: { source: WEB, external_id: '0999', status: 'invoiced' },
})

const webhookAbout = (number: number, source: string, prefix = STRANGERS, event = 'order.updated') => ({
  event,
  delivery: `${prefix}-3333-4333-8333-${String(number).padStart(12, '0')}`,
  data: { source, external_id: '1009', status: 'refunded' },
})

/** Rotates the webhook secret as `relay rotate` does: announce, switch, store, end, and later delete the old one. */
export const rotateSecret = ({ clock, cloud: { parameters }, sender }: World, next = 'second') => {
  const rotation = PARAMETERS.webhookRotation
  const until = Math.floor(clock.now() / 1000) + 600
  const [[old = '', oldSecret = ''] = []] = [...parameters].filter(([name]) =>
    name.startsWith(PARAMETERS.webhookSecrets),
  )
  clock.after(60 * SECOND, () => parameters.set(rotation, untilText('announced', until)))
  clock.after(62 * SECOND, () => parameters.set(rotation, untilText('switching', until)))
  clock.after(63 * SECOND, () => sender.signWith(`whsec_${next}`))
  clock.after(66 * SECOND, () => parameters.set(`${PARAMETERS.webhookSecrets}/${next}`, `whsec_${next}`))
  clock.after(67 * SECOND, () => parameters.delete(rotation))
  clock.after(20 * MINUTE, () => parameters.delete(old))
  // The old secret is invalid a minute after its deletion, and the announcement is no secret.
  const forge = (name: string, expected: number, number: number, secret: string) =>
    sender.stranger(name, expected, webhookAbout(number, SHOP, AFTER_ROTATION), { secret })
  clock.after(62.5 * SECOND, () =>
    forge('signed with the announcement', 503, 1, untilText('switching', until)),
  )
  clock.after(22 * MINUTE, () => forge('signed with the deleted secret', 401, 2, oldSecret))
}

const PAID: Lifecycle = { createdBy: 'relay', pays: true }
const REFUNDED: Lifecycle = { ...PAID, refunds: true }
const REVIEWED: Lifecycle = { ...REFUNDED, review: true, fixedAfter: 20 * MINUTE }
const PAID_BY_ACCOUNTANT: Lifecycle = {
  createdBy: 'service',
  review: true,
  fixedAfter: 0,
  accountant: [{ after: SECOND, does: 'payment' }],
}

/** The scenarios of the harness: lifecycles of orders and failures of their environment. */
const STORIES: Readonly<Record<string, Omit<Scenario, 'name'>>> = {
  'webhooks of an order that the relay does not know': {
    orders: { 1001: { createdBy: 'service', paidAtOnce: true, review: true, fixedAfter: 0 } },
    happens: ({ clock, stores, keyOf }) => clock.after(1, () => stores.read(keyOf('1001'))),
  },
  'the first webhook arrives last': {
    orders: { 1001: PAID_BY_ACCOUNTANT },
    transit: count => (count === 1 ? 20 * SECOND : 0),
  },
  'an invoice edited again and again without a change of status': {
    orders: {
      1001: {
        createdBy: 'service',
        accountant: [
          { after: 0, does: 'payment' },
          ...[1, 4, 9, 16].map(minutes => ({ after: minutes * MINUTE, does: 'edit' as const })),
        ],
      },
    },
  },
  'an order created, paid, refunded and read': {
    orders: { 1001: REFUNDED },
    happens: ({ clock, stores, keyOf }) => clock.after(MINUTE, () => stores.read(keyOf('1001'))),
  },
  'an order reviewed for twenty minutes': { orders: { 1001: REVIEWED } },
  'an accountant as fast as the store': { orders: { 1001: { ...REVIEWED, fixedAfter: 30 } } },
  'an order fixed between the refusal of its refund and the read that follows': {
    orders: { 1001: { createdBy: 'service', review: true, fixedAfter: 67, refunds: true } },
  },
  'keys and secrets without their index': {
    orders: { 1001: PAID, 1002: { ...PAID, source: WEB } },
    happens({ cloud: { parameters } }) {
      for (const name of parameters.keys()) if (name.includes('-index/')) parameters.delete(name)
    },
  },
  'a store registers, replaces and removes its URL': {
    orders: { 1001: { ...REVIEWED, source: APP } },
    async happens({ clock, stores }) {
      await stores.unregister(APP, APP_URL)
      await clock.wait(10 * MINUTE)
      await stores.register(APP, `${APP_URL}/first`)
      await clock.wait(20 * MINUTE)
      await stores.unregister(APP, `${APP_URL}/first`)
      await stores.register(APP, `${APP_URL}/second`)
    },
  },
  'an order never reviewed': { orders: { 1001: { ...REFUNDED, review: true } } },
  'an order that the service refuses for a week': {
    orders: { 1001: { createdBy: 'relay', unknownProduct: 'always' } },
    reconcileAt: [HOUR, 8 * DAY, 8 * DAY + HOUR],
  },
  'a refusal that the accountant fixes a day later': {
    orders: { 1001: { createdBy: 'relay', unknownProduct: 'later' } },
    reconcileAt: [HOUR, DAY + HOUR, DAY + 4 * HOUR],
  },
  'every request is sent twice': { orders: { 1001: { ...REFUNDED, twice: true } } },
  'every request is sent twice, in review': { orders: { 1001: { ...REVIEWED, twice: true } } },
  'a refund is withdrawn in review': {
    orders: {
      1001: {
        ...REVIEWED,
        pays: false,
        fixedAfter: 80 * MINUTE,
        withdraws: { what: 'refund', after: 40 * MINUTE, surely: true },
      },
    },
  },
  'a payment is withdrawn immediately': {
    orders: {
      1001: { createdBy: 'service', pays: true, withdraws: { what: 'payment', after: 100 }, mayRetry: true },
    },
  },
  'an order is withdrawn while the service is down': {
    orders: {
      1001: {
        createdBy: 'relay',
        withdraws: { what: 'create', after: 40 * MINUTE, surely: true },
        downUntil: 2 * HOUR,
        mayRetry: true,
      },
    },
  },
  'a payment is withdrawn while the service is slow to hold it': {
    orders: {
      1001: {
        createdBy: 'service',
        review: true,
        fixedAfter: HOUR,
        pays: true,
        slow: 1.5 * SECOND,
        withdraws: { what: 'payment', after: 200 },
        mayRetry: true,
      },
    },
  },
  'a payment of an order that nobody created is withdrawn while the service is slow': {
    orders: {
      1001: {
        createdBy: 'nobody',
        pays: true,
        slow: 1.5 * SECOND,
        withdraws: { what: 'payment', after: 200 },
        mayRetry: true,
      },
    },
  },
  'a payment is withdrawn, and requested again an hour later': {
    orders: {
      1001: {
        createdBy: 'service',
        pays: true,
        withdraws: { what: 'payment', after: 40 * MINUTE },
        paysAgain: HOUR,
        downUntil: 50 * MINUTE,
        mayRetry: true,
      },
    },
  },
  'more refunds in review than the relay keeps': {
    orders: { 1001: { createdBy: 'service', review: true, refunds: true, asksTooOften: true } },
    happens: ({ clock, queues, keyOf }) =>
      clock.after(MINUTE, () => {
        for (let number = 0; number < MAX_OPEN; number++) {
          const delivery = `66666666-6666-4666-8666-${String(number).padStart(12, '0')}`
          const data = { ...keyOf('1001'), body: '{}', accepted_at: clock.now() }
          const body = JSON.stringify({ event: 'order.refund', delivery, data })
          queues.orders.send({ group: messageGroupOf(data), dedup: delivery, body })
        }
      }),
  },
  'a create of orders that the service has, while it is down': {
    orders: Object.fromEntries(
      ['1001', '1002', '1003', '1004'].map((external_id, index) => [
        external_id,
        { createdBy: 'both', downUntil: 10 * MINUTE, at: index * 20 * SECOND, mayRetry: true },
      ]),
    ),
  },
  'a payment behind a create that is refused for a day': {
    orders: { 1001: { createdBy: 'relay', unknownProduct: 'later', pays: true } },
    reconcileAt: [HOUR, DAY + HOUR, DAY + 4 * HOUR],
  },
  'orders whose numbers differ in case only': { orders: { 'n-1': REFUNDED, 'N-1': REFUNDED } },
  "a store's orders fail with 500, and another store's are not delayed": {
    orders: {
      ...Object.fromEntries(
        Array.from({ length: 3 }, (_, number) => [
          `500${number}`,
          { createdBy: 'relay' as const, source: WEB, failsUntil: MINUTE, mayRetry: true },
        ]),
      ),
      1001: { ...PAID, at: 30 * SECOND },
    },
    warm: true,
  },
  'a store waits for as long as it prefers, although the default is not to wait': {
    orders: every(100, 3, '100', PAID),
    adjust: (_name, dependencies) => ({
      ...dependencies,
      settings: { ...dependencies.settings, waitSeconds: '0' },
    }),
    warm: true,
    happens({ clock, stores }) {
      clock.after(500, () => stores.createAndWait({ source: SHOP, external_id: '1003' }))
    },
  },
  'an order that the service rejects at first': { orders: { 1001: { ...PAID, unknownProduct: 'first' } } },
  'the service is down for ten minutes': {
    orders: { 1001: { ...REFUNDED, downUntil: 10 * MINUTE, mayRetry: true } },
    reconcileAt: [9.8 * MINUTE],
  },
  'the service is slow and down for nine minutes, and events wait in the bulk queue': {
    orders: {
      1001: {
        createdBy: 'service',
        slow: 7 * SECOND,
        downUntil: 9 * MINUTE,
        accountant: Array.from({ length: 8 }, () => ({ after: MINUTE, does: 'edit' as const })),
        mayRetry: true,
      },
    },
    reconcileAt: [8.7 * MINUTE],
  },
  'the service is down for three orders for an hour': {
    orders: {
      1001: { ...PAID, downUntil: HOUR, mayRetry: true },
      1002: { ...PAID, downUntil: HOUR, mayRetry: true },
      1003: { ...PAID, downUntil: HOUR, mayRetry: true },
      1004: { ...PAID, source: WEB, at: 2 * MINUTE },
    },
  },
  'the service answers slowly for one order, and an invocation runs out of time': {
    orders: {
      1001: {
        createdBy: 'service',
        slow: 7 * SECOND,
        accountant: Array.from({ length: 8 }, () => ({ after: MINUTE, does: 'edit' as const })),
        mayRetry: true,
      },
      1002: { createdBy: 'service', accountant: [{ after: MINUTE, does: 'edit' }] },
    },
  },
  'a store loses its data, and the current state of its orders is published again': {
    orders: {
      1001: REFUNDED,
      1002: { ...REFUNDED, review: true },
      1003: { ...PAID, source: WEB, withdraws: { what: 'payment', after: HOUR } },
    },
    happens: ({ clock, queues, stores, keyOf }) =>
      clock.after(2 * HOUR, () => {
        for (const external_id of ['1001', '1002', '1003']) {
          const delivery = `55555555-5555-4555-8555-00000000${external_id}`
          const event = { event: 'order.resend', delivery, data: keyOf(external_id) }
          stores.forget(external_id)
          queues.orders.send({
            group: messageGroupOf(event.data),
            dedup: delivery,
            body: JSON.stringify(event),
          })
        }
      }),
  },
  'an authentic webhook that cannot be read': {
    orders: {},
    quarantined: [UNREADABLE],
    happens: ({ sendWebhook }) => sendWebhook(() => UNREADABLE),
  },
  'an unreadable message in the order queue, in front of an order': {
    orders: { 1001: REFUNDED },
    quarantined: [NAME],
    happens: ({ queues, keyOf }) =>
      queues.orders.send({ group: messageGroupOf(keyOf('1001')), dedup: 'foreign', body: NAME }),
  },
  "the sender's clock is six minutes fast for a quarter of an hour": {
    orders: { 1001: PAID_BY_ACCOUNTANT },
    skew: elapsed => (elapsed < 15 * MINUTE ? 6 * MINUTE : 0),
  },
  'a webhook is replayed six minutes later': {
    orders: {
      1001: { ...PAID_BY_ACCOUNTANT, accountant: [{ after: MINUTE, does: 'payment' }] },
    },
    happens: ({ clock, sender }) => clock.after(6 * MINUTE, () => sender.replay(0)),
  },
  'the webhook after the review never arrives, and the invoice is edited in the meantime': {
    orders: {
      1001: {
        ...REFUNDED,
        review: true,
        fixedAfter: 2 * MINUTE,
        accountant: [15.02, 16].map(minutes => ({ after: minutes * MINUTE, does: 'edit' })),
      },
    },
    transit: count => (count === 1 ? 'never' : 0),
    reconcileAt: [15 * MINUTE],
  },
  'the only webhook never arrives': {
    orders: { 1001: { createdBy: 'relay', review: true, fixedAfter: 2 * MINUTE } },
    transit: () => 'never',
    reconcileAt: [20 * MINUTE, 40 * MINUTE],
  },
  'the endpoint of a store refuses for a while, and then is too slow': {
    orders: { 1001: { ...PAID, source: WEB } },
    endpoint: elapsed => {
      if (elapsed < 20 * SECOND) return { status: 503, retryAfter: 30 }
      return elapsed < 2 * MINUTE ? { takes: 11 * SECOND } : {}
    },
  },
  'the endpoint of a store does not accept a message for thirteen days': {
    orders: {},
    deadLettered: [DEAD_LETTER],
    endpoint: () => ({ status: 500 }),
    happens: ({ clock, queues }) =>
      queues.webFeed.send({
        group: '0999',
        dedup: '0999',
        body: DEAD_LETTER,
        age: 13 * DAY - MINUTE,
        receivedAt: [clock.now() - 2 * DAY],
      }),
  },
  'SQS fails to extend the visibility of some messages at first': {
    orders: { 1001: { ...PAID, downUntil: MINUTE, mayRetry: true } },
    failingEntries: 1,
  },
  'the webhook secret is rotated while webhooks arrive': {
    orders: {
      1001: {
        createdBy: 'service',
        accountant: [0, 61, 64, 66, 70, 25 * 60].map(seconds => ({ after: seconds * SECOND, does: 'edit' })),
      },
    },
    warm: true,
    happens: world => rotateSecret(world),
  },
  'the API key is wrong for ten minutes': {
    orders: { 1001: { ...PAID, mayRetry: true } },
    happens({ clock, cloud: { parameters } }) {
      const key = parameters.get(PARAMETERS.accountingKey) ?? ''
      parameters.set(PARAMETERS.accountingKey, 'revoked')
      clock.after(10 * MINUTE, () => parameters.set(PARAMETERS.accountingKey, key))
    },
  },
  'a webhook and a request that are too large': {
    orders: {},
    happens({ sender, stores }) {
      sender.stranger('too large', 413, { ...webhookAbout(5, SHOP), note: NAME.repeat(30_000) })
      stores.stranger('too large', 413, 'store-key-of-shop', REASON.repeat(60_000))
    },
  },
  'forged and foreign webhooks, and requests of stores for what is not theirs': {
    orders: { 1001: PAID },
    warm: true,
    happens({ clock, sender, stores }) {
      const order = { external_id: '1001', items: [{ sku: 'A-1', quantity: 1, unit_price: 1 }] }
      clock.after(MINUTE, () => {
        sender.stranger('forged', 401, webhookAbout(1, SHOP), { secret: 'whsec_guess' })
        sender.stranger('without a secret', 401, webhookAbout(2, SHOP), { secret: '' })
        sender.stranger('about a foreign source', 200, webhookAbout(3, NAME))
        sender.stranger('of another event', 200, webhookAbout(4, SHOP, STRANGERS, NAME))
        sender.stranger('with the id of another delivery', 400, webhookAbout(5, SHOP), {
          headers: { [HEADERS.delivery]: webhookAbout(6, SHOP).delivery },
        })
        sender.stranger('signed by hand', 401, webhookAbout(7, SHOP), {
          headers: { [HEADERS.signature]: NAME },
        })
        sender.stranger('without a UUID', 400, { ...webhookAbout(8, SHOP), delivery: NAME })
        stores.stranger('an unknown key', 401, 'store-key-of-nobody', { ...order, source: SHOP })
        stores.stranger('a removed store', 401, 'store-key-of-closed', { ...order, source: 'closed' })
        const strange = (name: string, expected: number, body: object | string, path?: [string, string]) =>
          stores.stranger(name, expected, 'store-key-of-shop', body, path)
        strange("another store's order", 403, { ...order, source: WEB })
        strange('a store that does not exist', 403, { ...order, source: NAME })
        strange('another path', 404, '', ['POST', `../../../${NAME}`])
        strange('an unknown order', 404, '', ['GET', 'none/?source=shop'])
        strange('another method', 405, '', ['PUT', `${NAME}/`])
        strange('no JSON', 400, `{"name":"${NAME}`)
        strange('an invalid order', 400, {
          ...order,
          source: SHOP,
          external_id: '1003',
          customer: { email: [NAME] },
        })
        strange('an id that no path can carry', 400, { ...order, source: SHOP, external_id: `${NAME}?` })
      })
    },
  },
}

export const SCENARIOS: readonly Scenario[] = Object.entries(STORIES).map(([name, story]) => ({
  name,
  ...story,
}))
