import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sign, TOLERANCE_SECONDS } from '../../lib/protocol/signature.ts'
import { HEADERS, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'

/** Webhooks that the relay must not accept, and the status of their answer. */
const FORGERIES = {
  'replayed later': { offBy: -TOLERANCE_SECONDS - 100, secret: undefined, source: undefined, status: 401 },
  'signed ahead of time': {
    offBy: TOLERANCE_SECONDS + 100,
    secret: undefined,
    source: undefined,
    status: 401,
  },
  'signed with another secret': { offBy: 0, secret: 'whsec_other', source: undefined, status: 401 },
  'about an order of another source': { offBy: 0, secret: undefined, source: 'elsewhere', status: 200 },
} as const
export type Forgery = keyof typeof FORGERIES
export const FORGERY_NAMES = Object.keys(FORGERIES) as readonly Forgery[]

const TIMEOUT_MS = 3000
const RETRY_MS = 40
const ATTEMPTS = 30

/**
 * Sends a forged webhook about a refund that never happened until the relay itself answers.
 *
 * @param secret the secret that the service signs with
 * @throws when the answer is not the right one
 */
export const forge = async (
  { url, secret, onDelivery }: { url: string; secret: string; onDelivery: (delivery: string) => void },
  name: Forgery,
  order: { source: string; external_id: string },
): Promise<void> => {
  const forgery = FORGERIES[name]
  const delivery = randomUUID()
  onDelivery(delivery)
  const data = {
    ...{ source: forgery.source ?? order.source, external_id: order.external_id, error: null },
    ...{ status: 'refunded', status_display: 'Refunded', total: '1' },
    ...{ invoice_number: 1, invoice_status: 'posted', receipt_number: 1, return_number: 1 },
  }
  const body = Buffer.from(JSON.stringify({ event: ORDER_UPDATED, data, delivery }))
  const post = async () => {
    const t = Math.floor(Date.now() / 1000) + forgery.offBy
    const response = await fetch(`${url}/webhook`, {
      method: 'POST',
      headers: {
        [HEADERS.event]: ORDER_UPDATED,
        [HEADERS.delivery]: delivery,
        [HEADERS.signature]: sign({ secret: forgery.secret ?? secret, t, body }),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => undefined)
    await response?.body?.cancel().catch(() => undefined)
    return response?.status
  }
  let status = await post()
  for (let attempt = 1; attempt < ATTEMPTS && status !== 200 && status !== 401; attempt++) {
    await sleep(RETRY_MS)
    status = await post()
  }
  if (status !== forgery.status)
    throw new Error(`a webhook ${name} was answered ${status}, not ${forgery.status}`)
}
