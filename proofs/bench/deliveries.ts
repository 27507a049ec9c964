import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEventV2, SQSRecord } from 'aws-lambda'
import { unixSeconds } from '../../lib/platform/environment.ts'
import { deliveryHeaders, ORDER_UPDATED } from '../../lib/protocol/webhook.ts'
import { httpEvent, sqsRecord } from '../../test/support/lambda.ts'

export const SECRET = 'whsec_bench'
/** A store of the default stores.yml, and a foreign one. */
export const OURS = 'api'
export const FOREIGN = 'somebody-else'

const newId = (): string => randomUUID()

/** Sizes of bodies, in bytes and rows. */
const SIZES = { '2 KB': { bytes: 2048, rows: 13 }, '50 KB': { bytes: 51_200, rows: 406 } } as const
export type Size = keyof typeof SIZES

const ROW = {
  sku: 'SKU-1000',
  name: 'چای ایرانی ممتاز',
  quantity: 3,
  unit_price: '1250000',
  discount: '0',
  tax: '112500',
}

/** A webhook's body of an exact size: an order result with rows, as a service may add them. */
export const bodyOf = (size: Size, { delivery = newId(), source = OURS } = {}): string => {
  const { bytes, rows } = SIZES[size]
  const data = {
    // A repeated delivery has the same order.
    source,
    external_id: delivery,
    status: 'paid',
    status_display: 'پرداخت شده',
    total: '13625000',
    invoice_number: 10231,
    invoice_status: 'posted',
    receipt_number: 5571,
    return_number: null,
    error: null,
    rows: new Array(rows).fill(ROW),
  }
  const text = (note: string) => JSON.stringify({ event: 'order.updated', data: { ...data, note }, delivery })
  return text('x'.repeat(bytes - Buffer.byteLength(text(''))))
}

/** The event with which API Gateway invokes the webhook function (payload format 2.0). */
export const eventOf = (
  size: Size,
  { delivery = newId(), source = OURS, secret = SECRET, now = Date.now() } = {},
): APIGatewayProxyEventV2 => {
  const body = bodyOf(size, { delivery, source })
  return httpEvent({
    headers: {
      'content-length': String(Buffer.byteLength(body)),
      ...deliveryHeaders({ event: ORDER_UPDATED, delivery, secret, t: unixSeconds(now), body }),
      host: 'relay.example',
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    body,
  })
}

/** The event with which Lambda invokes the worker. */
export const messagesOf = (...bodies: readonly string[]): { Records: SQSRecord[] } => ({
  Records: bodies.map(body => sqsRecord(newId(), { body, attributes: { MessageGroupId: newId() } })),
})

/** A message with a new order: the worker reads it, calls the accounting service, publishes to the feed and saves. */
export const createMessage = (): string => {
  const order = { source: OURS, external_id: newId() }
  const body = JSON.stringify({ ...order, items: [{ sku: 'A', quantity: 1, unit_price: 1_500_000 }] })
  const data = { ...order, body, accepted_at: Date.now() }
  return JSON.stringify({ event: 'order.create', delivery: newId(), data })
}
