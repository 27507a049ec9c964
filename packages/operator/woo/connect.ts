import { createHmac, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Language } from '@order-relay/woocommerce/lib/cases.ts'
import { TOPICS } from '@order-relay/woocommerce/lib/compare.ts'
import { type Connection, connectionId } from '@order-relay/woocommerce/lib/connections.ts'
import { PATHS } from '@order-relay/woocommerce/lib/receiver.ts'
import type { Shop } from '@order-relay/woocommerce/lib/shop.ts'
import { ShopError } from '@order-relay/woocommerce/lib/shop.ts'
import { createClient, RequestError, sign } from 'order-relay-store'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot, messageOf } from '../core/errors.ts'
import { lines, type Report, shellWord } from '../core/output.ts'
import { spacedJson } from '../core/webhook.ts'
import { createKey, revokeKey } from '../stores/credentials.ts'
import { openShop, settingsIn } from './check.ts'
import { connectorOf } from './connector.ts'

/** The functions read connections and keys again every minute. */
const NOTICED_WITHIN_MS = 90_000

/** Repeats an attempt until a change has taken effect. */
const untilNoticed = async <Found>(attempt: () => Promise<Found | undefined>): Promise<Found | undefined> => {
  for (const end = Date.now() + NOTICED_WITHIN_MS; ; await sleep(1000)) {
    const found = await attempt()
    if (found !== undefined || Date.now() > end) return found
  }
}

const keyName = 'woocommerce'

/** The store's key for the connector: that of the connection, or a new one. */
const relayKey = async (
  context: Context,
  source: string,
  existing: Connection | undefined,
): Promise<string> => {
  if (existing !== undefined) return existing.relay.key
  await revokeKey(context, source, keyName).catch(() => undefined)
  return (await createKey(context, source, { name: keyName })).data.key
}

/** Creates the webhooks, which proves that the key may write. */
const createWebhooks = async (shop: Shop, url: string, secret: string) => {
  const ids: number[] = []
  try {
    for (const topic of TOPICS) ids.push((await shop.createWebhook(topic, url, secret)).id)
    return ids
  } catch (error) {
    for (const id of ids) await shop.removeWebhook(id)
    const isRefused = error instanceof ShopError && (error.status === 401 || error.status === 403)
    const remedy = isRefused ? "give the shop's key the permission Read/Write" : undefined
    throw cannot('create the webhooks in the shop', messageOf(error), remedy, error)
  }
}

const post = async (url: string, body: string, headers: Record<string, string>) => {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
    signal: AbortSignal.timeout(10_000),
  })
  return response.status
}

/** Signs a body like the shop. */
const signedByShop = (body: string, secret: string) => ({
  'x-wc-webhook-signature': createHmac('sha256', secret).update(body).digest('base64'),
})

const unusable = (found: string) => cannot('use the connector', found, 'deploy it again')

/** Sends a signed and a forged message to both addresses, like the shop and the relay. */
const testEndpoint = async (endpoint: string, { settings, webhooks, relay }: Connection): Promise<void> => {
  const feed = `${endpoint}${PATHS.feed}${connectionId(settings.source)}`
  const test = spacedJson({
    event: 'relay.test',
    delivery: 'test',
    version: 0,
    data: { source: settings.source, external_id: 'test' },
  })
  const message = async (secret: string) => ({
    'x-service-signature': await sign(test, secret),
  })
  const accepted = await untilNoticed(async () => {
    const statuses = [
      await post(webhooks.url, '{}', signedByShop('{}', webhooks.secret)),
      await post(feed, test, await message(relay.secret)),
    ]
    return statuses.every(status => status === 200) || undefined
  })
  const forged = [
    await post(webhooks.url, '{}', signedByShop('{}', 'forged')),
    await post(feed, test, await message('forged')),
  ]
  if (accepted === undefined || forged.some(status => status !== 401))
    throw unusable(`${endpoint} does not verify messages of this connection`)
}

/** The id of an order that no shop has. */
const NO_ORDER = 2_000_000_000

/** Sends the webhook of an order that the shop does not have, and waits until the connector has looked for the order. */
const testQueue = async (
  { cursor }: ReturnType<typeof connectorOf>['states'],
  { settings: { source }, webhooks }: Connection,
): Promise<void> => {
  const before = await cursor(source, 'sync')
  const body = JSON.stringify({ id: NO_ORDER })
  const synchronized = await untilNoticed(async () => {
    await post(webhooks.url, body, signedByShop(body, webhooks.secret))
    return (await cursor(source, 'sync')) !== before || undefined
  })
  if (synchronized === undefined)
    throw unusable('webhooks reach it, but it synchronizes no orders: see the log of its function sync')
}

export type ConnectOptions = {
  shop: string
  settings?: string | undefined
  acceptDifferences?: boolean | undefined
  language: Language
}

