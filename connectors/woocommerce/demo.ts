import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SQSClient } from '@aws-sdk/client-sqs'
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { credentialsIn } from '@order-relay/local/credentials.ts'
import { partiesOf } from '@order-relay/local/demo/parties.ts'
import type { Demo, Step } from '@order-relay/local/demo/run.ts'
import { queueUrl, REGION, urlOf } from '@order-relay/local/settings.ts'
import type { Stack } from '@order-relay/local/stack.ts'
import { sign } from 'order-relay-store'
import { consumeFeed } from 'order-relay-store/sqs'
import { connectionOf } from './fake/connection.ts'
import { startFakeShop } from './fake/shop.ts'
import { connectionId } from './lib/connections.ts'
import { namesOf } from './lib/names.ts'
import { PATHS } from './lib/receiver.ts'
import { META_KEY } from './lib/shop.ts'
import { startConnector } from './local.ts'

const SOURCE = 'demo-shop'
const TIMEOUT_MS = 20_000

const portOf = (url: string) => Number(new URL(url).port)

/**
 * A fake shop, visited every second and connected to the stack. The feed of `demo-shop` is a queue, so the demo signs its
 * messages and posts them to the connector, as the relay does for a store with `feed: http`.
 */
const connected = async ({ urls }: Stack, dataDir: string) => {
  const shop = await startFakeShop()
  const ports = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, portOf(url)]))
  const id = connectionId(SOURCE)
  const connection = connectionOf(shop, SOURCE, {
    webhooks: { secret: randomBytes(32).toString('base64url'), url: '' },
    relay: { url: urls.relay, key: `local-${SOURCE}`, secret: randomBytes(32).toString('base64url') },
  })
  const at = (port: number | undefined) => ({
    region: REGION,
    endpoint: urlOf(port ?? 0),
    credentials: credentialsIn(dataDir),
  })
  const ssm = new SSMClient(at(ports.ssm))
  const { path } = namesOf('local')
  await ssm.send(
    new PutParameterCommand({
      Name: `${path}/${id}`,
      Value: JSON.stringify(connection),
      Type: 'SecureString',
    }),
  )
  ssm.destroy()
  const connector = await startConnector({
    ports: ports as Parameters<typeof startConnector>[0]['ports'],
    dataDir,
    port: 0,
  })
  for (const topic of ['order.created', 'order.updated'])
    await shop.webhooks.create({
      name: topic,
      topic,
      delivery_url: `${connector.url}${PATHS.shop}${id}`,
      secret: connection.webhooks.secret,
    })

  const stopping = new AbortController()
  const sqs = new SQSClient(at(ports.sqs))
  const feed = consumeFeed({
    sqs,
    queueUrl: queueUrl(ports.sqs ?? 0, `feed-${SOURCE}.fifo`),
    handle: async message => {
      const body = JSON.stringify(message)
      const headers = { 'x-service-signature': await sign(body, connection.relay.secret) }
      const { ok, status } = await fetch(`${connector.url}${PATHS.feed}${id}`, {
        method: 'POST',
        body,
        headers,
      })
      if (!ok) throw new Error(`Cannot pass on the message: the connector answered ${status}`)
    },
    signal: stopping.signal,
  })
  const visits = setInterval(() => void shop.visit(), 1000)
  const orders: { paid?: number; reviewed?: number } = {}
  return {
    shop,
    orders,
    accountant: partiesOf(urls, SOURCE, credentialsIn(dataDir)).accountant,
    close: async () => {
      clearInterval(visits)
      stopping.abort()
      await feed
      await connector.close()
      await shop.close()
      sqs.destroy()
    },
  }
}

type Parties = Awaited<ReturnType<typeof connected>>

const item = (sku: string) => ({ items: [{ sku, total: '1500000' }] })

/** Waits until the shop shows a status and a number of notes of an order; returns the status and the latest note. */
const shown = async (
  { shop }: Parties,
  id: number,
  status: string,
  notes: number,
): Promise<readonly unknown[]> => {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await sleep(50)) {
    const value = shop.order(id).meta_data.find(({ key }) => key === META_KEY)?.value
    const [latest, ...others] = shop.notes(id)
    const isShown = value !== undefined && JSON.parse(String(value)).status === status
    if (isShown && latest !== undefined && others.length === notes - 1) return [status, latest.note]
  }
  throw new Error(`Expected the status ${status} and ${notes} notes within ${TIMEOUT_MS / 1000} s`)
}

const steps: readonly Step<Parties>[] = [
  [
    'customer',
    'orders and pays: the order becomes an invoice with its receipt',
    async parties => {
      await parties.accountant.stock('SHOES', 'Shoes', 10)
      parties.orders.paid = parties.shop.create(item('SHOES')).id
      return shown(parties, parties.orders.paid, 'paid', 1)
    },
    ['paid', 'Accounting service: payment registered, invoice 1, receipt 1.'],
  ],
  [
    'customer',
    'orders what is not in stock: the shop shows that an accountant has to act',
    async parties => {
      await parties.accountant.stock('HAT', 'Hat', 0)
      parties.orders.reviewed = parties.shop.create(item('HAT')).id
      return shown(parties, parties.orders.reviewed, 'needs_review', 1)
    },
    [
      'needs_review',
      'Accounting service: the invoice needs review by an accountant. Insufficient stock: &#34;HAT&#34; needs 1, available 0',
    ],
  ],
  [
    'accountant',
    'corrects the stock and retries: the shop shows the payment',
    async parties => {
      const { reviewed = 0 } = parties.orders
      await parties.accountant.stock('HAT', 'Hat', 5)
      await parties.accountant.retry(String(reviewed))
      return shown(parties, reviewed, 'paid', 2)
    },
    ['paid', 'Accounting service: payment registered, invoice 2, receipt 2.'],
  ],
  [
    'shop owner',
    'refunds part of an order: a note says what to do, and nothing is returned',
    async parties => {
      const { reviewed = 0 } = parties.orders
      parties.shop.refund(reviewed, '500000')
      return shown(parties, reviewed, 'paid', 3)
    },
    [
      'paid',
      'Part of the order was refunded (500,000 IRR). Register the return of these items in the accounting service.',
    ],
  ],
  [
    'shop owner',
    'refunds a whole order: the accounting service registers the return',
    async parties => {
      const { paid = 0 } = parties.orders
      parties.shop.edit(paid, { status: 'refunded' })
      return shown(parties, paid, 'refunded', 2)
    },
    ['refunded', 'Accounting service: return 1 registered.'],
  ],
]

// The steps already print what the functions log.
process.env.POWERTOOLS_LOG_LEVEL = 'WARN'

export const demo: Demo<Parties> = {
  steps,
  partiesOf: connected,
  look: (_, { shop }) => `The shop's orders: ${shop.url}`,
}
