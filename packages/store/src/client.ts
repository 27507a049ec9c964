import {
  ArgumentError,
  assertArguments,
  assertKnown,
  assertOptions,
  BOOLEAN,
  either,
  FUNCTION,
  HTTP_URL,
  isObject,
  jsonText,
  type Kind,
  NEW_ORDER,
  OBJECT,
  ORDER,
  oneOf,
  optional,
  POSITIVE,
  SIGNAL,
  STRING,
  TEXT,
  WAIT,
} from './arguments.ts'
import { delayOf, pause, shortWait } from './pause.ts'
import {
  type OrderRead,
  type OrderRequest,
  type Payment,
  RequestError,
  type RequestResult,
  unanswered,
} from './requests.ts'
import { isTemporary, jsonOf, readResponse } from './response.ts'

export type ClientOptions = {
  /** Base URL of the relay, or of the accounting service itself, without `/api/v1`. */
  baseUrl: string
  /** The store's key, or a function that returns it before every request. */
  key: string | (() => Promise<string>)
  /** The store's source. Without it, requests name no source, and are for `api`. */
  source?: string
  /** Number of attempts of a request; every request is safe to repeat. @default 4 */
  attempts?: number
  /**
   * Timeout of one attempt, in milliseconds. If it is short, the client asks the relay to answer before it, but to wait
   * for the accounting service for at least one second. It must be longer than the `wait` of a request. @default 15000
   */
  timeout?: number
  /** @default the global fetch */
  fetch?: typeof fetch
}

export type RequestOptions = {
  /**
   * How long the relay waits for the accounting service, in seconds, 0 to 10, and less than `timeout`; with 0 it returns
   * 202 immediately.
   */
  wait?: number
  /** Refuses fields that have no effect, instead of reporting them as `warnings`. @default false */
  strict?: boolean
  signal?: AbortSignal
}

