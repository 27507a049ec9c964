import type { DatabaseSync } from 'node:sqlite'
import { command, query } from './query.ts'

/** `replaced_secret` is the one before the last registration, at `created_at`. */
export type Webhook = { url: string; secret: string; replaced_secret: string | null; created_at: string }

const WEBHOOK = 'url, secret, replaced_secret, created_at'

export const webhooks = (db: DatabaseSync) => {
  const byUrl = query<Webhook>(db, `SELECT ${WEBHOOK} FROM webhooks WHERE url = ?`)
  const all = query<Webhook>(db, `SELECT ${WEBHOOK} FROM webhooks ORDER BY created_at, url`)
  const put = command(
    db,
    `INSERT INTO webhooks (url, secret, created_at) VALUES (?, ?, ?) ON CONFLICT (url) DO UPDATE
     SET replaced_secret = secret, secret = excluded.secret, created_at = excluded.created_at`,
  )
  const remove = command(db, 'DELETE FROM webhooks WHERE url = ?')
  return {
    find: (url: string) => byUrl.one(url),
    list: () => all.all(),
    put: ({ url, secret, created_at }: Omit<Webhook, 'replaced_secret'>) => put(url, secret, created_at),
    remove,
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

export type NewDelivery = Pick<
  Delivery,
  'delivery' | 'url' | 'invoice_number' | 'status' | 'body' | 'created_at'
>

/** One attempt; `t` is the signed Unix time, `status` that of the response, if any. */
export type Attempt = {
  at: string
  t: number
  status: number | null
  latency_ms: number
  error: string | null
  response: string | null
}

const SELECT = `SELECT d.delivery, d.url, o.source, o.external_id, d.invoice_number, d.status, d.body,
  d.state, d.tries, d.created_at, d.next_attempt_at
  FROM deliveries d JOIN orders o ON o.invoice_number = d.invoice_number`

export const deliveries = (db: DatabaseSync) => {
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
  const insert = command(
    db,
    `INSERT INTO deliveries (delivery, invoice_number, url, status, body, state, tries, created_at,
       next_attempt_at) VALUES (?, ?, ?, ?, ?, 'pending', 0, ?6, ?6)`,
  )
  const update = command(
    db,
    'UPDATE deliveries SET state = ?2, tries = ?3, next_attempt_at = ?4 WHERE delivery = ?1',
  )
  const abandon = command(
    db,
    `UPDATE deliveries SET state = 'failed', next_attempt_at = NULL WHERE url = ? AND state = 'pending'`,
  )
  const attemptsOf = query<Attempt>(
    db,
    `SELECT at, t, status, latency_ms, error, response FROM attempts WHERE delivery = ? ORDER BY number`,
  )
  const insertAttempt = command(
    db,
    `INSERT INTO attempts (delivery, at, t, status, latency_ms, error, response)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    find: (delivery: string) => byId.one(delivery),
    /** Newest first, for one `external_id` or for all. */
    list: (external_id: string | null, limit: number) => page.all(external_id, limit),
    /** Pending deliveries that are due, the oldest first. */
    due: (now: string, limit: number) => due.all(now, limit),
    /** The time of the next attempt after `now`. */
    nextDue: (now: string) => nextDue.one(now)?.at ?? undefined,
    insert: (d: NewDelivery) => insert(d.delivery, d.invoice_number, d.url, d.status, d.body, d.created_at),
    update: (d: Pick<Delivery, 'delivery' | 'state' | 'tries' | 'next_attempt_at'>) =>
      update(d.delivery, d.state, d.tries, d.next_attempt_at),
    /** Cancels the pending deliveries to a URL that is no longer registered. */
    abandon,
    attempts: (delivery: string) => attemptsOf.all(delivery),
    addAttempt: (delivery: string, a: Attempt) =>
      insertAttempt(delivery, a.at, a.t, a.status, a.latency_ms, a.error, a.response),
  }
}
