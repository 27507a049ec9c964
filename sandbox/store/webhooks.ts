import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import { command, insertion, query } from './query.ts'

/** `replaced_secret` is the one before the last registration, at `created_at`. */
export type Webhook = { url: string; secret: string; replaced_secret: string | null; created_at: string }

export const webhooks = (db: DatabaseSync, { iso }: Clock) => {
  const byUrl = query<Webhook>(db, 'SELECT * FROM webhooks WHERE url = ?')
  const all = query<Webhook>(db, 'SELECT * FROM webhooks ORDER BY created_at, url')
  const put = insertion<Omit<Webhook, 'replaced_secret'>>(
    db,
    'webhooks',
    `ON CONFLICT (url) DO UPDATE
     SET replaced_secret = secret, secret = excluded.secret, created_at = excluded.created_at`,
  )
  return {
    find: (url: string) => byUrl.one(url),
    list: () => all.all(),
    put: (url: string, secret: string) => put({ url, secret, created_at: iso() }),
    remove: command(db, 'DELETE FROM webhooks WHERE url = ?'),
  }
}

type DeliveryState = 'pending' | 'delivered' | 'failed'

/** One webhook to one URL. The body is the same for every attempt. Times are ISO 8601 UTC. */
export type Delivery = {
  delivery: string
  url: string
  source: string
  external_id: string
  invoice_number: number
  status: string
  body: string
  state: DeliveryState
  tries: number
  created_at: string
  next_attempt_at: string | null
}

export type NewDelivery = Pick<Delivery, 'delivery' | 'url' | 'invoice_number' | 'status' | 'body'>

/** One attempt; `t` is the signed Unix time, `signature` the header, `status` that of the response, if any. */
export type Attempt = {
  at: string
  t: number
  signature: string
  status: number | null
  latency_ms: number
  error: string | null
  response: string | null
}

const SELECT = `SELECT d.delivery, d.url, o.source, o.external_id, d.invoice_number, d.status, d.body,
  d.state, d.tries, d.created_at, d.next_attempt_at
  FROM deliveries d JOIN orders o ON o.invoice_number = d.invoice_number`

export const deliveries = (db: DatabaseSync, { iso }: Clock) => {
  const byId = query<Delivery>(db, `${SELECT} WHERE d.delivery = ?`)
  const page = query<Delivery>(
    db,
    `${SELECT} WHERE ?1 IS NULL OR o.external_id = ?1 ORDER BY d.number DESC LIMIT ?2`,
  )
  const due = query<Delivery>(
    db,
    `${SELECT} WHERE d.state = 'pending' AND d.next_attempt_at <= ? ORDER BY d.next_attempt_at LIMIT ?`,
  )
  const nextDue = query<{ at: string | null }>(
    db,
    `SELECT min(next_attempt_at) AS at FROM deliveries WHERE state = 'pending' AND next_attempt_at > ?`,
  )
  const insert = insertion<Omit<Delivery, 'source' | 'external_id'>>(db, 'deliveries')
  const update = command(
    db,
    'UPDATE deliveries SET state = ?2, tries = ?3, next_attempt_at = ?4 WHERE delivery = ?1',
  )
  const attemptsOf = query<Attempt>(
    db,
    `SELECT at, t, signature, status, latency_ms, error, response FROM attempts
     WHERE delivery = ? ORDER BY number`,
  )
  const insertAttempt = insertion<Attempt & { delivery: string }>(db, 'attempts')
  return {
    find: (delivery: string) => byId.one(delivery),
    /** Newest first, for one `external_id` or for all. */
    list: (external_id: string | null, limit: number) => page.all(external_id, limit),
    /** Pending deliveries that are due, the oldest first. */
    due: (now: string, limit: number) => due.all(now, limit),
    /** The time of the next attempt after `now`. */
    nextDue: (now: string) => nextDue.one(now)?.at ?? undefined,
    insert: (made: NewDelivery, at = iso()) =>
      insert({ ...made, state: 'pending', tries: 0, created_at: at, next_attempt_at: at }),
    update: (d: Pick<Delivery, 'delivery' | 'state' | 'tries' | 'next_attempt_at'>) =>
      update(d.delivery, d.state, d.tries, d.next_attempt_at),
    /** Cancels the pending deliveries to a URL that is no longer registered. */
    abandon: command(
      db,
      `UPDATE deliveries SET state = 'failed', next_attempt_at = NULL WHERE url = ? AND state = 'pending'`,
    ),
    attempts: (delivery: string) => attemptsOf.all(delivery),
    addAttempt: (delivery: string, made: Attempt) => insertAttempt({ delivery, ...made }),
  }
}
