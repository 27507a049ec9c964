import type { ErrorCode, OrderResult, RequestState, RequestView } from './messages.ts'
import { pause } from './pause.ts'

export type PaymentMethod = 'online' | 'transfer' | 'card' | 'pos' | 'cash'

/** A payment of the whole order (spec: payment). */
export type Payment = { method?: PaymentMethod; reference?: string; date?: string }

/** An order of the store (spec: Order request). Amounts are whole rials. */
export type OrderRequest = {
  /** Order number in the store, up to 100 characters. */
  external_id: string
  /** Order date, YYYY-MM-DD; the day of acceptance by default. */
  date?: string
  customer?: { mobile?: string; name?: string; email?: string }
  items: readonly {
    /** Product code in the accounting system. */
    sku: string
    /** Greater than zero; fractions are allowed. */
    quantity: number
    /** Per unit, before discount. */
    unit_price: number
    /** For the whole row, not per unit. */
    discount?: number
    name?: string
  }[]
  shipping?: number
  /** For the whole order. */
  discount?: number
  /** Only if the order is already paid. */
  payment?: Payment
}

/** The result of a create, payment, refund or withdrawal. */
export type RequestResult = {
  /**
   * 201 or 200 as the accounting service answers; 202 when the request is accepted and has not ended yet: it is to be sent,
   * or waits for the invoice to be finalized or for a create that the service refuses.
   */
  status: number
  /** The id and state of the request; undefined when the accounting service itself has answered. */
  id: string | undefined
  state: RequestState | undefined
  /** Fields of the request that have no effect, such as `items[0].discont`; at most ten, and a long name ends with `…`. */
  warnings: readonly string[]
  /** The order, as far as it is known. */
  order: Partial<OrderResult> & { source: string; external_id: string; duplicate?: boolean }
}

/** An order as the relay knows it; `relay` is absent when it was read from the accounting service. */
export type OrderRead = Partial<OrderResult> & {
  source: string
  external_id: string
  relay?: { version: number; updated_at: string; requests: readonly RequestView[] }
}

/** A request was refused, or could not be made. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  /** `unreachable` if no response arrived within the allowed time and attempts. */
  readonly code: ErrorCode | 'unreachable'
  /** The status of the response; undefined if there was none. */
  readonly status: number | undefined
  /** The field that caused the error, such as `items[3].quantity`. */
  readonly field: string | undefined
  /** The id of the refused request. While its `state` is `waiting`, it is sent again: withdraw or correct it. */
  readonly id: string | undefined
  readonly state: RequestState | undefined

  constructor(
    message: string,
    details: Partial<Pick<RequestError, 'code' | 'status' | 'field' | 'id' | 'state'>>,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.code = details.code ?? 'unreachable'
    this.status = details.status
    this.field = details.field
    this.id = details.id
    this.state = details.state
  }
}

export type ClientOptions = {
  /** Base URL of the relay, or of the accounting service itself. */
  baseUrl: string
  /** The store's key, or a function that returns it before every request. */
  key: string | (() => Promise<string>)
  /** The store's source. @default 'api' */
  source?: string
  /** Number of attempts of a request; every request is safe to repeat. @default 4 */
  attempts?: number
  /** Timeout of one attempt, in milliseconds. @default 15000 */
  timeout?: number
  /** @default the global fetch */
  fetch?: typeof fetch
}

export type RequestOptions = {
  /** How long the relay waits for the accounting service, in seconds, 0 to 10; with 0 it returns 202 immediately. */
  wait?: number
  /** Refuses fields that have no effect, instead of reporting them as `warnings`. @default false */
  strict?: boolean
  signal?: AbortSignal
}

type Answer = { response: Response; json: unknown }

/** Statuses of temporary failures. */
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504])

/** Too many open requests for an order end in hours, if not days. */
const isTemporary = ({ response, json }: Answer) =>
  RETRIED.has(response.status) && objectOf(objectOf(json).error).code !== 'too_many_requests'

/**
 * Seconds to wait before the next attempt: `Retry-After`, as a number or a date, up to half a minute; otherwise
 * exponential backoff with jitter.
 */
