import { isNativeError } from 'node:util/types'
import { sign } from '@order-relay/lib/protocol/signature.ts'
import { ORDER_UPDATED } from '@order-relay/lib/protocol/webhook.ts'
import type { Attempt, Delivery } from '../store/webhooks.ts'

/** A delivery without a response by then has failed. */
const TIMEOUT_MS = 10_000
const EXCERPT_BYTES = 500

/** The part of a response kept in the log. The rest may be endless and is not read. */
const excerpt = async (response: Response) => {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= EXCERPT_BYTES) break
    }
  } catch {
    // The status was received, and only the status counts.
  }
  return Buffer.concat(chunks).subarray(0, EXCERPT_BYTES).toString('utf8')
}

/** fetch reports the reason, such as ECONNREFUSED, in the cause. */
const reasonOf = (error: unknown) => {
  const reason = isNativeError(error) && isNativeError(error.cause) ? error.cause : error
  return isNativeError(reason) ? reason.message || reason.name : String(reason)
}

export const isMade = ({ status }: Attempt): boolean => status !== null && status >= 200 && status < 300

/** The headers of a delivery (spec: Delivery). */
export const headersOf = (delivery: string, signature: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'user-agent': 'order-relay-sandbox/1.0',
  'x-service-event': ORDER_UPDATED,
  'x-service-delivery': delivery,
  'x-service-signature': signature,
})

/**
 * Sends a webhook once, signed with the current time (spec: Delivery, Signature).
 *
 * @param stopped aborts the attempt
 * @param timeoutMs maximum time to the response
 * @returns the outcome for the log; failures of the receiver or the network do not throw
 */
export const attempt = async (
  { url, body, delivery }: Pick<Delivery, 'url' | 'body' | 'delivery'>,
  secret: string,
  clock: () => Date,
  stopped: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<Attempt> => {
  const now = clock()
  const t = Math.floor(now.getTime() / 1000)
  const bytes = Buffer.from(body)
  const signature = sign({ secret, t, body: bytes })
  const started = performance.now()
  const late = AbortSignal.timeout(timeoutMs)
  const outcome = (found: Pick<Attempt, 'status' | 'error' | 'response'>): Attempt => ({
    at: now.toISOString(),
    t,
    signature,
    latency_ms: Math.round(performance.now() - started),
    ...found,
  })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: headersOf(delivery, signature),
      body: bytes,
      redirect: 'manual',
      signal: AbortSignal.any([stopped, late]),
    })
    return outcome({ status: response.status, error: null, response: await excerpt(response) })
  } catch (error) {
    const reason = late.aborted ? `no response within ${timeoutMs / 1000} s` : reasonOf(error)
    return outcome({ status: null, error: reason, response: null })
  }
}
