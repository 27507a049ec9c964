import type { Clock } from '../clock.ts'
import type { Sql } from './query.ts'

/** `created_at` is the time of the last registration. */
export type Webhook = { url: string; secret: string; created_at: string }

export const webhooks = ({ one, all, run }: Sql, { iso }: Clock) => ({
  find: (url: string) => one<Webhook>('SELECT * FROM webhooks WHERE url = ?', url),
  list: () => all<Webhook>('SELECT * FROM webhooks ORDER BY created_at, url'),
  put: (url: string, secret: string) =>
    run(
      `INSERT INTO webhooks (url, secret, created_at) VALUES (?, ?, ?) ON CONFLICT (url) DO UPDATE
       SET secret = excluded.secret, created_at = excluded.created_at`,
      url,
      secret,
      iso(),
    ),
  remove: (url: string) => run('DELETE FROM webhooks WHERE url = ?', url),
})

/** One webhook to one URL. The body is the same for every attempt. Times are ISO 8601 UTC. */
export type Delivery = {
  delivery: string
  url: string
  source: string
  external_id: string
  invoice_number: number
  status: string
  body: string
  state: 'pending' | 'delivered' | 'failed'
  tries: number
  created_at: string
  next_attempt_at: string | null
}

export type NewDelivery = Pick<Delivery, 'delivery' | 'url' | 'invoice_number' | 'status' | 'body'>

/** The progress of a delivery. */
export type Progress = Pick<Delivery, 'delivery' | 'state' | 'tries' | 'next_attempt_at'>

/** One attempt; `t` is the signed Unix time, `signature` the header, `status` the status of the response, if any. */
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

export const deliveries = ({ one, all, insert, update }: Sql, { iso }: Clock) => ({
  find: (delivery: string) => one<Delivery>(`${SELECT} WHERE d.delivery = ?`, delivery),
  /** Newest first, for one `external_id` or for all. */
  list: (external_id: string | null, limit: number) =>
    all<Delivery>(
      `${SELECT} WHERE ?1 IS NULL OR o.external_id = ?1 ORDER BY d.number DESC LIMIT ?2`,
      external_id,
      limit,
    ),
  /** Pending deliveries that are due, oldest first. */
  due: (now: string, limit: number) =>
    all<Delivery>(
      `${SELECT} WHERE d.state = 'pending' AND d.next_attempt_at <= ? ORDER BY d.next_attempt_at LIMIT ?`,
      now,
      limit,
    ),
  /** The time of the next attempt after `now`. */
  nextDue: (now: string) =>
    one<{ at: string | null }>(
      `SELECT min(next_attempt_at) AS at FROM deliveries WHERE state = 'pending' AND next_attempt_at > ?`,
      now,
    )?.at ?? undefined,
  insert: (made: NewDelivery, at = iso()) =>
    insert('deliveries', { ...made, state: 'pending', tries: 0, created_at: at, next_attempt_at: at }),
  update: ({ delivery, state, tries, next_attempt_at }: Progress) =>
    update('deliveries', { delivery }, { state, tries, next_attempt_at }),
  /** Cancels the pending deliveries to a URL that is no longer registered. */
  abandon: (url: string) =>
    update('deliveries', { url, state: 'pending' }, { state: 'failed', next_attempt_at: null }),
  attempts: (delivery: string) =>
    all<Attempt>(
      `SELECT at, t, signature, status, latency_ms, error, response FROM attempts
       WHERE delivery = ? ORDER BY number`,
      delivery,
    ),
  addAttempt: (delivery: string, made: Attempt) => insert('attempts', { delivery, ...made }),
})
