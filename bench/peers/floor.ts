import { createHmac, timingSafeEqual } from 'node:crypto'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'

/** What no receiver can do without: HMAC over the body, a comparison in constant time, and one JSON.parse. */
export const handler = async ({ body = '', headers }: APIGatewayProxyEventV2) => {
  const [, t = '', v1 = ''] = /^t=(\d+),v1=(\w+)$/.exec(headers['x-service-signature'] ?? '') ?? []
  const expected = createHmac('sha256', process.env.WEBHOOK_SECRET ?? '')
    .update(`${t}.${body}`)
    .digest()
  if (!timingSafeEqual(expected, Buffer.from(v1, 'hex'))) return { statusCode: 401 }
  JSON.parse(body)
  return { statusCode: 200 }
}
