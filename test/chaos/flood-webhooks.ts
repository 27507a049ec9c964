import { createHash } from 'node:crypto'
import { sign, TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { ORDER_UPDATED } from '../../lib/protocol/webhook.ts'

/** The kinds of webhooks, how often each is sent beside the changes of orders, and its only answers. */
export const KINDS = [
  { kind: 'first', weight: 0, answers: ['200 queued'] },
  { kind: 'twin', weight: 4, answers: ['200 queued', '200 duplicate'] },
  { kind: 'duplicate', weight: 18, answers: ['200 duplicate'] },
  { kind: 'foreign source', weight: 10, answers: ['200 ignored'] },
  { kind: 'other secret', weight: 4, answers: ['401 unauthorized'] },
  { kind: 'stale', weight: 3, answers: ['401 unauthorized'] },
  { kind: 'malformed signature', weight: 1, answers: ['401 unauthorized'] },
  { kind: 'too large', weight: 2, answers: ['413 too_large'] },
] as const
export type Kind = (typeof KINDS)[number]['kind']
/** A UUID that begins with the number of its kind, so that a call to AWS says what it was made for. */
export const deliveryOf = (kind: Kind, ...about: (string | number)[]): string => {
  const index = KINDS.findIndex(each => each.kind === kind)
  const hex = createHash('sha256')
    .update(JSON.stringify([kind, ...about]))
    .digest('hex')
  return `0${index}${hex.slice(2, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
const UUID = /0([0-7])[0-9a-f]{6}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}/
export const kindIn = (body: string): string => KINDS[Number(UUID.exec(body)?.[1])]?.kind ?? 'none'

export type Webhook = { kind: Kind; delivery: string; body: string }
export const webhookOf = (kind: Kind, delivery: string, data: object): Webhook => ({
  kind,
  delivery,
  body: JSON.stringify({ event: ORDER_UPDATED, data, delivery }),
})

/** The signature of a webhook as its kind has it. */
export const signatureOf = (kind: Kind, secret: string, body: string): string => {
  const now = Math.floor(Date.now() / 1000)
  if (kind === 'malformed signature') return sign({ secret, t: now, body }).toUpperCase()
  const t = kind === 'stale' ? now - TOLERANCE_SECONDS - 1 : now
  return sign({ secret: kind === 'other secret' ? `not ${secret}` : secret, t, body })
}
