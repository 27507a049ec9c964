import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { local } from '../support/relay.ts'
import { accountantOf, feedOf, item, type Json, orderApi, relayApi, storeOf } from '../support/steps.ts'
import { until } from '../support/until.ts'

const source = 'demo-shop'
const payment = { method: 'card', reference: 'r-1' }
const items = [item({ quantity: 2, unit_price: 3000 })]

type Pace = 'step by step' | 'at once'

/** An order of a store, through the relay; its feed; and the accountant. */
const begin = (pace: Pace) => {
  const external_id = randomUUID()
  const store = storeOf(external_id, relayApi(`local-${source}`))
  const direct = storeOf(external_id, orderApi(local.stack().urls.sandbox, 'sandbox-key'))
  const received: Json[] = []
  const expected: string[] = []

  /** Resolves once the relay returns what the service has, and has published it last. */
  const agree = async () => {
    await until(async () => {
      const all = await feedOf(source).receive()
      received.push(...all.filter(data => data.external_id === external_id))
      const { body: held } = await direct.read(`?source=${source}`)
      const { relay: _, ...known } = (await store.read(`?source=${source}`)).body
      return isDeepStrictEqual(held, known) && isDeepStrictEqual(held, received.at(-1))
    })
    return received.map(({ status, total }) => `${status} ${total}`)
  }
  const accountant = accountantOf(external_id, source, async (...request) => {
    expect((await local.sandbox(...request)).body).toMatchObject({ external_id })
  })
  const feed = {
    /** Expects the next status and total. At once, it only waits for those of the create. */
    received: async (state: string) => {
      expected.push(state)
      if (pace === 'step by step' || expected.length === 1) expect(await agree()).toEqual(expected)
    },
    /** Expects the last status and total. */
    ended: async (state: string) => {
      await feed.received(state)
      const states = await agree()
      if (pace === 'step by step') expect(states).toEqual(expected)
      else expect(states.at(-1)).toBe(state)
    },
  }
  return { store, accountant, feed }
}

export const accountantTests = () => {
  // A correction keeps the status, so the interface has no webhook for it. The relay follows a service that sends one.
  beforeAll(() => local.sandbox('PUT', '/panel/settings', { correctionsSendWebhooks: true }))
  afterAll(() => local.sandbox('PUT', '/panel/settings', { correctionsSendWebhooks: false }))

  describe.each<Pace>(['step by step', 'at once'])('store and service agree, %s:', pace => {
    test('an invoice is corrected', async () => {
      const { store, accountant, feed } = begin(pace)
      await store.create({ source })
      await feed.received('invoiced 2200')
      await accountant.correct(items)
      await feed.ended('invoiced 6600')
    })

    test('a wrong total is paid, reversed, corrected and paid again', async () => {
      const { store, accountant, feed } = begin(pace)
      await store.create({ source })
      await feed.received('invoiced 2200')
      await accountant.pay(payment)
      await feed.received('paid 2200')
      await accountant.reversePayment()
      await feed.received('invoiced 2200')
      await accountant.correct(items)
      await feed.received('invoiced 6600')
      await accountant.pay(payment)
      await feed.ended('paid 6600')
    })

    test('a paid order is reviewed, corrected and finalized with its payment, and the difference is paid', async () => {
      const { store, accountant, feed } = begin(pace)
      await store.create({ source, payment })
      await feed.received('paid 2200')
      await accountant.review('Wrong goods')
      await feed.received('needs_review 2200')
      await accountant.correct(items)
      await feed.received('needs_review 6600')
      // The payment keeps the amount that was received.
      await accountant.retry()
      await feed.received('invoiced 6600')
      await accountant.pay(payment)
      await feed.ended('paid 6600')
    })

    test('goods are returned without a payment', async () => {
      const { store, accountant, feed } = begin(pace)
      await store.create({ source })
      await feed.received('invoiced 2200')
      await accountant.return()
      await feed.ended('refunded 2200')
    })
  })

  // Webhooks of concurrent actions may overtake each other, and one that moves an order forward is applied without a
  // read. An order whose last status precedes an earlier one is therefore corrected only by a later read.
  describe('store and service agree, step by step:', () => {
    test('a receipt is reversed', async () => {
      const { store, accountant, feed } = begin('step by step')
      await store.create({ source, payment })
      await feed.received('paid 2200')
      await accountant.reversePayment()
      await feed.ended('invoiced 2200')
    })

    test('a return is reversed alone', async () => {
      const { store, accountant, feed } = begin('step by step')
      await store.create({ source, payment })
      await feed.received('paid 2200')
      await accountant.return()
      await feed.received('refunded 2200')
      await accountant.reverseReturn()
      await feed.ended('paid 2200')
    })

    test('a return is undone, and the payment with it', async () => {
      const { store, accountant, feed } = begin('step by step')
      await store.create({ source, payment })
      await feed.received('paid 2200')
      await accountant.return()
      await feed.received('refunded 2200')
      await accountant.review('Wrong goods')
      await feed.received('needs_review 2200')
      await accountant.retry()
      await feed.received('paid 2200')
      await accountant.reversePayment()
      await feed.ended('invoiced 2200')
    })
  })
}
