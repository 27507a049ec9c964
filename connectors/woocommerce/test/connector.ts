import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { startParts } from '@order-relay/test-support/parts.ts'
import { listen, stop } from '@order-relay/web/serve.ts'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { startSandbox } from 'order-relay-sandbox'
import {
  type Client,
  createClient,
  type FeedMessage,
  type OrderResult,
  type RequestResult,
} from 'order-relay-store'
import { connectionOf } from '../fake/connection.ts'
import { type FakeShopOptions, startFakeShop } from '../fake/shop.ts'
import { connectionId } from '../lib/connections.ts'
import { TABLE_SCHEMA } from '../lib/names.ts'
import { poller } from '../lib/poll.ts'
import { PATHS, receiver } from '../lib/receiver.ts'
import { createShop } from '../lib/shop.ts'
import { stateRepository } from '../lib/states.ts'
import { type SyncDependencies, type SyncEvent, synchronizer } from '../lib/synchronize.ts'

const TABLE = 'shops'

const SOURCE = 'shop'

/**
 * A connected shop: the connector with its table, a fake shop, and the sandbox behind a relay. The
 * relay answers 202 at once, and its feed has a message for each change.
 */
export const startConnector = async (options: FakeShopOptions = {}) => {
  const parts = await startParts({ tables: [{ name: TABLE, schema: TABLE_SCHEMA }] })
  const sandbox = await startSandbox({ port: 0 })
  const shop = await startFakeShop(options)
  const events: SyncEvent[] = []
  const versions = new Map<string, number>()
  const seen = new Map<string, string>()
  const requests: string[] = []

  const panel = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${sandbox.url}/panel/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }
  await panel('PUT', 'settings', { pricesIncludeTax: true, taxRate: 10 })
  const service = createClient({ baseUrl: sandbox.url, key: 'sandbox-key', source: SOURCE })

  const publish = (order: string, event: string, data: object) => {
    const version = (versions.get(order) ?? 0) + 1
    versions.set(order, version)
    const delivery = `${order}-${version}`
    const message = {
      event,
      delivery,
      version,
      cause: { event, delivery },
      data: { source: SOURCE, external_id: order, ...data },
    }
    events.push({ source: SOURCE, order, message: message as FeedMessage })
  }
  /** Publishes an order that has changed, as the relay does after a call, a webhook or a check. */
  const follow = async (order: string) => {
    const { source: _, external_id: _id, ...result } = (await service.read(order)) as OrderResult
    const text = JSON.stringify(result)
    if (seen.get(order) === text) return
    seen.set(order, text)
    publish(order, 'order.updated', result)
  }
  const relayed = async (kind: string, order: string, call: Promise<unknown>): Promise<RequestResult> => {
    requests.push(`${kind} ${order}`)
    await call.catch(({ message }: Error) =>
      publish(order, 'order.rejected', { request: kind, id: order, error: { status: 400, message } }),
    )
    if (await service.read(order).catch(() => undefined)) await follow(order)
    const known = { source: SOURCE, external_id: order }
    return { status: 202, id: order, state: 'waiting', warnings: [], meant: {}, order: known }
  }
  const relay: Pick<Client, 'create' | 'pay' | 'refund'> = {
    create: order => relayed('create', order.external_id, service.create(order)),
    pay: (order, payment) => relayed('payment', order, service.pay(order, payment)),
    refund: (order, reason) => relayed('refund', order, service.refund(order, reason)),
  }

  const connection = connectionOf(shop, SOURCE, {
    webhooks: { secret: 'webhook secret', url: 'http://127.0.0.1:1/' },
    relay: { url: sandbox.url, key: 'sandbox-key', secret: 'feed secret' },
  })
  const states = stateRepository(parts.dynamodb, TABLE)
  let time = Date.now()
  const dependencies: SyncDependencies = {
    connections: { get: async () => connection },
    states,
    openShop: ({ shop: each }) => createShop(each),
    openRelay: () => relay,
    now: () => time,
  }

  return {
    shop,
    connection,
    dependencies,
    states,
    requests,
    events,
    panel,
    publish,
    follow,
    state: async (order: number) => (await states.get(SOURCE, String(order))).state,
    /** A hint that an order has changed. */
    hint: (order: number) => events.push({ source: SOURCE, order: String(order) }),
    /** Handles all events and those that they cause; a failed event is handled again. */
    settle: async (changed: Partial<SyncDependencies> = {}) => {
      const synchronize = synchronizer({ ...dependencies, ...changed })
      for (let handled = 0; events.length > 0; handled++) {
        if (handled > 500) throw new Error('Events follow one another without end')
        const [event] = events as [SyncEvent]
        const isDone = await synchronize(event).then(
          () => true,
          (error: Error) => {
            if (!/killed|Cannot reach/.test(error.message)) throw error
            return false
          },
        )
        if (isDone) events.splice(events.indexOf(event), 1)
      }
    },
    poll: async (later = 0) => {
      time += later
      const queued: string[] = []
      await poller({
        connections: { all: async () => [connection] },
        states,
        openShop: ({ shop: each }) => createShop(each),
        enqueue: async event => {
          queued.push(event.order)
          events.push(event)
        },
        now: () => time,
        log: () => undefined,
        onError: () => undefined,
      })()
      return queued
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([shop.close(), sandbox.close(), parts.close()])
    },
  }
}

export type Connector = Awaited<ReturnType<typeof startConnector>>

/** Serves the receiver of a connector, which can be down, and connects the shop's webhooks to it. */
export const served = async ({ connection, events }: Connector) => {
  const receive = receiver({
    connections: { get: async () => connection },
    enqueue: async event => {
      events.push(event)
    },
  })
  let isDown = false
  const server = createServer(async (request, response) => {
    const { headers, url: rawPath } = request
    const event = { headers, rawPath, body: await text(request) } as unknown as APIGatewayProxyEventV2
    const { statusCode = 500 } = isDown
      ? { statusCode: 502 }
      : ((await receive(event)) as APIGatewayProxyStructuredResultV2)
    response.writeHead(statusCode).end()
  })
  const port = await listen(server, 0, 'PORT')
  const url = `http://127.0.0.1:${port}${PATHS.shop}${connectionId(connection.settings.source)}`
  connection.webhooks = { secret: 'webhook secret', url }
  return {
    url,
    setDown: (down: boolean) => {
      isDown = down
    },
    [Symbol.asyncDispose]: () => stop(server),
  }
}