const KEY: Kind = [
  'a string of visible Latin-1 characters (a local key contains its source percent-encoded)',
  value => typeof value === 'string' && /^[!-~\u00a1-\u00ff]+$/.test(value),
]
/** The client adds the interface's own path. */
const BASE_URL: Kind = [
  `${HTTP_URL[0]} and ends before "/api/v1"`,
  value => HTTP_URL[1](value) && !/\/api\/v1(\/orders)?\/*$/.test(String(value)),
  'shown',
]
const REASON: Kind = ['a string, since the refund is always of the whole order', STRING[1]]
const WITHDRAWN = oneOf('create', 'payment', 'refund')

const keyOf = async (key: () => Promise<string>) => {
  try {
    return await key()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RequestError(`Cannot send a request: the function "key" failed: ${reason}`, {}, { cause })
  }
}

const PAYMENT_FIELDS = ['method', 'reference', 'date'] satisfies (keyof Payment)[]

/**
 * The service ignores other fields, and would register a payment with an `amount` as a payment of the whole invoice.
 */
const assertPayment = (action: string, payment: object) =>
  assertKnown(
    action,
    'payment field',
    payment,
    PAYMENT_FIELDS,
    ', and the payment is always of the whole invoice',
  )

/**
 * A client of the stores' API, which is the accounting service's own order API: it also works with the service's base
 * URL. Every method rejects with a {@link RequestError}, a `TypeError` for an invalid argument, or the reason of an
 * aborted `signal`.
 *
 * @throws TypeError if an option is missing or invalid
 *
 * @example
 * ```ts
 * import { createClient } from 'order-relay-store'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:4000', key: 'sandbox-key', source: 'demo-shop' })
 * const items = [{ sku: 'SKU-1', quantity: 2, unit_price: 1_500_000 }]
 * const { status, order } = await client.create({ external_id: '1001', items })
 * console.log(status, order.status) // 201 invoiced
 * console.log((await client.pay('1001', { method: 'card' })).order.status) // paid
 * const { url } = await client.registerWebhook('http://127.0.0.1:8080/webhook')
 * console.log(url) // http://127.0.0.1:8080/webhook
 * ```
 */
export const createClient = (options: ClientOptions) => {
  assertArguments('create a client', { options: [options, OBJECT] })
  const { baseUrl, key, source, attempts = 4, timeout = 15_000, fetch: send = fetch } = options
  assertOptions('create a client', options, {
    baseUrl: [baseUrl, BASE_URL],
    key: [key, either(KEY, FUNCTION)],
    source: [source, optional(TEXT)],
    attempts: [attempts, POSITIVE],
    timeout: [timeout, POSITIVE],
    fetch: [send, FUNCTION],
  })
  const api = `${baseUrl.replace(/\/+$/, '')}/api/v1/`
  // If the request names no source, the relay's refusal says which source the key belongs to.
  const named = source !== undefined && { source }
  const query = named ? `?${new URLSearchParams(named)}` : ''
  const pathOf = (external_id: string, action = '') =>
    `orders/${encodeURIComponent(external_id)}/${action}${query}`
  const authorization = async () => {
    const token = typeof key === 'function' ? await keyOf(key) : key
    assertArguments('send a request', { key: [token, KEY] })
    return `Bearer ${token}`
  }

  const requestJson = async (method: string, path: string, body: unknown, options: RequestOptions = {}) => {
    assertArguments('send a request', { options: [options, OBJECT] })
    const { wait, strict = false, signal } = options
    assertOptions('send a request', options, {
      wait: [wait, optional(WAIT)],
      strict: [strict, BOOLEAN],
      signal: [signal, optional(SIGNAL)],
    })
    if (wait !== undefined && wait * 1000 >= timeout)
      throw new ArgumentError(
        `Cannot send a request: wait is ${wait} seconds, and timeout is ${timeout} milliseconds; timeout must be longer`,
      )
    const isRead = method === 'GET'
    const asked = wait ?? (isRead ? undefined : shortWait(timeout))
    const waiting = asked === 0 ? 'respond-async' : `wait=${asked}`
    const preferences = [...(asked === undefined ? [] : [waiting]), ...(strict ? ['handling=strict'] : [])]
    const text = body === undefined ? undefined : jsonText(body)
    const attempt = async () => {
      const aborted = AbortSignal.timeout(timeout)
      const response = await send(api + path, {
        method,
        headers: {
          authorization: await authorization(),
          ...(text !== undefined && { 'content-type': 'application/json' }),
          ...(preferences.length > 0 && { prefer: preferences.join(', ') }),
        },
        body: text ?? null,
        // Redirects are not followed, so that the key is sent nowhere else; Cloudflare Workers do not support `error`.
        redirect: 'manual',
        signal: signal === undefined ? aborted : AbortSignal.any([signal, aborted]),
      })
      return { response, json: jsonOf(await response.text()) }
    }
    const failures: unknown[] = []
    for (let number = 1; ; number += 1) {
      const isLast = number >= attempts
      const answer = await attempt().catch(cause => {
        signal?.throwIfAborted()
        if (cause instanceof ArgumentError) throw cause
        failures.push(cause)
        if (isLast) throw unanswered({ api, isRead, timeout }, failures)
        return undefined
      })
      if (answer !== undefined && (isLast || !isTemporary(answer))) return readResponse(answer)
      const retryAfter = answer?.response.headers.get('retry-after') ?? undefined
      await pause(delayOf(number, retryAfter) * 1000, signal)
      signal?.throwIfAborted()
    }
  }

  const request = async (...parameters: Parameters<typeof requestJson>): Promise<RequestResult> => {
    const { json, ...answer } = await requestJson(...parameters)
    return { ...answer, order: json as RequestResult['order'] }
  }

  return {
    /** Creates an order (spec: POST orders). Safe to repeat. */
    create: async (order: OrderRequest, options?: RequestOptions): Promise<RequestResult> => {
      assertArguments('create an order', { order: [order, OBJECT] })
      assertArguments('create an order', { external_id: [order.external_id, NEW_ORDER] })
      if (isObject(order.payment)) assertPayment('create an order', order.payment)
      // The type has no source, but the store's code may pass one.
      const { source: other = null } = order as { source?: unknown }
      if (named && other !== null && other !== source)
        throw new ArgumentError(
          `Cannot create an order: its source is ${JSON.stringify(other)}, but the client's source is ${JSON.stringify(source)}; create another client with a key for ${JSON.stringify(other)}`,
        )
      return request('POST', 'orders/', { ...order, ...named }, options)
    },
    /**
     * Reads an order (spec: GET orders). Rejects with a {@link RequestError} `not_found` if the service does not have it and
     * the relay has no create of it; an order whose create was refused has no `status`.
     */
    read: async (external_id: string, options?: RequestOptions): Promise<OrderRead> => {
      assertArguments('read an order', { external_id: [external_id, ORDER] })
      const { status, json } = await requestJson('GET', pathOf(external_id), undefined, options)
      const order = json as OrderRead
      if (status < 400) return order
      return { source: source ?? 'api', external_id, ...(order.relay && { relay: order.relay }) }
    },
    /** Registers the payment of the whole invoice (spec: POST payment). */
    pay: async (external_id: string, payment: Payment, options?: RequestOptions): Promise<RequestResult> => {
      assertArguments('pay an order', { external_id: [external_id, ORDER], payment: [payment, OBJECT] })
      assertPayment('pay an order', payment)
      return request('POST', pathOf(external_id, 'payment/'), payment, options)
    },
    /** Registers a full return (spec: POST refund). */
    refund: async (
      external_id: string,
      reason?: string,
      options?: RequestOptions,
    ): Promise<RequestResult> => {
      assertArguments('refund an order', {
        external_id: [external_id, ORDER],
        reason: [reason, optional(REASON)],
      })
      return request(
        'POST',
        pathOf(external_id, 'refund/'),
        { ...(reason !== undefined && { reason }) },
        options,
      )
    },
    /**
     * Withdraws an accepted request that still waits; only the relay supports this. The state is `duplicate` if nothing is
     * left to withdraw. Rejects with a {@link RequestError} `registered`, or `held` for a payment that the
     * service holds or may hold.
     */
    withdraw: async (
      external_id: string,
      of: 'create' | 'payment' | 'refund',
      options?: RequestOptions,
    ): Promise<RequestResult> => {
      assertArguments('withdraw a request', { external_id: [external_id, ORDER], of: [of, WITHDRAWN] })
      return request('DELETE', pathOf(external_id, of === 'create' ? '' : `${of}/`), undefined, options)
    },
    /**
     * Registers the store's webhook URL (spec: PUT webhook), at the accounting service or, with `feed: http`, at the relay.
     * Registering it again gives it a new secret.
     */
    registerWebhook: async (
      url: string,
      options?: RequestOptions,
    ): Promise<{ url: string; secret: string }> => {
      assertArguments('register a webhook', { url: [url, HTTP_URL] })
      return (await requestJson('PUT', 'webhook/', { url }, options)).json as { url: string; secret: string }
    },
    /** Removes the store's webhook URL (spec: DELETE webhook). */
    removeWebhook: async (url: string, options?: RequestOptions): Promise<void> => {
      assertArguments('remove a webhook', { url: [url, TEXT] })
      await requestJson('DELETE', `webhook/?${new URLSearchParams({ url })}`, undefined, options)
    },
  }
}

export type Client = ReturnType<typeof createClient>
