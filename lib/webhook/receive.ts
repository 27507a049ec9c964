import { hash } from 'node:crypto'
import * as v from 'valibot'
import type { Enqueue } from '../orders/events.ts'
import { type About, failAbout } from '../platform/about.ts'
import { contentId } from '../platform/content-id.ts'
import { unixSeconds } from '../platform/environment.ts'
import type { Quarantine } from '../platform/quarantine.ts'
import { invalid } from '../protocol/errors.ts'
import { type Body, isTooLarge, parseJsonLoosely, readJson } from '../protocol/json.ts'
import { verify } from '../protocol/signature.ts'
import {
  envelope,
  HEADERS,
  ORDER_UPDATED,
  type OrderUpdated,
  orderUpdated,
  PROBE,
  PROBED_SIGNATURE,
} from '../protocol/webhook.ts'
import { type Deliveries, QUARANTINED } from './deliveries.ts'
import type { WebhookSecrets } from './secrets.ts'

/** A request to the webhook endpoint; nothing in it is trusted yet. */
export type WebhookRequest = {
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>
  body: Body
}

/** The outcome of a delivery, which determines the HTTP response. */
export type Received =
  | {
      outcome: 'queued' | 'duplicate'
      delivery: string
      source: string
      external_id: string
      /** The id of the secret. */
      signed_with: string | undefined
    }
  | { outcome: 'ignored'; delivery: string; why: 'foreign source'; source_hash: string }
  | { outcome: 'ignored'; delivery: string; why: 'other event' }
  /** `known`: whether the secret that an authentic probe asks about is in use. */
  | { outcome: 'ignored'; delivery: string; why: 'probe'; known: boolean }
  | { outcome: 'forged'; why: 'malformed' | 'stale' | 'mismatch' }
  /** `why`: a header contradicts the body, or the delivery id belongs to another order. */
  | ({ outcome: 'contradictory'; why: 'header' | 'delivery id'; reason: string } & About)
  | ({ outcome: 'unreadable'; reason: string } & About)
  | { outcome: 'too_large' }

export type ReceiveDependencies = {
  secrets: WebhookSecrets
  /** Whether stores.yml has a store with this source. */
  isKnownSource: (source: string) => boolean
  deliveries: Deliveries
  enqueue: Enqueue
  quarantine: Quarantine
  /** Unix time in milliseconds. */
  now: () => number
}

/** The content of a signed body. */
export type WebhookReading =
  | { kind: 'order.updated'; webhook: OrderUpdated; text: string }
  | { kind: 'other event'; event: string; delivery: string }
  /** `source` and `delivery` are present if at least the envelope could be read. */
  | { kind: 'unreadable'; reason: string; source?: string; delivery?: string }

/** The id under which a quarantined body is recorded. */
export const quarantineId = (body: Body): string =>
  contentId('quarantine', Buffer.from(body).toString('base64'))

/** Reads the body of an authentic webhook (spec: Delivery, Body); never throws. */
export const readWebhook = (body: Body): WebhookReading => {
  // The text itself is queued, so numbers need not be exact here.
  const reading = readJson(body, parseJsonLoosely)
  if ('unreadable' in reading) return { kind: 'unreadable', reason: reading.unreadable }
  const { json, text } = reading
  const known = v.safeParse(orderUpdated, json, { abortEarly: true })
  if (known.success) return { kind: 'order.updated', webhook: known.output, text }

  const reason = invalid(known.issues).error.message
  const outer = v.safeParse(envelope, json)
  if (!outer.success) return { kind: 'unreadable', reason }
  const { event, delivery, data } = outer.output
  if (event !== ORDER_UPDATED) return { kind: 'other event', event, delivery }
  return {
    kind: 'unreadable',
    reason,
    delivery,
    ...(typeof data.source === 'string' && { source: data.source }),
  }
}

/**
 * The source of an ignored webhook in the log: operators recognize a store that was removed by mistake. Any other name may be
 * personal data (promise P11), which six digits of the hash do not reveal.
 */
export const sourceHash = (source: string): string => hash('sha256', source).slice(0, 6)

/** A webhook of a store that stores.yml does not have. */
const foreign = (delivery: string, source: string): Received => ({
  outcome: 'ignored',
  delivery,
  why: 'foreign source',
  source_hash: sourceHash(source),
})