/** `relay woo connect`: keys, webhooks and the feed of a shop. Safe to repeat. */
export const connect = async (context: Context, source: string, options: ConnectOptions): Promise<Report> => {
  const action = `connect "${source}"`
  const { feed } = storeNamed(context, source)
  if (feed === 'sqs' || feed.http !== undefined)
    throw cannot(
      action,
      'the connector registers the URL of its feed',
      `set "feed: http" for it in stores.yml and deploy`,
    )
  if (options.settings === undefined)
    throw cannot(
      action,
      'its settings are missing',
      `create them: relay woo check ${options.shop} --save shop.yml, then pass --settings shop.yml`,
    )
  const settings = { ...(await settingsIn(options.settings)), source, shop: options.shop }
  if (!settings.pricesIncludeTax && options.acceptDifferences !== true)
    throw cannot(
      action,
      'prices in the accounting service exclude tax, so totals can differ',
      'switch on "Prices include tax" there, or pass --accept-differences',
    )
  const connector = connectorOf(context)
  const endpoint = await connector.endpoint()
  // First, since nothing is undone when the tests below fail.
  await fetch(endpoint, { signal: AbortSignal.timeout(10_000) }).catch(error => {
    const remedy = context.local ? 'start it: npx relay woo start' : 'deploy it again'
    throw cannot('reach the connector', `${endpoint} does not answer`, remedy, error)
  })
  const { shop, url, key, secret } = await openShop(context, options.shop)
  await shop.statuses().catch(error => {
    throw cannot(
      'read the shop',
      messageOf(error),
      "check the address and the key of the shop's REST API",
      error,
    )
  })
  const existing = await connector.find(source)
  const { apiUrl } = await context.stack()
  const id = connectionId(source)

  const webhookSecret = randomBytes(32).toString('base64url')
  const webhooksUrl = `${endpoint}${PATHS.shop}${id}`
  // First, so that a read-only key leaves nothing behind.
  const ids = await createWebhooks(shop, webhooksUrl, webhookSecret)
  const relay = { url: apiUrl, key: await relayKey(context, source, existing) }
  const client = createClient({ baseUrl: apiUrl, key: relay.key, source })
  const registered = await untilNoticed(() =>
    client.registerWebhook(`${endpoint}${PATHS.feed}${id}`).catch(error => {
      // A new key takes effect within a minute.
      if (error instanceof RequestError && error.status === 401) return undefined
      throw cannot(action, messageOf(error), undefined, error)
    }),
  )
  if (registered === undefined) throw cannot(action, 'the relay does not accept the new key', 'try again')
  const connection: Connection = {
    settings: { ...settings, shop: url },
    language: options.language,
    since: existing?.since ?? new Date().toISOString(),
    shop: { url, key, secret },
    webhooks: { secret: webhookSecret, url: webhooksUrl },
    relay: { ...relay, secret: registered.secret },
  }
  await connector.save(connection)
  // Includes webhooks of a connect that ended early.
  await removeWebhooks(shop, webhooksUrl, ids)
  await testEndpoint(endpoint, connection)
  await testQueue(connector.states, connection)
  return {
    data: { source, shop: url, endpoint, webhooks: ids },
    text: lines(
      `Connected ${url} as "${source}": ${ids.length} webhooks, the key "${keyName}" and the feed are in place, and the connector verifies and synchronizes.`,
      `Earlier orders are sent only by an import: relay woo import ${shellWord(source)} --since 30d${context.flags}`,
    ),
  }
}

const removeWebhooks = async (shop: Shop, url: string, kept: readonly number[] = []) => {
  for (const { id } of await shop.webhooks(url)) if (!kept.includes(id)) await shop.removeWebhook(id)
}

/** `relay woo disconnect`: removes what `connect` created, and says what it keeps. */
export const disconnect = async (context: Context, source: string): Promise<Report> => {
  const connector = connectorOf(context)
  const connection = await connector.connection(source)
  const { relay, webhooks } = connection
  const left: string[] = []
  const attempt = (what: string, work: Promise<unknown>) =>
    work.catch(error => {
      left.push(`${what}: ${messageOf(error)}`)
    })
  await attempt("the shop's webhooks", removeWebhooks(connector.shopOf(connection), webhooks.url))
  const client = createClient({ baseUrl: relay.url, key: relay.key, source })
  // The connector may have another address by now.
  const url = webhooks.url.replace(PATHS.shop + connectionId(source), PATHS.feed + connectionId(source))
  await attempt('the feed', client.removeWebhook(url))
  await attempt(`the key "${keyName}"`, revokeKey(context, source, keyName))
  await connector.remove(source)
  return {
    data: { source, disconnected: true, left },
    ok: left.length === 0,
    text: lines(
      `Disconnected "${source}".`,
      left.map(each => `Could not remove ${each}`),
      'Kept: invoices, the notes and metadata of orders in the shop, and the state of each order in the table, so that a shop that is connected again sends nothing twice.',
    ),
  }
}
