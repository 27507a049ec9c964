import { createHmac, timingSafeEqual } from 'node:crypto'
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from 'aws-lambda'
import { createReceiver } from 'order-relay-store'
import * as v from 'valibot'
import { type Connection, type Connections, sourceOf } from './connections.ts'
import { jsonOf } from './shop.ts'
import type { SyncEvent } from './synchronize.ts'

export type Enqueue = (event: SyncEvent) => Promise<void>

/** The paths that `relay woo connect` gives to the shop and to the relay. */
export const PATHS = { shop: '/shop/', feed: '/feed/' } as const

type Answer = { status: number; error?: string }

/** The webhook of a trashed order contains only its id. */
const payload = v.looseObject({ id: v.pipe(v.number(), v.integer(), v.minValue(1)) })

const isSigned = (raw: Buffer, signature: string | undefined, secret: string) => {
  const expected = createHmac('sha256', secret).update(raw).digest()
  const given = Buffer.from(signature ?? '', 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/**
 * Treats a shop's webhook as a hint to read the order again: its delivery ids repeat, and its content may be outdated. A
 * shop sends a signed error if the owner of the webhook may not read the order. It names no order, so only the comparison
 * finds the change.
 */
const takeWebhook = async (
  raw: Buffer,
  headers: APIGatewayProxyEventV2['headers'],
  { settings: { source }, webhooks }: Connection,
  enqueue: Enqueue,
): Promise<Answer> => {
  // WooCommerce's ping of a new webhook's URL is not signed, and its response is ignored.
  if (/^webhook_id=\d+$/.test(raw.toString())) return { status: 200 }
  if (!isSigned(raw, headers['x-wc-webhook-signature'], webhooks.secret))
    return { status: 401, error: 'The signature is not valid' }
  const parsed = v.safeParse(payload, jsonOf(raw.toString()))
  if (parsed.success) await enqueue({ source, order: String(parsed.output.id) })
  return { status: 200 }
}

const takeMessage = async (
  raw: Buffer,
  headers: APIGatewayProxyEventV2['headers'],
  { settings: { source }, relay }: Connection,
  enqueue: Enqueue,
): Promise<Answer> => {
  let failure: unknown
  const receive = createReceiver({
    secrets: relay.secret,
    // The stored state of the order contains the version.
    once: async (_message, handle) => {
      await handle(undefined)
      return true
    },
    handle: message => enqueue({ source, order: message.data.external_id, message }),
    onError: error => {
      failure = error
    },
  })
  const { status, error } = await receive(headers, raw)
  if (status === 500) throw failure
  return { status, ...(error !== undefined && { error }) }
}

/** The HTTP endpoint of all connected shops, and of the relay's feed for each. */
export const receiver =
  ({ connections, enqueue }: { connections: Pick<Connections, 'get'>; enqueue: Enqueue }) =>
  async ({
    rawPath,
    headers,
    body,
    isBase64Encoded,
  }: APIGatewayProxyEventV2): Promise<APIGatewayProxyResultV2> => {
    const take = rawPath.startsWith(PATHS.shop)
      ? takeWebhook
      : rawPath.startsWith(PATHS.feed)
        ? takeMessage
        : undefined
    const connection = take && (await connections.get(sourceOf(rawPath.slice(PATHS.shop.length))))
    const raw = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
    const { status, error } =
      take === undefined || connection === undefined
        ? { status: 404, error: 'No shop is connected at this address' }
        : await take(raw, headers, connection, enqueue)
    return {
      statusCode: status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(error === undefined ? {} : { error }),
    }
  }
