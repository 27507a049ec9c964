import { randomUUID } from 'node:crypto'
import { sign } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { cannot } from '../failure.ts'

/** As long as the accounting service waits. */
const TIMEOUT_MS = 10_000

export type WebhookRequest = {
  url: string
  body: Uint8Array
  secret: string
  event: string
  delivery: string
  /** Unix time in the signature. */
  t: number
}

export type WebhookAnswer = {
  status: number
  body: string
  /** The receiver's clock, where it tells. */
  date: Date | undefined
}

const dateOf = (header: string | null) => {
  const date = new Date(header ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date
}

const reasonOf = (error: unknown) => {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message
}

/**
 * Sends a webhook as the accounting service does (spec: Delivery, Signature).
 *
 * @throws Failure when there is no answer
 */
export const post = async ({
  url,
  body,
  secret,
  event,
  delivery,
  t,
}: WebhookRequest): Promise<WebhookAnswer> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'order-relay/1.0',
        [HEADERS.event]: event,
        [HEADERS.delivery]: delivery,
        [HEADERS.signature]: sign({ secret, t, body }),
      },
      body: Buffer.from(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return {
      status: response.status,
      body: await response.text(),
      date: dateOf(response.headers.get('date')),
    }
  } catch (error) {
    throw cannot(`send a webhook to ${url}`, reasonOf(error), 'check the address and that it is up', error)
  }
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

/** No store can have this source: stores.yml does not allow a blank in it. */
const NOBODY = 'relay ping'

/** Sends a signed webhook that concerns nobody: a relay that accepts the secret ignores it. */
export const ping = (url: string, secret: string): Promise<WebhookAnswer> => {
  const delivery = randomUUID()
  const data = { source: NOBODY, external_id: 'ping', status: 'invoiced' }
  const body = Buffer.from(JSON.stringify({ event: ORDER_UPDATED, delivery, data }))
  return post({ url, body, secret, event: ORDER_UPDATED, delivery, t: nowSeconds() })
}

/** Whether a ping was answered as a relay answers that knows the secret. */
export const isAccepted = ({ status }: WebhookAnswer): boolean => status === 200
