import * as v from 'valibot'
import { type HttpClient, headerOf, httpClient, isOk, retryAfterSeconds } from '../platform/http-client.ts'
import { readJson } from '../protocol/json.ts'
import { ORDERS_PATH, type OrderKey, type OrderResult, orderResult } from '../protocol/order.ts'
import { AccountingError, errorOf } from './errors.ts'

export type AccountingOptions = {
  /** Base URL of the service, such as `https://accounting.example`. */
  baseUrl: string
  /**
   * Returns the API key; called before every request, so that the key can be rotated.
   *
   * @param isRefused whether the service refused the key of the last request
   */
  apiKey: (isRefused: boolean) => Promise<string>
  /**
   * Timeout of one call, connection and body included, in milliseconds.
   * @default 8000
   */
  timeout?: number
  /** @default a client that keeps connections open */
  http?: HttpClient
  /** Unix time in milliseconds. @default Date.now */
  now?: () => number
}

/** An order result with its HTTP status. */
type OrderAnswer = { status: number; result: OrderResult }

/**
 * Every method rejects with an {@link AccountingError}, or with the error of `apiKey` if no call was made. No method
 * retries. A request body is sent exactly as it was received.
 */
export type Accounting = {
  /** Creates an order (spec: POST orders). `duplicate` is true when it was registered before. */
  create: (order: OrderKey, request: string) => Promise<OrderAnswer>
  /** Reads an order (spec: GET orders). `within`: a shorter timeout, in milliseconds. */
  read: (order: OrderKey, within?: number) => Promise<OrderAnswer>
  /** Registers the payment of the whole invoice (spec: POST payment). */
  payment: (order: OrderKey, request: string) => Promise<OrderAnswer>
  /** Registers a full return (spec: POST refund). */
  refund: (order: OrderKey, request: string) => Promise<OrderAnswer>
  /** Registers a webhook URL and returns its signing secret (spec: PUT webhook). */
  registerWebhook: (url: string) => Promise<{ url: string; secret: string }>
  /** Removes a webhook URL (spec: DELETE webhook). */
  removeWebhook: (url: string) => Promise<void>
}

/** Default timeout of one call, in milliseconds. */
export const TIMEOUT_MS = 8000

const registration = v.looseObject({ url: v.string(), secret: v.pipe(v.string(), v.nonEmpty()) })

/** A client of the accounting service's API. */
export const accountingClient = ({
  baseUrl,
  apiKey,
  timeout = TIMEOUT_MS,
  http = httpClient(),
  now = Date.now,
}: AccountingOptions): Accounting => {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, '')
  let isRefused = false

  /** Sends a request and returns the status and the JSON of a 2xx response. */
  const send = async (
    method: string,
    path: string,
    body?: string,
    within = timeout,
  ): Promise<{ status: number; json?: unknown }> => {
    const key = await apiKey(isRefused)
    const response = await http({
      method,
      origin,
      path: prefix + path,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body,
      timeout: within,
    }).catch(error => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new AccountingError('unavailable', `Cannot reach the accounting service: ${reason}`)
    })
    const reading = readJson(response.text)
    const answer = 'unreadable' in reading ? { text: '' } : reading
    const { status } = response
    isRefused = false
    if (isOk(status)) return { status, ...('json' in answer && { json: answer.json }) }
    const error = errorOf(status, answer, retryAfterSeconds(headerOf(response, 'retry-after'), now()))
    isRefused = error.code === 'unauthorized'
    throw error
  }

  const order = async (method: string, key: OrderKey, path: string, body?: string, within?: number) => {
    const { status, json } = await send(method, path, body, within)
    const parsed = v.safeParse(orderResult, json)
    if (
      !parsed.success ||
      parsed.output.external_id !== key.external_id ||
      parsed.output.source !== key.source
    ) {
      throw new AccountingError('failed', 'The accounting service answered without a result of the order')
    }
    return { status, result: parsed.output }
  }

  const pathOf = ({ source, external_id }: OrderKey, action = '') =>
    `${ORDERS_PATH}${pathSegment(external_id)}/${action}?source=${encodeURIComponent(source)}`

  return {
    create: (key, body) => order('POST', key, ORDERS_PATH, body),
    read: (key, within) => order('GET', key, pathOf(key), undefined, within),
    payment: (key, body) => order('POST', key, pathOf(key, 'payment/'), body),
    refund: (key, body) => order('POST', key, pathOf(key, 'refund/'), body),
    async registerWebhook(url) {
      const { json } = await send('PUT', '/api/v1/webhook/', JSON.stringify({ url }))
      const parsed = v.safeParse(registration, json)
      if (!parsed.success) {
        throw new AccountingError('failed', 'The accounting service answered without a webhook secret')
      }
      return parsed.output
    },
    async removeWebhook(url) {
      await send('DELETE', `/api/v1/webhook/?url=${encodeURIComponent(url)}`)
    },
  }
}

/** Percent-encodes dots as well: "." and ".." must remain names. */
const pathSegment = (text: string) =>
  encodeURIComponent(text).replace(/^\.{1,2}$/, dots => dots.replaceAll('.', '%2E'))
