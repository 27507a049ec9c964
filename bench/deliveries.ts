import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { sign } from '../lib/protocol/signature.ts'

export const SECRET = 'whsec_bench'
/** A store of the shipped stores.yml, and one that is nobody's. */
export const OURS = 'api'
export const FOREIGN = 'somebody-else'

/** Sizes of bodies, in bytes. */
export const SIZES = { '0.5 KB': 512, '2 KB': 2048, '20 KB': 20_480, '200 KB': 204_800 } as const
export type Size = keyof typeof SIZES

const row = (each: number) => ({
  sku: `SKU-${each}`,
  name: 'چای ایرانی ممتاز',
  quantity: each + 1,
  unit_price: '1250000',
  discount: '0',
  tax: '112500',
})

const text = (delivery: string, source: string, external_id: string, rows: unknown[], note: string) =>
  JSON.stringify({
    event: 'order.updated',
    data: {
      source,
      external_id,
      status: 'paid',
      status_display: 'پرداخت شده',
      total: '13625000',
      invoice_number: 10231,
      invoice_status: 'posted',
      receipt_number: 5571,
      return_number: null,
      error: null,
      rows,
      note,
    },
    delivery,
  })

/** A webhook's body of exactly so many bytes: an order result, and rows as a service may add them. */
export const bodyOf = (
  bytes: number,
  { delivery, source = OURS }: { delivery: string; source?: string },
): string => {
  const external_id = randomUUID()
  const bare = Buffer.byteLength(text(delivery, source, external_id, [], ''))
  const perRow = Buffer.byteLength(JSON.stringify(row(1000))) + 1
  const rows = Array.from({ length: Math.max(0, Math.floor((bytes - bare) / perRow)) }, (_, each) =>
    row(each),
  )
  const missing = bytes - Buffer.byteLength(text(delivery, source, external_id, rows, ''))
  return text(delivery, source, external_id, rows, 'x'.repeat(Math.max(0, missing)))
}

export type DeliveryOptions = { delivery?: string; source?: string; secret?: string; now?: number }

/** The event with which API Gateway hands a webhook over (payload 2.0). */
export const eventOf = (
  size: Size,
  { delivery = randomUUID(), source = OURS, secret = SECRET, now = Date.now() }: DeliveryOptions = {},
): APIGatewayProxyEventV2 => {
  const body = bodyOf(SIZES[size], { delivery, source })
  const signature = sign({ secret, t: Math.floor(now / 1000), body: Buffer.from(body) })
  return {
    version: '2.0',
    routeKey: 'POST /webhook',
    rawPath: '/webhook',
    rawQueryString: '',
    headers: {
      'content-length': String(Buffer.byteLength(body)),
      'content-type': 'application/json; charset=utf-8',
      host: 'relay.example',
      'user-agent': 'accounting/1.0',
      'x-service-delivery': delivery,
      'x-service-event': 'order.updated',
      'x-service-signature': signature,
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    requestContext: {
      accountId: '000000000000',
      apiId: 'bench',
      domainName: 'relay.example',
      domainPrefix: 'relay',
      http: {
        method: 'POST',
        path: '/webhook',
        protocol: 'HTTP/1.1',
        sourceIp: '192.0.2.7',
        userAgent: 'accounting/1.0',
      },
      requestId: randomUUID(),
      routeKey: 'POST /webhook',
      stage: '$default',
      time: new Date(now).toUTCString(),
      timeEpoch: now,
    },
    body,
    isBase64Encoded: false,
  }
}
