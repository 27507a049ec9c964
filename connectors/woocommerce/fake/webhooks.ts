import { createHmac } from 'node:crypto'
import { gmt } from './orders.ts'

type Webhook = {
  id: number
  name: string
  status: 'active' | 'paused' | 'disabled'
  topic: string
  delivery_url: string
  secret: string
  failures: number
}

/** The seventh consecutive failure silently disables a webhook. */
const MAX_FAILURES = 7

/** How long nothing is sent after the queue process was killed, in milliseconds. */
const STALL_MS = 335_000

/**
 * The webhooks of the fake shop: queued, sent at the next visit to the shop, and never retried. Their ids repeat, so
 * they cannot be used for deduplication.
 */
export const fakeWebhooks = ({ now }: { now: () => Date }) => {
  const webhooks = new Map<number, Webhook>()
  let pending: { topic: string; order: number }[] = []
  let nextId = 1
  /** The owner of the webhooks may no longer read orders. */
  let isDemoted = false
  let stalledUntil = 0

  const post = async (webhook: Webhook, body: string, headers: Record<string, string>) => {
    const response = await fetch(webhook.delivery_url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
    }).catch(() => undefined)
    return response !== undefined && response.status >= 200 && response.status <= 302
  }

  const deliver = async (webhook: Webhook, body: string, topic: string) => {
    const accepted = await post(webhook, body, {
      'content-type': 'application/json',
      'x-wc-webhook-topic': topic,
      'x-wc-webhook-id': String(webhook.id),
      'x-wc-webhook-delivery-id': `delivery-${gmt(now()).slice(0, 16)}`,
      'x-wc-webhook-signature': createHmac('sha256', webhook.secret).update(body).digest('base64'),
    })
    webhook.failures = accepted ? 0 : webhook.failures + 1
    if (webhook.failures >= MAX_FAILURES) webhook.status = 'disabled'
  }

  /** As the API shows it: without its secret. */
  const shown = ({ secret, ...webhook }: Webhook) => webhook

  return {
    demote: () => {
      isDemoted = true
    },
    /** Kills the shop's queue process: the delivery in progress is lost, and the others are delayed. */
    kill: () => {
      pending.shift()
      stalledUntil = now().getTime() + STALL_MS
    },
    /** Adds a delivery, unless the same one is already waiting. */
    queue: (topic: string, order: number) => {
      if (!pending.some(each => each.topic === topic && each.order === order)) pending.push({ topic, order })
    },
    /** Sends the queued webhooks, like a visit to the shop. */
    visit: async (payloadOf: (topic: string, order: number) => unknown) => {
      if (now().getTime() < stalledUntil) return
      const due = pending
      pending = []
      for (const { topic, order } of due)
        for (const webhook of webhooks.values()) {
          if (webhook.status !== 'active' || webhook.topic !== topic) continue
          const payload = isDemoted ? undefined : payloadOf(topic, order)
          // Errors are signed as well.
          const error = { code: 'woocommerce_rest_cannot_view', message: 'Sorry', data: { status: 401 } }
          await deliver(webhook, JSON.stringify(payload ?? error), topic)
        }
    },
    list: () => [...webhooks.values()].map(shown),
    get: (id: number) => {
      const webhook = webhooks.get(id)
      return webhook && shown(webhook)
    },
    /** Creates a webhook and pings its URL; the response is ignored. */
    create: async (given: Pick<Webhook, 'name' | 'topic' | 'delivery_url' | 'secret'>) => {
      const webhook: Webhook = { id: nextId++, status: 'active', failures: 0, ...given }
      webhooks.set(webhook.id, webhook)
      const type = 'application/x-www-form-urlencoded'
      await post(webhook, `webhook_id=${webhook.id}`, { 'content-type': type })
      return shown(webhook)
    },
    /** A webhook that is activated again keeps its failure count. */
    update: (id: number, change: Partial<Webhook>) => {
      const webhook = webhooks.get(id)
      return webhook && shown(Object.assign(webhook, change))
    },
    remove: (id: number) => webhooks.delete(id),
  }
}
