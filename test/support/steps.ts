import { isDeepStrictEqual } from 'node:util'
import { expect } from '@jest/globals'
import { feedQueueName } from '../../lib/platform/names.ts'
import { undocumented } from './documents.ts'
import { fetchJson } from './fetch-json.ts'
import { drain } from './parts.ts'
import { local } from './relay.ts'
import { until } from './until.ts'

export type Json = { [field: string]: unknown }
type Reply = { status: number; body: Json }
/** Paths are below `/api/v1/orders/`, or start with `/panel/`; a body that is a string is sent unchanged. */
type Send<Result = Reply> = (method: string, path: string, body?: unknown) => Promise<Result>

/** The order API of a service or relay. Every response of the local stack's relay must be as documented. */
export const orderApi =
  (url: string, key?: string): Send =>
  async (method, path, body) => {
    const reply = await fetchJson(`${url}/api/v1/orders/${path}`, { method, body, key })
    const isRelay = url === local.stack().urls.relay
    if (isRelay) expect(undocumented(method, path, reply.status, reply.body)).toBeUndefined()
    return reply
  }

/** The order API of the local stack's relay. */
export const relayApi = (key?: string) => orderApi(local.stack().urls.relay, key)

/** An item of 2,200 rials, tax included. */
export const item = (changes: object = {}) => ({ sku: 'SKU-1', quantity: 1, unit_price: 2000, ...changes })

/** What a store does with an order. */
export const storeOf = <Result>(external_id: string, request: Send<Result>) => {
  const path = encodeURIComponent(external_id)
  return {
    request,
    create: (changes: object = {}, query = '') =>
      request('POST', query, { external_id, items: [item()], ...changes }),
    pay: (body: unknown = { method: 'card', reference: '1' }, query = '') =>
      request('POST', `${path}/payment/${query}`, body),
    refund: (body: unknown = {}, query = '') => request('POST', `${path}/refund/${query}`, body),
    read: (query = '') => request('GET', `${path}/${query}`),
    withdraw: (kind: '' | 'payment/' | 'refund/') => request('DELETE', `${path}/${kind}`),
  }
}

/** What the accountant does in the panel, with an order or for all. */
export const accountantOf = (external_id: string, source: string, request: Send<void>) => {
  const act = (action: string, body?: object) =>
    request('POST', `/panel/orders/${external_id}/${action}?source=${source}`, body)
  return {
    set: (settings: object) => request('PUT', '/panel/settings', settings),
    addProduct: (sku: string, product: object) => request('PUT', `/panel/products/${sku}`, product),
    pay: (payment: object) => act('pay', payment),
    reversePayment: () => act('reverse-payment'),
    reverseReturn: () => act('reverse-return'),
    review: (error: string) => act('review', { error }),
    correct: (items: object[]) => act('correct', { items }),
    return: () => act('return'),
    retry: () => act('retry'),
  }
}

/** A store's feed; the data of its messages. */
export const feedOf = (source: string) => ({
  /** Receives what it has now. */
  receive: async () => {
    const messages = await drain(local.stack().sqs, local.queue(feedQueueName(source)))
    return messages.map(({ Body = '' }): Json => JSON.parse(Body).data)
  },
  /** Waits for this number of messages. */
  received: async (count: number) => {
    const received: Json[] = []
    await until(async () => received.push(...(await feedOf(source).receive())) >= count)
    return received
  },
})

/** The codes of errors that the relay words itself. Those of the service are passed on word for word. */
const OWN_WORDS = ['unauthorized', 'forbidden', 'method_not_allowed', 'malformed']

/** A response without what may differ between the two: document numbers, the wording of errors, added fields. */
const comparable = ({ status, body }: Reply) => {
  const { relay: _, error, ...fields } = body
  const { code, message } = (error ?? {}) as Json
  const isOwn = OWN_WORDS.includes(String(code)) || /^(?!Order).*exist|^Not found/.test(String(message))
  for (const name of ['invoice_number', 'receipt_number', 'return_number'])
    if (name in fields) fields[name] = typeof fields[name]
  return { status, body: { ...fields, error: isOwn ? { code } : error } }
}

/**
 * Sends each request to both: the relay must respond as the service does.
 *
 * @param accepted the state in the relay's 202 to a request that the service refuses only because it is early, see
 * docs/integrate.md
 */
export const compared =
  (service: Send, relay: Send, accepted?: 'held' | 'waiting'): Send<void> =>
  async (...request) => {
    const expected = comparable(await service(...request))
    let found = await relay(...request)
    if (accepted) return expect([request, found.status, found.body.state]).toEqual([request, 202, accepted])
    const isSame = () => isDeepStrictEqual(comparable(found), expected)
    // What the accountant does reaches the relay by webhook.
    if (request[0] === 'GET' && !isSame()) {
      await until(async () => {
        found = await relay(...request)
        return isSame()
      }).catch(() => undefined)
    }
    expect({ request, ...comparable(found) }).toEqual({ request, ...expected })
  }
