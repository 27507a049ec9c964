import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { type OrderResult, STATUSES } from '../../lib/protocol/order.ts'
import { ORDER_UPDATED } from '../../lib/protocol/webhook.ts'

/** What a flood sends follows from this alone, so that every process can know it without being told. */
export const plan = v.object({
  seed: v.number(),
  /** All that is sent, whatever becomes of it. */
  deliveries: v.number(),
  /** The stores whose orders it is about. */
  sources: v.array(v.string()),
})

export type Plan = v.InferOutput<typeof plan>

/** What is sent beside the changes themselves, in hundredths of all deliveries. */
const SHARES = {
  /** A delivery that was answered with 200, once more. */
  duplicate: 18,
  /** A change sent twice at the same moment; this counts the second. */
  twin: 2,
  foreign: 10,
  'bad-signature': 4,
  stale: 3,
  malformed: 1,
  oversized: 2,
} as const

export type Kind = 'first' | keyof typeof SHARES
export const KINDS: readonly Kind[] = [
  'first',
  'duplicate',
  'twin',
  'foreign',
  'bad-signature',
  'stale',
  'malformed',
  'oversized',
]

/** How many of each kind are sent. A `first` whose twin is sent with it goes under `twin`, both of them. */
export const mixOf = ({ deliveries }: Plan): Record<Kind, number> => {
  const share = (hundredths: number) => Math.round((deliveries * hundredths) / 100)
  const others = Object.entries(SHARES).map(([kind, hundredths]) => [kind, share(hundredths)] as const)
  const rest = deliveries - others.reduce((sum, [, count]) => sum + count, 0)
  const mix: Record<string, number> = Object.fromEntries(others)
  const counts = (kind: Kind) => mix[kind] ?? 0
  return {
    first: rest - counts('twin'),
    duplicate: counts('duplicate'),
    twin: 2 * counts('twin'),
    foreign: counts('foreign'),
    'bad-signature': counts('bad-signature'),
    stale: counts('stale'),
    malformed: counts('malformed'),
    oversized: counts('oversized'),
  }
}

/** How many changes there are to tell the stores. */
export const changesOf = (whole: Plan): number => {
  const { first, twin } = mixOf(whole)
  return first + twin / 2
}

const hash = (...parts: readonly (string | number)[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest()

/** A UUID that looks like any other and is the same in each process. */
export const idOf = ({ seed }: Plan, kind: string, ...numbers: readonly number[]): string => {
  const hex = hash(seed, kind, ...numbers).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The statuses that an order passes through, forward only: one to all four. */
const statusesOf = ({ seed }: Plan, order: number) => {
  const chosen = 1 + (hash(seed, 'life', order).readUInt32BE() % 15)
  return STATUSES.filter((_, index) => (chosen >> index) & 1)
}

/** How many changes each order goes through, one byte an order; the last life is cut where the plan ends. */
export const livesOf = (whole: Plan): Uint8Array => {
  const lives: number[] = []
  for (let left = changesOf(whole); left > 0; ) {
    const length = Math.min(left, statusesOf(whole, lives.length).length)
    lives.push(length)
    left -= length
  }
  return Uint8Array.from(lives)
}

/** The order result that the service tells of with the `step`th change of an order. */
export const resultOf = (whole: Plan, order: number, step: number): OrderResult => {
  const bytes = hash(whole.seed, 'order', order)
  const status = statusesOf(whole, order)[step] ?? ''
  return {
    source: whole.sources[bytes.readUInt32BE() % whole.sources.length] ?? '',
    external_id: `سفارش ${order}`,
    status,
    status_display: `وضعیت: ${status}`,
    total: String(bytes.readUInt32BE(4) * 1000),
    invoice_number: order + 1,
    invoice_status: status === 'needs_review' ? 'draft' : 'posted',
    receipt_number: status === 'paid' || status === 'refunded' ? order + 1 : null,
    return_number: status === 'refunded' ? order + 1 : null,
    error: status === 'needs_review' ? 'موجودی کافی نیست' : null,
  }
}

/** The number of an order, from its `external_id`. */
export const orderOf = (externalId: string): number => Number(/(\d+)$/.exec(externalId)?.[1] ?? Number.NaN)

/** The webhook's body, with the time of its first sending in a field of our own, which the relay carries along. */
export const bodyOf = (delivery: string, data: OrderResult, sentAt: number): string =>
  JSON.stringify({ event: ORDER_UPDATED, data: { ...data, sent_at: sentAt }, delivery })