const delayOf = (attempt: number, retryAfter = '') => {
  const isNumber = /^\d+$/.test(retryAfter)
  const asked = isNumber ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return asked >= 0 ? Math.min(asked, 30) : Math.random() * 2 ** (attempt - 2)
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** A proxy may respond with something other than JSON. */
const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @throws RequestError for anything but a 2xx with JSON, or 204 */
const readResponse = ({ response, json }: Answer) => {
  const { status, headers, ok } = response
  const id = headers.get('relay-request-id') ?? undefined
  const state = (headers.get('relay-request-state') ?? undefined) as RequestState | undefined
  if (ok && (json !== undefined || status === 204)) {
    const unknown = headers.get('relay-warnings') ?? ''
    return { status, id, state, warnings: unknown.split(', ').filter(Boolean).map(decodeURIComponent), json }
  }
  const { code, message, field } = objectOf(objectOf(json).error)
  const text = textOf(message) ?? `The request was answered ${status}`
  const details = { status, code: textOf(code) ?? 'unknown', id, state }
  throw new RequestError(text, { ...details, ...(typeof field === 'string' && { field }) })
}

/**
 * A client of the stores' API, which is the accounting service's own order API: it also works with the service's base
 * URL. Every method rejects with a {@link RequestError}, or with the reason of an aborted `signal`.
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
export const createClient = ({
  baseUrl,
  key,
  source = 'api',
  attempts = 4,
  timeout = 15_000,
  fetch: send = fetch,
}: ClientOptions) => {
  const api = `${baseUrl.replace(/\/+$/, '')}/api/v1/`
  const query = `?${new URLSearchParams({ source })}`
  const pathOf = (external_id: string, action = '') =>
    `orders/${encodeURIComponent(external_id)}/${action}${query}`

  const requestJson = async (
    method: string,
    path: string,
    body: unknown,
    { wait, strict = false, signal }: RequestOptions = {},
  ) => {
    const waiting = wait === 0 ? 'respond-async' : `wait=${wait}`
    const preferences = [...(wait === undefined ? [] : [waiting]), ...(strict ? ['handling=strict'] : [])]
    const attempt = async () => {
      const aborted = AbortSignal.timeout(timeout)
      const response = await send(api + path, {
        method,
        headers: {
          authorization: `Bearer ${typeof key === 'function' ? await key() : key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(preferences.length > 0 && { prefer: preferences.join(', ') }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        // Redirects are not followed, so that the key is sent nowhere else; Cloudflare Workers do not support `error`.
        redirect: 'manual',
        signal: signal === undefined ? aborted : AbortSignal.any([signal, aborted]),
      })
      return { response, json: jsonOf(await response.text()) }
    }
    for (let number = 1; ; number += 1) {
      const isLast = number >= attempts
      const answer = await attempt().catch(cause => {
        signal?.throwIfAborted()
        if (isLast) throw new RequestError(`Cannot reach ${api}`, {}, { cause })
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
    create: (order: OrderRequest, options?: RequestOptions): Promise<RequestResult> =>
      request('POST', 'orders/', { source, ...order }, options),
    /** Reads an order (spec: GET orders); rejects with a {@link RequestError} `not_found` if there is none. */
    read: async (external_id: string, options?: RequestOptions): Promise<OrderRead> =>
      (await request('GET', pathOf(external_id), undefined, options)).order,
    /** Registers the payment of the whole invoice (spec: POST payment). */
    pay: (external_id: string, payment: Payment, options?: RequestOptions): Promise<RequestResult> =>
      request('POST', pathOf(external_id, 'payment/'), payment, options),
    /** Registers a full return (spec: POST refund). */
    refund: (external_id: string, reason?: string, options?: RequestOptions): Promise<RequestResult> =>
      request('POST', pathOf(external_id, 'refund/'), { ...(reason !== undefined && { reason }) }, options),
    /**
     * Withdraws a request that was accepted before and still waits; only the relay supports it. The state is `duplicate` if
     * nothing was left to withdraw. Rejects with a {@link RequestError} `registered`, or `held` for a payment that the
     * service holds or may hold.
     */
    withdraw: (
      external_id: string,
      of: 'create' | 'payment' | 'refund',
      options?: RequestOptions,
    ): Promise<RequestResult> =>
      request('DELETE', pathOf(external_id, of === 'create' ? '' : `${of}/`), undefined, options),
    /**
     * Registers the store's webhook URL (spec: PUT webhook), at the accounting service or, with `feed: http`, at the relay.
     * Registering it again gives it a new secret.
     */
    registerWebhook: async (
      url: string,
      options?: RequestOptions,
    ): Promise<{ url: string; secret: string }> =>
      (await requestJson('PUT', 'webhook/', { url }, options)).json as { url: string; secret: string },
    /** Removes the store's webhook URL (spec: DELETE webhook). */
    removeWebhook: async (url: string, options?: RequestOptions): Promise<void> => {
      await requestJson('DELETE', `webhook/?${new URLSearchParams({ url })}`, undefined, options)
    },
  }
}

export type Client = ReturnType<typeof createClient>
