import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { unixSeconds } from '@order-relay/lib/platform/environment.ts'
import { REFRESH_INTERVAL_MS } from '@order-relay/lib/platform/parameters.ts'
import { type Body, readJson } from '@order-relay/lib/protocol/json.ts'
import { sign } from '@order-relay/lib/protocol/signature.ts'
import {
  deliveryHeaders,
  PROBE,
  PROBED_SIGNATURE,
  SENDER_TIMEOUT_SECONDS,
} from '@order-relay/lib/protocol/webhook.ts'
import * as v from 'valibot'
import { cannot, messageOf } from './errors.ts'
import { progress, type Terminal } from './terminal.ts'

/** JSON as a value; undefined when the text is not JSON. */
export const jsonOf = (body: Body): unknown => {
  const reading = readJson(body)
  return 'unreadable' in reading ? undefined : reading.json
}

/**
 * JSON with whitespace. A receiver that parses a body and writes it again before it verifies the signature loses the
 * whitespace, and does not verify it.
 */
export const spacedJson = (value: unknown): string => JSON.stringify(value, null, 1)

const text = v.fallback(v.optional(v.string()), undefined)

const envelope = v.looseObject({
  event: text,
  delivery: text,
  data: v.fallback(v.optional(v.looseObject({ source: text, external_id: text })), undefined),
})

/** The identifying fields of a webhook, event or feed message, as far as they can be read; never throws. */
export const envelopeOf = (body: Body) => {
  const { event, delivery, data } = v.parse(v.fallback(envelope, {}), jsonOf(body))
  return { event, delivery, source: data?.source, external_id: data?.external_id }
}

export type WebhookRequest = {
  url: string
  body: Uint8Array
  secret: string
  event: string
  delivery: string
  /** Unix time of signing, in seconds. */
  t: number
  headers?: Readonly<Record<string, string>>
}

export type WebhookResponse = {
  status: number
  body: string
  /** The `Date` header. */
  date: string | null
}

const reasonOf = (error: unknown) => {
  if (!(error instanceof Error)) return messageOf(error)
  if (error.name === 'TimeoutError') return `no response within ${SENDER_TIMEOUT_SECONDS} s`
  // fetch wraps the network error.
  return error.cause === undefined ? error.message : messageOf(error.cause)
}

export const nowSeconds = (): number => unixSeconds(Date.now())

/**
 * Sends a signed webhook as the accounting service does (spec: Delivery, Signature).
 *
 * @throws Failure when there is no response
 */
export const sendWebhook = async (request: WebhookRequest): Promise<WebhookResponse> => {
  const { url, headers, ...signed } = request
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...deliveryHeaders(signed), ...headers },
      body: Buffer.from(signed.body),
      redirect: 'manual',
      signal: AbortSignal.timeout(SENDER_TIMEOUT_SECONDS * 1000),
    })
    return { status: response.status, body: await response.text(), date: response.headers.get('date') }
  } catch (error) {
    throw cannot(`send a webhook to ${url}`, reasonOf(error), 'check the URL and that the relay is up', error)
  }
}

/**
 * Sends a signed ping: a relay that accepts the secret ignores it and returns 200.
 *
 * @param known a secret that the relay already accepts. It signs the ping, which only asks about the other secret: until
 *   the relay has read that, it returns 503 and counts no forgery
 */
export const ping = (url: string, secret: string, known?: string): Promise<WebhookResponse> => {
  const delivery = randomUUID()
  const body = Buffer.from(JSON.stringify({ event: PROBE, delivery, data: {} }))
  const t = nowSeconds()
  const request = { url, body, secret: known ?? secret, event: PROBE, delivery, t }
  const asks = known !== undefined && { headers: { [PROBED_SIGNATURE]: sign({ secret, t, body }) } }
  return sendWebhook({ ...request, ...asks })
}

export const isAccepted = ({ status }: WebhookResponse): boolean => status === 200

/** The relay reads new secrets at the first signature that does not match, but at a bounded rate. */
export const ACCEPTED_WITHIN_MS = REFRESH_INTERVAL_MS + 10_000

/**
 * The seconds at which a ping is sent while no known secret exists to sign it. The relay cannot tell a refused ping
 * from a forgery and counts it as one. The second ping is therefore sent only when the relay must have read the secrets
 * again.
 */
const UNKNOWN_PINGS: readonly number[] = [0, REFRESH_INTERVAL_MS / 1000 + 2]

const PING_SECONDS = 5

const REMEDY = 'the secret is stored; check that this is the URL of this relay, and run the command again'

/**
 * Waits until the relay accepts signatures of a secret.
 *
 * @param known a secret that the relay probably accepts, such as the previous one
 * @param pause waits for milliseconds; tests replace it
 * @throws Failure if it does not within 70 seconds
 */
export const waitUntilAccepted = async (
  terminal: Terminal,
  {
    url,
    secret,
    known,
    signal,
  }: { url: string; secret: string; known?: string | undefined; signal?: AbortSignal | undefined },
  pause: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<void> => {
  const last = ACCEPTED_WITHIN_MS / 1000
  using shown = progress(terminal, 'Waiting for the relay to accept the secret', last, ' s')
  let signing = known
  for (let second = 0; ; second++) {
    signal?.throwIfAborted()
    const isDue = signing === undefined ? UNKNOWN_PINGS.includes(second) : second % PING_SECONDS === 0
    if (isDue || second === last) {
      const response = await ping(url, secret, signing).catch(error => {
        throw cannot('confirm that the secret is accepted', messageOf(error), REMEDY, error)
      })
      if (isAccepted(response)) return
      // The relay does not know that one either.
      if (response.status === 401) signing = undefined
      // The relay returns 503 until it knows the secret that the ping asks about, and while the secret is being rotated.
      if (![401, 503].includes(response.status) || second === last) {
        const found = `${url} answered a signed ping with ${response.status}`
        throw cannot('confirm that the secret is accepted', found, REMEDY)
      }
    }
    await pause(1000)
    shown.advance()
  }
}
