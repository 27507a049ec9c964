import type { RequestKind } from '../../lib/orders/order.ts'
import type { IncomingResponse, OutgoingRequest } from '../../lib/platform/http-client.ts'
import { ORDERS_PATH, type OrderKey, REGISTRATION_PATH } from '../../lib/protocol/order.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { httpEvent } from '../../test/support/lambda.ts'
import { type ReceivedMessage, readFeedMessage } from '../../test/support/oracle.ts'
import { CUSTOMER, NAME, REASON } from '../../test/support/personal.ts'
import { DAY } from '../../test/support/scenarios.ts'
import { isAuthentic } from '../../test/support/signature.ts'
import type { Clock } from './clock.ts'
import type { Lambda } from './functions.ts'
import { type Pattern, type Stranger, sendIn } from './sender.ts'

/** A store's key, and the secret of its HTTP feed. */
export const storeKeyOf = (source: string) => `store-key-of-${source}`
export const feedSecretOf = (source: string) => `whsec_feed_of_${source}`

/** A response of the HTTP feed's endpoint. */
export type EndpointAnswer = { status?: number; retryAfter?: number; takes?: number }

const ITEMS = [{ sku: 'A-1', name: REASON, quantity: 1, unit_price: 1_500_000 }]

/** The stores: they make requests in sequence, retry failures, and read their feeds. */
export const storeClients = (
  clock: Clock,
  functions: Pick<Lambda, 'api'>,
  pattern: Pattern,
  strangers: Stranger[],
) => {
  /** The messages received for each order, as JSON text, since a simulated year has half a million of them. */
  const feeds = new Map<string, string[]>()
  const feedSecrets = new Map<string, string>()
  const accepted = new Map<string, string[]>()
  const problems: string[] = []
  const impatience: string[] = []
  let notBefore = 0
  const listeners = new Map<string, (message: ReceivedMessage) => void>()

  const request = (method: string, path: string, key: string, body?: object | string, headers: object = {}) =>
    functions.api(
      httpEvent({
        receivedAt: clock.now(),
        method,
        path: path.startsWith('/') ? path : ORDERS_PATH + path,
        headers: { authorization: `Bearer ${key}`, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )

  /** Makes a change request by the pattern until it is accepted. */
  const change = (
    method: 'POST' | 'DELETE',
    { source, external_id }: OrderKey,
    path: string,
    body?: object,
  ) =>
    sendIn(
      clock,
      pattern,
      async () => {
        const response = await request(method, `${path}?source=${source}`, storeKeyOf(source), body)
        // An accepted request has an id, regardless of the service's response.
        const id = response?.headers?.['relay-request-id']
        if (id !== undefined) accepted.set(external_id, [...(accepted.get(external_id) ?? []), String(id)])
        else if (Number(response?.statusCode) < 300) problems.push('a request was accepted without an id')
        // Like the store package: no retry is long enough for open requests to end.
        return id !== undefined || response?.statusCode === 429
      },
      true,
    )

  /** Registers or removes a URL until it is answered; in sequence, since the last secret is the one in use. */
  const registering = (method: 'PUT' | 'DELETE', source: string, url: string) =>
    sendIn(
      clock,
      { ...pattern, sends: 'once' },
      async () => {
        const answer = await request(method, REGISTRATION_PATH, storeKeyOf(source), { url })
        if (answer?.statusCode === 200) feedSecrets.set(source, JSON.parse(answer.body ?? '').secret)
        return answer?.statusCode === 200 || answer?.statusCode === 204
      },
      true,
    )

  const receive = (body: string) => {
    const { external_id } = JSON.parse(body).data
    const received = feeds.get(external_id)
    if (received === undefined) feeds.set(external_id, [body])
    else received.push(body)
    listeners.get(external_id)?.(readFeedMessage(body))
  }

  return {
    /** The messages received for an order, in sequence of arrival. */
    feedOf: (external_id: string) => feeds.get(external_id) ?? [],
    /** The store loses its data of an order. */
    forget: (external_id: string) => void feeds.delete(external_id),
    /** Changes the secret with which a store verifies messages. */
    verifyWith: (source: string, secret: string) => void feedSecrets.set(source, secret),
    register: (source: string, url: string) => registering('PUT', source, url),
    unregister: (source: string, url: string) => registering('DELETE', source, url),
    /** Ids of accepted requests by order. */
    accepted,
    problems,
    /** Deliveries before the endpoint's Retry-After, and 202 responses before the store's preferred wait. */
    impatience,
    receive,
    /** Listens to the messages of an order. */
    onMessage: (external_id: string, listener: (message: ReceivedMessage) => void) =>
      void listeners.set(external_id, listener),
    // With a date, since determining the current day would double the time of a new environment.
    create: (order: OrderKey) =>
      change('POST', order, '', { ...order, date: '2026-01-01', customer: CUSTOMER, items: ITEMS }),
    /** Creates an order and prefers to wait for the service's response. */
    async createAndWait(order: OrderKey) {
      const body = { ...order, date: '2026-01-01', items: ITEMS }
      const answer = await request('POST', '', storeKeyOf(order.source), body, { prefer: 'wait=5' })
      if (answer?.statusCode === 202)
        impatience.push(`${order.external_id} was answered before it was decided`)
    },
    payment: (order: OrderKey) =>
      change('POST', order, `${order.external_id}/payment/`, { method: 'card', reference: NAME }),
    refund: (order: OrderKey) => change('POST', order, `${order.external_id}/refund/`, { reason: REASON }),
    withdraw: (order: OrderKey, what: RequestKind) =>
      change('DELETE', order, `${order.external_id}/${what === 'create' ? '' : `${what}/`}`),
    /** Reads an order, with retries for half a day, which is longer than any outage. */
    async read({ source, external_id }: OrderKey) {
      const end = clock.now() + DAY / 2
      const read = () => request('GET', `${external_id}/?source=${source}`, storeKeyOf(source))
      while ((await read())?.statusCode !== 200) {
        if (clock.now() > end) return void problems.push(`${external_id} cannot be read`)
        await clock.wait(pattern.waits[0] ?? 0)
      }
    },
    /** Makes a request that must be refused with the status `expected`. */
    async stranger(
      name: string,
      expected: number,
      key: string,
      body: object | string,
      [method, path] = ['POST', ''],
    ) {
      const answer = await request(method, path, key, body)
      strangers.push({ name, expected, body: '', status: answer?.statusCode })
    },
    /** A message of the HTTP feed arrives at the store's endpoint. */
    deliver(
      { origin, headers, body = '' }: OutgoingRequest,
      { status = 200, retryAfter }: EndpointAnswer,
    ): IncomingResponse {
      const [source = ''] = new URL(origin).host.split('.')
      const secret = feedSecrets.get(source) ?? feedSecretOf(source)
      const now = Math.floor(clock.now() / 1000)
      if (!isAuthentic(headers[HEADERS.signature] ?? '', body, [secret], now))
        return { status: 401, headers: {}, text: '' }
      if (clock.now() < notBefore)
        impatience.push(`delivered ${notBefore - clock.now()} ms before it was asked to`)
      if (retryAfter !== undefined) notBefore = clock.now() + retryAfter * 1000
      if (status === 200) receive(body)
      return {
        status,
        headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
        text: NAME,
      }
    },
  }
}
