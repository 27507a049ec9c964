import { isDeepStrictEqual } from 'node:util'
import { expect, test } from '@jest/globals'
import { local } from '../support/relay.ts'
import { until } from '../support/until.ts'
import { item, published, type Reply, relayWith, send, type Target } from './relay.ts'

const source = 'demo-shop'

const targets = (): Record<'relay' | 'service', Target> => {
  const panel = local.stack().urls.sandbox
  return {
    relay: relayWith(() => `local-${source}`),
    service: { url: panel, panel, keyOf: () => 'sandbox-key' },
  }
}

const read = async (target: Target, id: string) => {
  const { relay: _, ...result } = (await send(target, { ask: `GET ${id}/?source=${source}` })).body
  return result
}

/** What the store has received about each order. */
const received = new Map<string, Reply['body'][]>()

/** Resolves once the relay answers what the service holds, and published it last. */
const agree = (id: string) =>
  until(async () => {
    for (const { data } of await published(source)) {
      received.set(data.external_id, [...(received.get(data.external_id) ?? []), data])
    }
    const { relay, service } = targets()
    const held = await read(service, id)
    return isDeepStrictEqual(held, await read(relay, id)) && isDeepStrictEqual(held, received.get(id)?.at(-1))
  })

const payment = { method: 'card', reference: 'r-1' }
const items = [item({ quantity: 3, unit_price: 2000 })]

type Step = readonly [action: string, body?: object]
const PAY: Step = ['pay', payment]
const REVERSE: Step = ['reverse-payment']
const RETURN: Step = ['return']
const RETRY: Step = ['retry']
const REVIEW: Step = ['review', { error: 'Wrong goods' }]
const CORRECT: Step = ['correct', { items }]

/** An order of 2,200 rials, what the accountant does with it, and the statuses and totals that the store learns of. */
const STORIES: readonly (readonly [name: string, order: object, steps: readonly Step[], states: string])[] = [
  ['a receipt is reversed', { payment }, [REVERSE], 'paid 2200, invoiced 2200'],
  ['an invoice is corrected', {}, [CORRECT], 'invoiced 2200, invoiced 6600'],
  [
    'a wrong total is paid, reversed, corrected and paid again',
    {},
    [PAY, REVERSE, CORRECT, PAY],
    'invoiced 2200, paid 2200, invoiced 2200, invoiced 6600, paid 6600',
  ],
  [
    'a paid order is reviewed, corrected and finalized with its payment',
    { payment },
    [REVIEW, CORRECT, RETRY],
    'paid 2200, needs_review 2200, needs_review 6600, paid 6600',
  ],
  [
    'a return is undone, and the payment with it',
    { payment },
    [RETURN, REVIEW, RETRY, REVERSE],
    'paid 2200, refunded 2200, needs_review 2200, paid 2200, invoiced 2200',
  ],
  ['goods are returned without a payment', {}, [RETURN], 'invoiced 2200, refunded 2200'],
]

/**
 * Webhooks of actions at once may overtake each other. One that moves an order forward is believed, so an order whose
 * last status is lower than an earlier one must be given the time to be read.
 */
const isSafeAtOnce = ([, , , states]: (typeof STORIES)[number]) =>
  !/(paid|refunded).*invoiced \d+$/.test(states)

const cases = [
  ...STORIES.map(([name, ...story]) => [name, 'step by step', ...story] as const),
  ...STORIES.filter(isSafeAtOnce).map(([name, ...story]) => [name, 'at once', ...story] as const),
]

export const accountantTests = () => {
  test.each(cases)('%s, %s: the store and the service agree', async (name, pace, order, steps, states) => {
    const { relay, service } = targets()
    const external_id = `${name}-${pace}`.replaceAll(/\W/g, '-')
    await send(relay, {
      ask: 'POST ',
      body: { external_id, source, items: [item({ quantity: 2 })], ...order },
    })
    await agree(external_id)
    for (const [action, body] of steps) {
      const ask = `POST /panel/orders/${external_id}/${action}?source=${source}`
      expect((await send(service, { ask, body })).body).toMatchObject({ external_id })
      if (pace === 'step by step') await agree(external_id)
    }
    await agree(external_id)
    const seen = (received.get(external_id) ?? []).map(({ status, total }) => `${status} ${total}`)
    if (pace === 'step by step') expect(seen.join(', ')).toBe(states)
    else expect(states.endsWith(String(seen.at(-1)))).toBe(true)
  })
}
