import type { IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import * as v from 'valibot'
import { isTooDeep, parseJson } from '../protocol/json.ts'
import { type OrderKey, type OrderResult, orderResult } from '../protocol/order.ts'
import type { OrderRequest, Payment, RefundRequest } from '../protocol/requests.ts'
import { AccountingError, errorOf, retryAfterSeconds } from './errors.ts'

export type AccountingOptions = {
  /** Base URL of the service, such as `https://accounting.example`. */
  baseUrl: string
  /** The API key, asked for anew at every call so that it may be exchanged. */
  apiKey: () => Promise<string>
  /**
   * How long one call may take, connection and body included, in milliseconds.
   * @default 8000
   */
  timeout?: number
}

/** A request as an object, or as the JSON text in which it arrived, which is sent on unchanged. */
type Json<Body> = Body | string

/** Every method rejects with an {@link AccountingError} and nothing else; none tries twice by itself. */
export type Accounting = {
  /** Creates an order (spec: POST orders). `duplicate` is true when it had been registered before. */
  create: (order: OrderKey, request: Json<OrderRequest>) => Promise<OrderResult>
  /** Reads an order (spec: GET orders). */
  read: (order: OrderKey) => Promise<OrderResult>
  /** Registers the payment of the whole invoice (spec: POST payment). */
  payment: (order: OrderKey, request: Json<Payment>) => Promise<OrderResult>
  /** Registers a full return (spec: POST refund). */
  refund: (order: OrderKey, request: Json<RefundRequest>) => Promise<OrderResult>
  /** Registers a webhook URL and answers with its signing secret (spec: PUT webhook). */
  registerWebhook: (url: string) => Promise<{ url: string; secret: string }>
  /** Removes a webhook URL (spec: DELETE webhook). */
  removeWebhook: (url: string) => Promise<void>
}

/** How long one call may take, in milliseconds, unless told otherwise. */
export const TIMEOUT_MS = 8000

const MAX_ANSWER_BYTES = 1024 * 1024

const registration = v.looseObject({ url: v.string(), secret: v.pipe(v.string(), v.nonEmpty()) })

type Sent = { status: number; body: unknown; retryAfter: number | undefined }

/** A client of the accounting service's API; connections are kept and reused. */
export const accountingClient = ({
  baseUrl,
  apiKey,
  timeout = TIMEOUT_MS,
}: AccountingOptions): Accounting => {
  const base = new URL(baseUrl)
  // Not imported, for the same reason as in `aws/post.ts`.
  const { request, Agent } = process.getBuiltinModule(base.protocol === 'https:' ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  const prefix = base.pathname.replace(/\/$/, '')

  const send = async (method: string, path: string, body?: unknown): Promise<Sent> => {
    const key = await apiKey()
    const json = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, accept: 'application/json' }
    if (json !== undefined) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = String(Buffer.byteLength(json))
    }
    try {
      // Not fetch: it would resolve an order named ".." away from the path.
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(
          {
            protocol: base.protocol,
            hostname: base.hostname,
            port: base.port,
            method,
            path: prefix + path,
            headers,
            agent,
            signal: AbortSignal.timeout(timeout),
          },
          resolve,
        )
          .on('error', reject)
          .end(json)
      })
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > MAX_ANSWER_BYTES) response.destroy(new Error('the answer has more than 1 MiB'))
      })
      const text = await readText(response)
      const retryAfter = retryAfterSeconds(response.headers['retry-after'], Date.now())
      return { status: response.statusCode ?? 0, body: jsonOf(text), retryAfter }
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new AccountingError('unavailable', `Cannot reach the accounting service: ${why}`, { cause })
    }
  }

  const order = async (method: string, key: OrderKey, path: string, body?: unknown) => {
    const { status, body: answer, retryAfter } = await send(method, path, body)
    if (status < 200 || status > 299) throw errorOf(status, answer, retryAfter)
    const parsed = v.safeParse(orderResult, answer)
    if (
      !parsed.success ||
      parsed.output.external_id !== key.external_id ||
      parsed.output.source !== key.source
    ) {
      throw new AccountingError(
        'unavailable',
        `The accounting service answered ${status} without a result of this order`,
        { status },
      )
    }
    return parsed.output
  }

  const pathOf = ({ source, external_id }: OrderKey, verb = '') =>
    `/api/v1/orders/${segment(external_id)}/${verb}?source=${encodeURIComponent(source)}`

  return {
    create: (key, body) => order('POST', key, '/api/v1/orders/', body),
    read: key => order('GET', key, pathOf(key)),
    payment: (key, body) => order('POST', key, pathOf(key, 'payment/'), body),
    refund: (key, body) => order('POST', key, pathOf(key, 'refund/'), body),
    async registerWebhook(url) {
      const { status, body, retryAfter } = await send('PUT', '/api/v1/webhook/', { url })
      if (status < 200 || status > 299) throw errorOf(status, body, retryAfter)
      const parsed = v.safeParse(registration, body)
      if (!parsed.success)
        throw new AccountingError(
          'unavailable',
          `The accounting service answered ${status} without a secret`,
          { status },
        )
      return parsed.output
    },
    async removeWebhook(url) {
      const { status, body, retryAfter } = await send(
        'DELETE',
        `/api/v1/webhook/?url=${encodeURIComponent(url)}`,
      )
      if (status < 200 || status > 299) throw errorOf(status, body, retryAfter)
    },
  }
}

/** Percent-encoded, dots included: "." and ".." must stay names. */
const segment = (text: string) =>
  encodeURIComponent(text).replace(/^\.{1,2}$/, dots => dots.replaceAll('.', '%2E'))

const jsonOf = (text: string): unknown => {
  try {
    const json = parseJson(text)
    return isTooDeep(json) ? undefined : json
  } catch {
    return undefined
  }
}
