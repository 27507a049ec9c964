import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Parties } from './parties.ts'

export type Step = {
  where: string
  name: string
  /** Acts, and returns what it observed. @throws when that is not as expected */
  observe: (parties: Parties) => Promise<string>
}

const expectSame = (what: string, found: unknown, expected: unknown): void => {
  if (isDeepStrictEqual(found, expected)) return
  throw new Error(`Expected ${what} to be ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`)
}

const step = (where: string, name: string, observe: Step['observe']): Step => ({ where, name, observe })

const SOURCE = 'demo-shop'
const item = (sku: string, quantity: number) => ({ items: [{ sku, quantity, unit_price: 1_500_000 }] })

const statusIn = (body: unknown) =>
  typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined

const stateIn = (body: unknown) =>
  typeof body === 'object' && body !== null && 'state' in body ? body.state : undefined

const errorIn = (body: unknown) =>
  typeof body === 'object' && body !== null && 'error' in body ? JSON.stringify(body.error) : ''

/** A webhook from review to the store's feed, then everything that must not get through. */
const webhookStory: Step[] = [
  step(
    'store → service',
    'a paid order for more than is in stock needs review',
    async ({ caller, accountant }) => {
      await accountant.stock('KETTLE', 'Kettle', 1)
      const { status, body } = await caller.create({
        external_id: 'A-1',
        source: SOURCE,
        ...item('KETTLE', 2),
        payment: { method: 'online', reference: '778899' },
      })
      expectSame('the response', [status, statusIn(body)], [201, 'needs_review'])
      return errorIn(body)
    },
  ),
  step(
    'accountant',
    'corrects the stock and retries: the held payment is registered',
    async ({ accountant }) => {
      await accountant.stock('KETTLE', 'Kettle', 10)
      const { status, body } = await accountant.retry('A-1')
      expectSame('the order', [status, statusIn(body)], [200, 'paid'])
      return 'paid'
    },
  ),
  step('service → relay', 'the signed webhook is verified and queued', async ({ accountant }) => {
    const { status, response } = await accountant.delivered('A-1')
    expectSame('the response', [status, response], [200, '{"status":"queued"}'])
    return `${status} ${response}`
  }),
  step('worker → feed', 'the store is notified that its order is paid', async ({ store }) => {
    const { event, data, version } = await store.receive('a message about A-1')
    expectSame(
      'the message',
      [event, data.external_id, data.status, version],
      ['order.updated', 'A-1', 'paid', 1],
    )
    return `version ${version}: ${data.external_id} is ${data.status}`
  }),
  step('relay table', 'the order is saved with the status that was published', async ({ store }) => {
    const { status, body } = await store.read('A-1')
    expectSame('the order', [status, statusIn(body)], [200, 'paid'])
    return 'paid'
  }),
  step('service → relay', 'the same delivery, sent again, is a duplicate', async ({ accountant }) => {
    const { delivery } = await accountant.delivered('A-1')
    await accountant.resend(delivery)
    const { status, response } = await accountant.delivered('A-1')
    expectSame('the response', [status, response], [200, '{"status":"duplicate"}'])
    return `${status} ${response}`
  }),
  step('forger → relay', 'a forged webhook is refused', async ({ forger }) => {
    const data = { source: SOURCE, external_id: 'A-1', status: 'refunded' }
    const { status } = await forger.post({ event: 'order.updated', delivery: randomUUID(), data })
    expectSame('the response', status, 401)
    return '401'
  }),
  step('service → relay', "another store's webhook is ignored", async ({ caller, accountant }) => {
    await accountant.stock('LAMP', 'Lamp', 0)
    await caller.create({ external_id: 'B-1', source: 'other-shop', ...item('LAMP', 1) })
    await accountant.stock('LAMP', 'Lamp', 5)
    await accountant.retry('B-1', 'other-shop')
    const { status, response } = await accountant.delivered('B-1')
    expectSame('the response', [status, response], [200, '{"status":"ignored"}'])
    return `${status} ${response}`
  }),
]

/** A store that leaves everything to the relay. */
const callbackStory: Step[] = [
  step('store → relay', 'an order is created', async ({ store, accountant }) => {
    await accountant.stock('CHAIR', 'Chair', 0)
    const { status, body } = await store.create({ external_id: 'C-1', ...item('CHAIR', 1) })
    expectSame('the response', [status, statusIn(body)], [201, 'needs_review'])
    return "201 needs_review, the service's own answer"
  }),
  step('worker → feed', 'the service has registered it and it needs review', async ({ store, caller }) => {
    const { data } = await store.receive('a message about C-1')
    expectSame('the message', [data.external_id, data.status], ['C-1', 'needs_review'])
    expectSame('the service', (await caller.read('C-1')).status, 'needs_review')
    return String(data.error)
  }),
  step('store → relay', 'a payment and a refund are requested during the review', async ({ store }) => {
    const payment = await store.payment('C-1', { method: 'card', reference: '5566' })
    const refund = await store.refund('C-1', { reason: 'the customer changed their mind' })
    const states = [payment, refund].map(({ status, body }) => [status, stateIn(body)])
    expectSame('the responses', states, [
      [202, 'held'],
      [202, 'waiting'],
    ])
    return '202 held, 202 waiting'
  }),
  step(
    'worker → feed',
    'the store is notified that its payment is held and its refund waits',
    async ({ store }) => {
      const events = [
        (await store.receive('a message about the payment of C-1')).event,
        (await store.receive('a message about the refund of C-1')).event,
      ]
      expectSame('the messages', events, ['order.held', 'order.waiting'])
      return events.join(', ')
    },
  ),
  step('accountant', 'corrects the stock and retries', async ({ accountant }) => {
    await accountant.stock('CHAIR', 'Chair', 3)
    const { status, body } = await accountant.retry('C-1')
    expectSame('the order', [status, statusIn(body)], [200, 'paid'])
    return 'paid, with the held payment'
  }),
  step(
    'worker → feed',
    'the store is notified of the payment, then of the refund that the relay sent',
    async ({ store }) => {
      const [first, second] = [
        await store.receive('a message that C-1 is paid'),
        await store.receive('a message that C-1 is refunded'),
      ]
      expectSame('the messages', [first.data.status, second.data.status], ['paid', 'refunded'])
      expectSame('their versions', [first.version, second.version], [4, 5])
      return `versions ${first.version} and ${second.version}: paid, refunded`
    },
  ),
  step('service', 'service, table and feed agree', async ({ caller, store }) => {
    const atService = (await caller.read('C-1')).status
    const atRelay = statusIn((await store.read('C-1')).body)
    expectSame('service and table', [atService, atRelay], ['refunded', 'refunded'])
    expectSame('whether the feed is empty', await store.isFeedEmpty(), true)
    return 'refunded everywhere, and the feed is empty'
  }),
]

export const story: readonly Step[] = [...webhookStory, ...callbackStory]
