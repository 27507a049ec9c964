import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEventV2, SQSRecord } from 'aws-lambda'
import { sign } from '../lib/protocol/signature.ts'
import { httpEvent, sqsRecord } from '../test/support/lambda.ts'

export const SECRET = 'whsec_bench'
/** A store of the shipped stores.yml, and one that belongs to somebody else. */
export const OURS = 'api'
export const FOREIGN = 'somebody-else'

/** Sizes of bodies, in bytes. */
const SIZES = { '2 KB': 2048, '50 KB': 51_200 } as const
export type Size = keyof typeof SIZES

const ROW = {
  sku: 'SKU-1000',
  name: 'چای ایرانی ممتاز',
  quantity: 3,
  unit_price: '1250000',
  discount: '0',
  tax: '112500',
}
const ROW_BYTES = Buffer.byteLength(JSON.stringify(ROW)) + 1

/** A webhook's body of an exact size: an order result with rows, as a service may add them. */
export const bodyOf = (
  size: Size,
  { delivery, source = OURS }: { delivery: string; source?: string },
): string => {
  const text = (rows: number, note: number) =>
    JSON.stringify({
      event: 'order.updated',
      data: {
        source,
        // A delivery that comes again is about the same order.
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
        note: 'x'.repeat(note),
      },
      delivery,
    })
  const missing = (rows: number) => SIZES[size] - Buffer.byteLength(text(rows, 0))
  // The first row has no comma before it.
  const rows = Math.floor((missing(0) + 1) / ROW_BYTES)
  return text(rows, missing(rows))
}

export type DeliveryOptions = { delivery?: string; source?: string; secret?: string; now?: number }

/** The event with which API Gateway invokes the receiver (payload format 2.0). */
export const eventOf = (
  size: Size,
  { delivery = randomUUID(), source = OURS, secret = SECRET, now = Date.now() }: DeliveryOptions = {},
): APIGatewayProxyEventV2 => {
  const body = bodyOf(size, { delivery, source })
  return httpEvent({
    headers: {
      'content-length': String(Buffer.byteLength(body)),
      'content-type': 'application/json; charset=utf-8',
      host: 'relay.example',
      'user-agent': 'accounting/1.0',
      'x-service-delivery': delivery,
      'x-service-event': 'order.updated',
      'x-service-signature': sign({ secret, t: Math.floor(now / 1000), body }),
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    body,
  })
}

/** A message as Lambda hands it to the worker. */
export const recordOf = (body: string): SQSRecord =>
  sqsRecord(randomUUID(), { body, attributes: { MessageGroupId: randomUUID() } })
