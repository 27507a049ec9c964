import { MAX_BODY_BYTES } from '../../lib/body.ts'
import { sign, TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import type { Job } from './draw.ts'
import type { Kind } from './plan.ts'

export type Request = { headers: Record<string, string>; body: Buffer }

const oversized = (body: string) => {
  const padding = ' '.repeat(MAX_BODY_BYTES + 1 - Buffer.byteLength(body))
  return `${body}${padding}`
}

/** How far the clock of a stale request is off: behind for one, ahead for the next, beyond any waiting. */
const AHEAD = 2 * TOLERANCE_SECONDS

const signatureOf = (kind: Kind, delivery: string, secret: string, now: number, body: Buffer): string => {
  const isEven = Number.parseInt(delivery.slice(0, 8), 16) % 2 === 0
  switch (kind) {
    case 'bad-signature':
      return sign({ secret: `not ${secret}`, t: now, body })
    case 'stale':
      return sign({ secret, t: isEven ? now - TOLERANCE_SECONDS - 1 : now + AHEAD, body })
    case 'malformed':
      return isEven ? 'v1=' : sign({ secret, t: now, body }).toUpperCase()
    default:
      return sign({ secret, t: now, body })
  }
}

/**
 * A webhook as the service sends it (spec: Delivery), or as a forger would. What is too large and what is
 * foreign has a good signature.
 *
 * @param now unix seconds
 */
export const signedRequest = ({ kind, delivery, body: text }: Job, secret: string, now: number): Request => {
  const body = Buffer.from(kind === 'oversized' ? oversized(text) : text)
  return {
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'flood/1.0',
      [HEADERS.event]: ORDER_UPDATED,
      [HEADERS.delivery]: delivery,
      [HEADERS.signature]: signatureOf(kind, delivery, secret, now, body),
      // API Gateway hands it on, and with it the calls to AWS tell which kind of delivery they were made for.
      'x-amzn-trace-id': `Root=1-00000000-${delivery.replaceAll('-', '').slice(0, 24)};Kind=${kind}`,
    },
  }
}
