import { sign } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { httpEvent } from '../../test/support/lambda.ts'
import type { Clock } from './clock.ts'
import type { Lambda } from './functions.ts'

/** How webhooks and requests are sent. */
export type Pattern = {
  /** `repeated`: once more after it was accepted; `concurrent`: twice at the same instant, every time. */
  sends: 'once' | 'repeated' | 'concurrent'
  /** The waits after failed attempts, in milliseconds; a webhook is given up after the last. */
  waits: readonly number[]
}

/**
 * Sends in a pattern, and again until it is accepted.
 *
 * @param once sends once and says whether it was accepted
 * @param insists whether the last wait is repeated for ever
 * @returns false when it was given up
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
    // Only now: where nobody asks for the waits, they make no difference (explore.ts).
    const { waits } = pattern
    const wait = waits[insists ? Math.min(tries, waits.length - 1) : tries]
    if (wait === undefined) return false
    await clock.wait(wait)
  }
}

export type Sent = {
  delivery: string
  body: Uint8Array
  /** Unix seconds, as signed at first. */
  signedAt: number
  state: 'pending' | 'accepted' | 'given up'
  /** How far the signed time is off the relay's clock, in seconds. */
  attempts: { skew: number; status: number | undefined }[]
}

/** A request that must be refused or ignored, and how it was answered. */
export type Stranger = {
  name: string
  /** The only status it may be answered with. */
  expected: number
  /** What quarantine keeps when it is answered 400. */
  body: string
  status: number | undefined
}

type SenderOptions = {
  clock: Clock
  functions: Pick<Lambda, 'webhook'>
  pattern: Pattern
  strangers: Stranger[]
  secret: string
  /** How far the sender's clock is ahead at the moment, in milliseconds. */
  skew: () => number
  /** The relay's clock. */
  now: () => number
}

/** The accounting service's sender of webhooks: signs each attempt anew and retries until a 2xx. */
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
    /** From now on the service signs with another secret. */
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
