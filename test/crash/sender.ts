import { sign } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { httpEvent } from '../support/lambda.ts'
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
 * Sends in a pattern, and again until it is accepted or given up.
 *
 * @param once sends once and says whether it was accepted
 * @param waitAfter the wait after so many failures; without one, it is given up
 */
export const sendIn = (
  clock: Clock,
  { sends, waits }: Pattern,
  once: (onAnswer: (accepted: boolean) => void) => void,
  waitAfter: (tries: number) => number | undefined,
  then: (accepted: boolean) => void,
): void => {
  const attempt = (tries: number) => {
    let open = sends === 'concurrent' ? 2 : 1
    let any = false
    for (let copies = open; copies > 0; copies--)
      once(accepted => {
        any ||= accepted
        if (--open > 0) return
        const wait = waitAfter(tries)
        if (!any && wait !== undefined) return clock.after(wait, () => attempt(tries + 1))
        if (any && sends === 'repeated') clock.after(waits[0] ?? 0, () => once(() => undefined))
        then(any)
      })
  }
  attempt(0)
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

/** A request that must be refused or ignored. */
export type Stranger = {
  name: string
  /** The only status it may be answered with. */
  expected: number
  /** What quarantine keeps when it is answered 400. */
  body: string
  statuses: (number | undefined)[]
}

/** The accounting service's sender of webhooks: signs each attempt anew and retries until a 2xx. */
export const webhookSender = (
  clock: Clock,
  functions: Pick<Lambda, 'webhook'>,
  pattern: Pattern,
  initialSecret: string,
  /** The relay's clock. */
  now: () => number,
) => {
  const { waits } = pattern
  const sent: Sent[] = []
  const strangers: Stranger[] = []
  let secret = initialSecret

  const post = (
    body: Uint8Array,
    headers: Record<string, string>,
    onStatus: (status: number | undefined) => void,
  ) =>
    functions.webhook(httpEvent({ path: '/webhook', headers, body }), response =>
      onStatus(response?.statusCode),
    )

  const attempt = (webhook: Sent, t: number, onAnswer: (accepted: boolean) => void) => {
    const { body, delivery } = webhook
    const skew = Math.abs(Math.floor(now() / 1000) - t)
    const headers = {
      [HEADERS.signature]: sign({ secret, t, body }),
      [HEADERS.delivery]: delivery,
      [HEADERS.event]: ORDER_UPDATED,
    }
    post(body, headers, status => {
      webhook.attempts.push({ skew, status })
      onAnswer(status === 200)
    })
  }

  /** @param skew how far the sender's clock is ahead, in milliseconds, asked at every attempt */
  const send = (delivery: string, body: Uint8Array, skew: () => number = () => 0): Sent => {
    const t = () => Math.floor((clock.now() + skew()) / 1000)
    const webhook: Sent = { delivery, body, signedAt: t(), state: 'pending', attempts: [] }
    sent.push(webhook)
    sendIn(
      clock,
      pattern,
      onAnswer => attempt(webhook, t(), onAnswer),
      tries => waits[tries],
      accepted => {
        webhook.state = accepted ? 'accepted' : 'given up'
      },
    )
    return webhook
  }

  return {
    sent,
    strangers,
    send,
    /** Replays the first attempt of the n-th webhook, from 0, unchanged. */
    replay(index: number) {
      const webhook = sent[index]
      if (webhook !== undefined) attempt(webhook, webhook.signedAt, () => undefined)
    },
    /** From now on the service signs with another secret. */
    signWith(other: string) {
      secret = other
    },
    /** Sends a body once, signed with any secret; `expected` is the only status it may be answered with. */
    stranger(
      name: string,
      expected: number,
      {
        body,
        secret: key = secret,
        headers = {},
      }: { body: object; secret?: string; headers?: Record<string, string> },
    ) {
      const stranger: Stranger = { name, expected, body: JSON.stringify(body), statuses: [] }
      strangers.push(stranger)
      const bytes = Buffer.from(stranger.body)
      const signature = sign({ secret: key, t: Math.floor(clock.now() / 1000), body: bytes })
      post(bytes, { [HEADERS.signature]: signature, ...headers }, status => stranger.statuses.push(status))
    },
  }
}
