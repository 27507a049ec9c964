import { randomUUID } from 'node:crypto'
import { sign } from '../../lib/protocol/signature.ts'

export type Said = { source: string; external_id: string; status: string; error?: string }

/** Sends a webhook as the accounting service does (spec: Delivery), signed with `secret`. */
export const sendWebhook = async (
  url: string,
  secret: string,
  { source, external_id, status, error }: Said,
): Promise<{ status: number; delivery: string }> => {
  const delivery = randomUUID()
  const data = {
    source,
    external_id,
    status,
    status_display: status,
    total: '1000',
    invoice_number: 1,
    invoice_status: status === 'needs_review' ? 'draft' : 'posted',
    receipt_number: null,
    return_number: null,
    error: error ?? null,
  }
  const body = Buffer.from(JSON.stringify({ event: 'order.updated', data, delivery }))
  const t = Math.floor(Date.now() / 1000)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-event': 'order.updated',
      'x-service-delivery': delivery,
      'x-service-signature': sign({ secret, t, body }),
    },
    body,
  })
  await response.arrayBuffer()
  return { status: response.status, delivery }
}
