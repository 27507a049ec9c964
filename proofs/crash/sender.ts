import { sign } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { httpEvent } from '../../test/support/lambda.ts'
import type { Clock } from './clock.ts'
import type { Lambda } from './functions.ts'

/** The sending pattern of webhooks and requests. */
export type Pattern = {
  /** `repeated`: sent again after it was accepted; `concurrent`: every attempt is sent twice at the same instant. */
  sends: 'once' | 'repeated' | 'concurrent'
  /** The delays after failed attempts, in milliseconds; a webhook fails after the last one. */
  waits: readonly number[]
}

/**
 * Sends by a pattern and retries until accepted.
 *
 * @param once sends once and returns whether it was accepted
 * @param insists whether the last delay is repeated forever
 * @returns false if all attempts failed
 */
export const sendIn = async (
  clock: Clock,
  pattern: Pattern,
  once: () => Promise<boolean>,
  insists: boolean,
): Promise<boolean> => {
  const { sends } = pattern
  for (let tries = 0; ; tries++) {
    const answers = await Promise.all(sends === 'concurrent' ? [once(), once()] : [once()])
    if (answers.includes(true)) {
      if (sends === 'repeated') clock.after(pattern.waits[0] ?? 0, once)
      return true
    }
    // Read late: patterns whose delays are never read give identical runs (explore.ts).
    const { waits } = pattern
    const wait = waits[insists ? Math.min(tries, waits.length - 1) : tries]
    if (wait === undefined) return false
    await clock.wait(wait)
  }
}

export type Sent = {
  delivery: string
  body: Uint8Array
  /** Unix seconds, as in the first signature. */
  signedAt: number
  state: 'pending' | 'accepted' | 'given up'
  /** The difference between the signed time and the relay's clock, in seconds. */
  attempts: { skew: number; status: number | undefined }[]
}

/** A request that must be refused or ignored, and its response. */
export type Stranger = {
  name: string
  /** The only valid response status. */
  expected: number
  /** The quarantined body, if the response is 400. */
  body: string
  status: number | undefined
}

type SenderOptions = {
  clock: Clock
  functions: Pick<Lambda, 'webhook'>
  pattern: Pattern
  strangers: Stranger[]
  secret: string
  /** How far the sender's clock is currently ahead, in milliseconds. */
  skew: () => number
  /** The relay's clock. */
  now: () => number
}

/** The accounting service's webhook sender: signs each attempt with the current time and retries until a 2xx. */
export const webhookSender = ({
  clock,
  functions,
  pattern,
  strangers,
  skew,
  now,
  ...given
}: SenderOptions) => {
  const sent: Sent[] = []
  let { secret } = given

  const post = (body: Uint8Array, headers: Record<string, string>) =>
    functions.webhook(httpEvent({ path: '/webhook', headers, body }))

  const attempt = async (webhook: Sent, t: number): Promise<boolean> => {
    const { body, delivery } = webhook
    const off = Math.abs(Math.floor(now() / 1000) - t)
    const response = await post(body, {
      [HEADERS.signature]: sign({ secret, t, body }),
      [HEADERS.delivery]: delivery,
      [HEADERS.event]: ORDER_UPDATED,
    })
    webhook.attempts.push({ skew: off, status: response?.statusCode })
    return response?.statusCode === 200
  }

  return {
    sent,
    async send(delivery: string, body: Uint8Array) {
      const t = () => Math.floor((clock.now() + skew()) / 1000)
      const webhook: Sent = { delivery, body, signedAt: t(), state: 'pending', attempts: [] }
      sent.push(webhook)
      const isAccepted = await sendIn(clock, pattern, () => attempt(webhook, t()), false)
      webhook.state = isAccepted ? 'accepted' : 'given up'
    },
    /** Replays the first attempt of the n-th webhook, from 0, unchanged. */
    replay(index: number) {
      const webhook = sent[index]
      if (webhook !== undefined) attempt(webhook, webhook.signedAt)
    },
    /** Changes the signing secret. */
    signWith(other: string) {
      secret = other
    },
    /** Sends a body once, signed with any secret. */
    async stranger(
      name: string,
      expected: number,
      body: object,
      { secret: key = secret, headers = {} }: { secret?: string; headers?: Record<string, string> } = {},
    ) {
      const text = JSON.stringify(body)
      const bytes = Buffer.from(text)
      const signature = sign({ secret: key, t: Math.floor(clock.now() / 1000), body: bytes })
      const answer = await post(bytes, { [HEADERS.signature]: signature, ...headers })
      strangers.push({ name, expected, body: text, status: answer?.statusCode })
    },
  }
}
