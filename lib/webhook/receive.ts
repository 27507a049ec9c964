import { type Body, isTooLarge } from '../body.ts'
import type { Enqueue } from '../line/producer.ts'
import { verify } from '../protocol/signature.ts'
import { HEADERS } from '../protocol/webhook.ts'
import type { Quarantine } from '../quarantine.ts'
import type { Secrets } from '../secrets.ts'
import type { Deliveries } from './deliveries.ts'
import { read } from './read.ts'

export type Delivery = {
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>
  body: Body
}

/** What became of a delivery. The HTTP answer follows from it, see `answer.ts`. */
export type Received =
  | { outcome: 'queued' | 'duplicate'; delivery: string; source: string; external_id: string }
  | { outcome: 'ignored'; delivery: string; why: 'foreign source' | 'other event' }
  | { outcome: 'forged'; why: 'malformed' | 'stale' | 'mismatch' }
  | { outcome: 'contradictory'; header: string }
  | { outcome: 'unreadable'; reason: string }
  | { outcome: 'too large' }

export type Ports = {
  secrets: Secrets
  /** Whether a store with this source is ours (`stores.yml`). */
  isOurs: (source: string) => boolean
  deliveries: Deliveries
  enqueue: Enqueue
  quarantine: Quarantine
  /** The clock, in unix seconds. */
  now: () => number
}

/**
 * The receiving path: verify, read, filter, then read–send–record (spec: Events; promises P1–P4, P12).
 *
 * Rejects when SQS or DynamoDB fail: the event is then not safe, and the sender must try again.
 */
export const receive = async ({ headers, body }: Delivery, ports: Ports): Promise<Received> => {
  if (isTooLarge(body)) return { outcome: 'too large' }

  const now = ports.now()
  const verified = await ports.secrets.verify(secrets =>
    verify({ header: headers[HEADERS.signature], body, secrets, now }),
  )
  if (!verified.valid) return { outcome: 'forged', why: verified.reason }

  const reading = read(body)
  if (reading.kind === 'unreadable') {
    if (reading.delivery !== undefined && reading.source !== undefined && !ports.isOurs(reading.source)) {
      return { outcome: 'ignored', delivery: reading.delivery, why: 'foreign source' }
    }
    const received_at = new Date(now * 1000).toISOString()
    await ports.quarantine({ from: 'webhook', reason: reading.reason, body, received_at })
    return { outcome: 'unreadable', reason: reading.reason }
  }

  const { event, delivery } = reading.kind === 'order.updated' ? reading.webhook : reading
  // Headers are not signed: one that tells another story than the body was changed on the way (P2).
  if ((headers[HEADERS.delivery] ?? delivery) !== delivery) {
    return { outcome: 'contradictory', header: HEADERS.delivery }
  }
  if ((headers[HEADERS.event] ?? event) !== event) return { outcome: 'contradictory', header: HEADERS.event }

  if (reading.kind === 'other event') return { outcome: 'ignored', delivery, why: 'other event' }
  const { source, external_id } = reading.webhook.data
  if (!ports.isOurs(source)) return { outcome: 'ignored', delivery, why: 'foreign source' }

  // Read, send, record, in this order: a crash before the send loses nothing, since the sender tries
  // again; a crash after it is covered by the queue's own deduplication, and beyond that by a worker
  // that is idempotent by state (P3, P5).
  if (await ports.deliveries.has(delivery, now))
    return { outcome: 'duplicate', delivery, source, external_id }
  await ports.enqueue({ source, external_id }, delivery, reading.text)
  await ports.deliveries.record(reading.webhook, now)
  return { outcome: 'queued', delivery, source, external_id }
}
