import { createHmac } from 'node:crypto'
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import * as v from 'valibot'
import type { IncomingResponse, OutgoingRequest } from '../../lib/platform/http-client.ts'
import type { OrderKey } from '../../lib/protocol/order.ts'
import { HEADERS } from '../../lib/protocol/webhook.ts'
import { type ReceivedMessage, readFeedMessage } from '../oracle.ts'
import { httpEvent } from '../support/lambda.ts'
import type { Clock } from './clock.ts'
import type { Lambda } from './functions.ts'
import type { Pattern, Stranger } from './sender.ts'

/** The key of a store, and the secret of its HTTP feed. */
export const storeKeyOf = (source: string) => `store-key-of-${source}`
export const FEED_SECRET = 'whsec_feed_of_web'

/** How the endpoint of the store with an HTTP feed answers. */
export type EndpointAnswer = { status?: number; retryAfter?: number; takes?: number }

const accepted = v.pipe(v.string(), v.parseJson(), v.looseObject({ id: v.string() }))

type Body = { source: string; [field: string]: unknown }

const ITEMS = [{ sku: 'A-1', quantity: 1, unit_price: 1_500_000 }]

/** The rule of the spec (Signature), written independently of lib. */
const isSigned = (header: string, body: string, now: number) => {
  const [, t = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  const expected = createHmac('sha256', FEED_SECRET).update(`${t}.${body}`).digest('hex')
  return signature === expected && Math.abs(now - Number(t)) <= 300
}

/** The stores: they make their requests one after the other, repeat what failed, and read their feeds. */
export const storeClients = (clock: Clock, functions: Pick<Lambda, 'api'>, { sends, waits }: Pattern) => {
  const feed: ReceivedMessage[] = []
  const acceptedIds: string[] = []
  const strangers: Stranger[] = []
  const problems: string[] = []
  const impatience: string[] = []
  let notBefore = 0
  const listeners: ((message: ReceivedMessage) => void)[] = []

  const request = (
    method: string,
    path: string,
    body: object | undefined,
    key: string,
    onAnswer: (response: APIGatewayProxyStructuredResultV2 | undefined) => void,
  ) =>
    functions.api(
      httpEvent({
        method,
        path: `/api/v1/orders/${path}`,
        headers: { authorization: `Bearer ${key}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
      onAnswer,
    )

  const post = (path: string, body: Body, onAnswer: (accepted: boolean) => void) =>
    request('POST', path, body, storeKeyOf(body.source), response => {
      if (response?.statusCode === 202) {
        const parsed = v.safeParse(accepted, response.body)
        if (parsed.success) acceptedIds.push(parsed.output.id)
        else problems.push('a request was answered 202 without an id')
      }
      onAnswer(response?.statusCode === 202)
    })

  const repeatUntilAccepted = (path: string, body: Body, then: () => void) => {
    const attempt = (tries: number) => {
      const copies = sends === 'concurrent' ? 2 : 1
      let open = copies
      let any = false
      for (let copy = 0; copy < copies; copy++)
        post(path, body, isAccepted => {
          any ||= isAccepted
          open--
          if (open > 0) return
          const wait = waits[Math.min(tries, waits.length - 1)] ?? 0
          if (!any) return clock.after(wait, () => attempt(tries + 1))
          if (sends === 'repeated') clock.after(wait, () => post(path, body, () => undefined))
          then()
        })
    }
    attempt(0)
  }

  const receive = (body: string) => {
    const message = readFeedMessage(body)
    feed.push(message)
    for (const listener of listeners) listener(message)
  }
  const nothing = () => undefined

  return {
    feed,
    /** Ids of requests that were answered with 202. */
    acceptedIds,
    strangers,
    problems,
    /** Deliveries that came before the endpoint asked for them. */
    impatience,
    receive,
    onMessage: (listener: (message: ReceivedMessage) => void) => void listeners.push(listener),
    create: (order: OrderKey, then: () => void = nothing) =>
      repeatUntilAccepted('', { ...order, items: ITEMS }, then),
    pay: ({ source, external_id }: OrderKey, then: () => void = nothing) =>
      repeatUntilAccepted(`${external_id}/payment/`, { source, method: 'card' }, then),
    refund: ({ source, external_id }: OrderKey, then: () => void = nothing) =>
      repeatUntilAccepted(`${external_id}/refund/`, { source }, then),
    /** Reads an order until it is answered. */
    read(order: OrderKey) {
      const { source, external_id } = order
      request('GET', `${external_id}/?source=${source}`, undefined, storeKeyOf(source), response => {
        if (response?.statusCode !== 200) clock.after(waits[0] ?? 0, () => this.read(order))
      })
    },
    /** Makes a request that must not be accepted; `expected` is the only status it may be answered with. */
    stranger(name: string, expected: number, key: string, body: object) {
      const stranger: Stranger = { name, expected, statuses: [] }
      strangers.push(stranger)
      request('POST', '', body, key, response => stranger.statuses.push(response?.statusCode))
    },
    /** A message of the HTTP feed arrives at the store's endpoint. */
    deliver(
      { headers, body = '' }: OutgoingRequest,
      { status = 200, retryAfter }: EndpointAnswer,
    ): IncomingResponse {
      if (!isSigned(headers[HEADERS.signature] ?? '', body, Math.floor(clock.now() / 1000)))
        return { status: 401, headers: {}, text: '' }
      if (clock.now() < notBefore)
        impatience.push(`delivered ${notBefore - clock.now()} ms before it was asked to`)
      if (retryAfter !== undefined) notBefore = clock.now() + retryAfter * 1000
      if (status === 200) receive(body)
      return {
        status,
        headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
        text: '',
      }
    },
  }
}