/** The headers kept with the record of a delivery. */
const shownHeaders = (headers: WebhookRequest['headers']) =>
  Object.fromEntries(
    ['content-type', 'user-agent'].flatMap(name => {
      const value = headers[name]?.slice(0, 100)
      return value === undefined ? [] : [[name, value]]
    }),
  )

/**
 * Receives a webhook: verify, read, filter, then read–send–record (spec: Events; promises P1, P2, P3, P4, P12).
 *
 * Rejects if SQS, DynamoDB or Parameter Store fails: the event is then not safe, and the sender must retry.
 */
export const receive = async (
  { headers, body }: WebhookRequest,
  { secrets, isKnownSource, deliveries, enqueue, quarantine, now }: ReceiveDependencies,
): Promise<Received> => {
  if (isTooLarge(body)) return { outcome: 'too_large' }

  const receivedAt = now()
  const seconds = unixSeconds(receivedAt)
  const verifyHeader = (name: string) =>
    secrets.verify(active => verify({ header: headers[name], body, secrets: active, now: seconds }))
  const verified = await verifyHeader(HEADERS.signature)
  if (!verified.valid) return { outcome: 'forged', why: verified.reason }

  /** Quarantines a body once, regardless of how often it is sent again or replayed. */
  const quarantineOnce = async (reason: string) => {
    const id = quarantineId(body)
    if ((await deliveries.find(id, seconds)) !== undefined) return
    await quarantine({ from: 'webhook', reason, body, receivedAt, headerDelivery: headers[HEADERS.delivery] })
    await deliveries.record({ delivery: id, source: '', external_id: '', status: QUARANTINED }, seconds)
  }

  const reading = readWebhook(body)
  if (reading.kind === 'unreadable') {
    const { reason, delivery, source } = reading
    if (delivery !== undefined && source !== undefined && !isKnownSource(source)) {
      return foreign(delivery, source)
    }
    await quarantineOnce(reason)
    return { outcome: 'unreadable', reason, delivery, source }
  }

  const { event, delivery } = reading.kind === 'order.updated' ? reading.webhook : reading
  const isOurs = reading.kind === 'order.updated' && isKnownSource(reading.webhook.data.source)
  // The body is signed, so a contradictory delivery is kept: the fault may be the sender's.
  const contradict = async (why: 'header' | 'delivery id', reason: string): Promise<Received> => {
    if (!isOurs) return { outcome: 'contradictory', why, reason, delivery }
    await quarantineOnce(reason)
    const { source, external_id } = reading.webhook.data
    return { outcome: 'contradictory', why, reason, delivery, source, external_id }
  }
  // Headers are not signed: one that disagrees with the body was changed in transit (P2).
  for (const [header, value] of [
    [HEADERS.delivery, delivery],
    [HEADERS.event, event],
  ] as const) {
    if ((headers[header] ?? value) !== value) {
      return contradict('header', `The header ${header} does not agree with the signed body`)
    }
  }
  if (event === PROBE) {
    const asks = headers[PROBED_SIGNATURE] !== undefined
    const known = !asks || (await verifyHeader(PROBED_SIGNATURE)).valid
    return { outcome: 'ignored', delivery, why: 'probe', known }
  }
  if (reading.kind === 'other event') return { outcome: 'ignored', delivery, why: 'other event' }
  const { source, external_id, status } = reading.webhook.data
  if (!isOurs) return foreign(delivery, source)

  // Read, send, record, in this order: a crash before the send loses nothing, since the sender retries; a
  // crash after it is covered by the queue's own deduplication, and beyond that by a worker that is
  // idempotent by state (P3, P5).
  const about = { delivery, source, external_id }
  const known = await deliveries.find(delivery, seconds).catch(failAbout(about))
  if (known !== undefined) {
    return known.source === source && known.external_id === external_id
      ? { outcome: 'duplicate', ...about, signed_with: verified.id }
      : contradict('delivery id', 'The delivery id belongs to another order')
  }
  await enqueue({ source, external_id }, { id: delivery, json: reading.text }).catch(failAbout(about))
  const shown = { t: String(verified.t), ...shownHeaders(headers) }
  await deliveries
    .record({ ...about, status, headers: shown, body: reading.text }, seconds)
    .catch(failAbout(about))
  return { outcome: 'queued', ...about, signed_with: verified.id }
}
