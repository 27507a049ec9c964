import { isDeepStrictEqual } from 'node:util'
import { expect, test } from '@jest/globals'
import { local } from '../cli/relay.ts'
import { drain } from '../support/parts.ts'
import { until } from '../support/until.ts'

type Result = Record<string, unknown>

const SOURCE = 'demo-shop'

const call = async (url: string, method: 'GET' | 'POST', key: string, body?: unknown): Promise<Result> => {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Result
}

const read = async (base: string, key: string, id: string) => {
  const { relay: _, ...result } = await call(`${base}/api/v1/orders/${id}/?source=${SOURCE}`, 'GET', key)
  return result
}

/** The messages of the store's feed, by the order's id. */
const published = new Map<string, Result[]>()
const publishedOf = async (id: string) => {
  for (const { Body = '' } of await drain(local.stack().sqs, local.queue(`feed-${SOURCE}.fifo`))) {
    const { data } = JSON.parse(Body) as { data: { external_id: string } }
    published.set(data.external_id, [...(published.get(data.external_id) ?? []), data])
  }
  return published.get(id) ?? []
}

/** Resolves once the relay answers what the service holds, and published it last. */
const agree = (id: string) =>
  until(async () => {
    const held = await read(local.stack().urls.sandbox, 'sandbox-key', id)
    return (
      isDeepStrictEqual(held, await read(local.stack().urls.relay, `local-${SOURCE}`, id)) &&
      isDeepStrictEqual(held, (await publishedOf(id)).at(-1))
    )
  })

const payment = { method: 'card', reference: 'r-1' }
const items = [{ sku: 'SKU-1', quantity: 3, unit_price: 2000 }]

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
  test.each(cases)(
    '%s, %s: store and service agree',
    async (name, pace, order, steps, states) => {
      const id = `${name}-${pace}`.replaceAll(/\W/g, '-')
      await call(`${local.stack().urls.relay}/api/v1/orders/`, 'POST', `local-${SOURCE}`, {
        ...{
          external_id: id,
          source: SOURCE,
          items: [{ sku: 'SKU-1', quantity: 2, unit_price: 1000 }],
          ...order,
        },
      })
      await agree(id)
      for (const [action, body] of steps) {
        const url = `${local.stack().urls.sandbox}/panel/orders/${id}/${action}?source=${SOURCE}`
        expect(await call(url, 'POST', '', body)).toMatchObject({ external_id: id })
        if (pace === 'step by step') await agree(id)
      }
      await agree(id)
      const told = (published.get(id) ?? []).map(({ status, total }) => `${status} ${total}`)
      if (pace === 'step by step') expect(told.join(', ')).toBe(states)
      else expect(states.endsWith(String(told.at(-1)))).toBe(true)
    },
    60_000,
  )
}
