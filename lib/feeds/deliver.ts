import { createHmac } from 'node:crypto'
import { unixSeconds } from '../platform/environment.ts'
import { type HttpClient, headerOf, isOk, retryAfterSeconds } from '../platform/http-client.ts'
import { deliveryHeaders, SENDER_TIMEOUT_SECONDS } from '../protocol/webhook.ts'

/** The event that `relay stores test` sends to test an endpoint; it has no order. */
export const FEED_TEST = 'relay.test'

/** A store's endpoint did not accept a message. */
export class FeedError extends Error {
  override readonly name = 'FeedError'
  /** The store's `Retry-After`, in seconds. */
  readonly retryAfter: number | undefined
  /** Status code of the store's response. */
  readonly status: number | undefined
  /** Why the store could not be reached, such as `ECONNREFUSED`. */
  readonly code: string | undefined
  /** Milliseconds until the response or failure; undefined if the store was not called. */
  readonly ms: number | undefined

  constructor(
    message: string,
    about: Partial<Pick<FeedError, 'retryAfter' | 'status' | 'code' | 'ms'>> = {},
  ) {
    super(message)
    this.retryAfter = about.retryAfter
    this.status = about.status
    this.code = about.code
    this.ms = about.ms
  }
}

/** One message for a store's endpoint. */
type FeedDelivery = {
  url: string
  /** During a rotation the message is signed with the old and the new secret. */
  secrets: readonly string[]
  event: string
  delivery: string
  /** The message exactly as queued; these bytes are signed and sent. */
  body: string
  /**
   * The message attributes of a message to an exact store, which are the headers `Relay-Version` and `Relay-Cause`;
   * apart from these headers, it is sent exactly as the service sends a webhook.
   */
  exact?: Readonly<Record<string, string>> | undefined
}

/**
 * The headers of Standard Webhooks (https://www.standardwebhooks.com), so that its libraries can verify a message. The
 * key is the base64-decoded secret, without an optional `whsec_` prefix; for a secret that is not base64 the signature
 * is omitted.
 *
 * @param t unix time in seconds
 */
export const standardHeaders = ({
  secrets,
  delivery,
  body,
  t,
}: Pick<FeedDelivery, 'secrets' | 'delivery' | 'body'> & { t: number }): Record<string, string> => {
  const keys = secrets.map(secret => secret.replace(/^whsec_/, ''))
  const signatures = keys
    .filter(key => /^[A-Za-z0-9+/]+={0,2}$/.test(key) && key.length % 4 === 0)
    .map(key => createHmac('sha256', Buffer.from(key, 'base64')))
    .map(hmac => `v1,${hmac.update(`${delivery}.${t}.${body}`).digest('base64')}`)
  return {
    'webhook-id': delivery,
    'webhook-timestamp': String(t),
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  }
}

/** The headers of a message to an exact store, from its message attributes. */
export const relayHeaders = (attributes: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`relay-${name}`, value]))

/** The headers of a message, signed at a unix time in seconds. */
export const feedHeaders = (message: Omit<FeedDelivery, 'url'>, t: number): Record<string, string> => {
  const { secrets, event, delivery, body, exact } = message
  return {
    ...deliveryHeaders({ event, delivery, secret: secrets, t, body }),
    ...(exact ? relayHeaders(exact) : standardHeaders({ secrets, delivery, body, t })),
  }
}

/** Resolves when the store has accepted the message with any 2xx status; `ms` is the duration in milliseconds. */
export type Deliver = (delivery: FeedDelivery) => Promise<{ status: number; ms: number }>

/**
 * Sends a message as the accounting service sends a webhook (spec: Delivery, Signature; promise P9), so that a store's
 * existing receiver works unchanged, and adds the headers of Standard Webhooks. Does not follow redirects: a message
 * signed for one address is not sent to another.
 *
 * For an exact store it adds no such headers and signs with one secret: with the new one, or with the replaced one if the
 * store answers 401.
 *
 * The returned function throws a {@link FeedError} for anything but a 2xx within ten seconds.
 */
export const httpDelivery =
  ({ http, now }: { http: HttpClient; now: () => number }): Deliver =>
  async ({ url, secrets, event, delivery, body, exact }) => {
    const { origin, pathname, search } = new URL(url)
    const began = now()
    const send = (signing: readonly string[]) =>
      http({
        method: 'POST',
        origin,
        path: pathname + search,
        headers: feedHeaders({ secrets: signing, event, delivery, body, exact }, unixSeconds(now())),
        body,
        timeout: SENDER_TIMEOUT_SECONDS * 1000,
        maxBytes: 0,
      }).catch(error => {
        const message = error instanceof Error ? error.message : String(error)
        throw new FeedError(`Cannot reach the store: ${message}`, { code: error?.code, ms: now() - began })
      })
    const [current = '', replaced] = secrets
    let response = await send(exact === undefined ? secrets : [current])
    if (exact !== undefined && replaced !== undefined && response.status === 401)
      response = await send([replaced])
    const { status } = response
    const ms = now() - began
    if (isOk(status)) return { status, ms }
    const retryAfter = retryAfterSeconds(headerOf(response, 'retry-after'), now())
    throw new FeedError(`Cannot deliver to the store: it answered ${status}`, { retryAfter, status, ms })
  }
