import { randomUUID } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OpenAPIClientAxios } from 'openapi-client-axios'
import { feedQueueName } from '../../lib/platform/names.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { logFile } from '../../local/log.ts'
import { freePorts } from '../../local/ports.ts'
import { environmentOf, type Settings } from '../../local/settings.ts'
import { type Stack, startStack } from '../../local/stack.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { copyProject, must, relay } from '../deploy/project.ts'
import { drain, scan } from '../support/parts.ts'
import { until } from '../support/until.ts'
import { STORIES, type Step } from './interface.ts'

const PERSIAN = 'فروشگاه شمالی'

let stack: Stack
let project: string
let settings: Settings
let dataDir: string
let sqs: SQSClient
let dynamodb: DynamoDBClient

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'order-relay-e2e-'))
  project = join(dataDir, 'project')
  await copyProject(project)
  await appendFile(join(project, 'stores.yml'), `  - source: ${PERSIAN}\n    feed: sqs\n`)
  settings = { ports: await freePorts(), dataDir, watch: false }
  stack = await startStack({ project, ...settings })
  const client = { region: 'eu-central-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
  sqs = new SQSClient({ ...client, endpoint: stack.urls.sqs })
  dynamodb = new DynamoDBClient({ ...client, endpoint: stack.urls.dynamodb })
}, 60_000)

afterAll(async () => {
  await stack?.stop()
  sqs?.destroy()
  dynamodb?.destroy()
  await rm(dataDir, { recursive: true, force: true })
}, 30_000)

type Json = { [field: string]: unknown }
type Reply = { status: number; body: Json }

type Key = NonNullable<Step['key']>

/** Where a store sends its requests, and the panel of the service behind it. */
type Target = { url: string; panel: string; keyOf: (source: string, key: Key) => string | undefined }

const send = async (
  { url, panel, keyOf }: Target,
  { ask, body, key = 'write', source = 'api' }: Step,
  id: string,
): Promise<Reply> => {
  const [method = '', path = ''] = ask.replaceAll('ID', id).split(/ (.*)/s)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const bearer = keyOf(source, key)
  const response = await fetch(path.startsWith('/') ? panel + path : `${url}/api/v1/orders/${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(!path.startsWith('/') && bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
    ...(text !== undefined && { body: text.replaceAll('ID', id).replace('"BIG"', '9007199254740993') }),
  })
  return { status: response.status, body: (await response.json()) as Json }
}

/** Errors whose words are the relay's own; of the service's every word is the same. */
const OWN_WORDS = ['unauthorized', 'forbidden', 'method_not_allowed', 'malformed']

/** An answer without what two services that act the same way may number, word or add differently. */
const comparable = ({ status, body }: Reply) => {
  const { relay: _, error, ...fields } = body
  const { code, message } = (error ?? {}) as Json
  const isOwn = OWN_WORDS.includes(String(code)) || /^(?!Order).*exist|^Not found/.test(String(message))
  const numbers = ['invoice_number', 'receipt_number', 'return_number']
  const shown = Object.entries(fields).map(([name, value]) => [
    name,
    numbers.includes(name) ? typeof value : value,
  ])
  return { status, body: { ...Object.fromEntries(shown), error: isOwn ? { code } : error } }
}

const webhook = (external_id: string, status: string, source = 'demo-shop') => ({
  event: 'order.updated',
  delivery: randomUUID(),
  data: { source, external_id, status, total: '1500000', error: null },
})

const post = async (
  content: unknown,
  { secret = stack.webhookSecret, headers = {}, t = Date.now() / 1000 } = {},
) => {
  const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
  const response = await fetch(`${stack.urls.relay}/webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-service-signature': sign({ secret, t: Math.floor(t), body }),
      ...headers,
    },
    body,
  })
  return { status: response.status, body: (await response.json()) as unknown }
}

type Received = { version: number; delivery: string; data: { external_id: string; status: string } }

const feed = (source = 'demo-shop') => `${stack.urls.sqs}/000000000000/${feedQueueName(source)}`

/** Receives so many messages of the feed. */
const receive = async (count: number, source?: string): Promise<Received[]> => {
  const received: Received[] = []
  for (const end = Date.now() + 30_000; received.length < count && Date.now() < end; ) {
    received.push(...(await drain(sqs, feed(source))).map(({ Body = '' }) => JSON.parse(Body) as Received))
  }
  return received
}

test('60 deliveries for 60 orders, posted 300 times in parallel, are published exactly 60 times', async () => {
  const webhooks = Array.from({ length: 60 }, (_, index) => webhook(`flood-${index}`, 'paid'))
  const responses = await Promise.all(Array.from({ length: 300 }, (_, index) => post(webhooks[index % 60])))
  expect(responses.filter(({ status }) => status !== 200)).toEqual([])

  const published = await receive(60)
  expect(new Set(published.map(({ delivery }) => delivery))).toEqual(
    new Set(webhooks.map(({ delivery }) => delivery)),
  )
  expect(published).toHaveLength(60)
  expect(await drain(sqs, feed())).toEqual([])
  const stored = (await scan(dynamodb, 'orders')).filter(({ external_id }) =>
    external_id?.S?.startsWith('flood-'),
  )
  expect(stored).toHaveLength(60)
}, 90_000)

test('changes of one order reach its feed in order', async () => {
  const statuses = ['needs_review', 'invoiced', 'paid', 'refunded']
  for (const status of statuses) await post(webhook('سفارش ۱', status))
  const published = await receive(4)
  expect(published.map(({ data, version }) => [data.status, version])).toEqual(
    statuses.map((status, index) => [status, index + 1]),
  )
}, 40_000)

test('an order of a store with a Persian source goes its way, from the key of the store to its feed', async () => {
  const key = await must(
    'relay stores key',
    relay(project, { ...process.env, ...environmentOf(settings) }, [
      'stores',
      'key',
      PERSIAN,
      '--local',
      '--json',
    ]),
  )
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${stack.urls.relay}/api/v1/orders/${path}`, {
      method,
      headers: { authorization: `Bearer ${JSON.parse(key).key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    expect(response.ok).toBe(true)
    return (await response.json()) as { status: string }
  }
  const query = `?source=${encodeURIComponent(PERSIAN)}`
  const items = [{ sku: 'SKU-1', quantity: 1, unit_price: 1000 }]
  await ask('POST', '', { external_id: '۱', source: PERSIAN, items, customer: { mobile: '09120000000' } })
  await ask('POST', `${encodeURIComponent('۱')}/payment/${query}`, { method: 'card' })
  const published = await receive(2, PERSIAN)
  expect(published.at(-1)?.data).toMatchObject({ source: PERSIAN, external_id: '۱', status: 'paid' })
  expect(await ask('GET', `${encodeURIComponent('۱')}/${query}`)).toMatchObject({ status: 'paid' })

  expect(await post(webhook('۱', 'refunded', PERSIAN))).toMatchObject({ body: { status: 'queued' } })
  expect(await readFile(logFile(dataDir), 'utf8')).toContain(PERSIAN)
}, 60_000)

test('a captured delivery is refused under another X-Service-Delivery header', async () => {
  const content = webhook('captured', 'paid')
  const headers = { 'x-service-delivery': randomUUID() }
  expect((await post(content, { headers })).status).toBe(400)
  expect(await post(content, { headers: { 'x-service-delivery': content.delivery } })).toEqual({
    status: 200,
    body: { status: 'queued' },
  })
  expect(await receive(1)).toMatchObject([{ delivery: content.delivery }])
}, 40_000)

test.each<[string, () => ReturnType<typeof post>, number]>([
  ['a forged signature', () => post(webhook('x', 'paid'), { secret: 'guess' }), 401],
  ['a stale signature', () => post(webhook('x', 'paid'), { t: Date.now() / 1000 - 301 }), 401],
  ['no body and no header', () => post('', { headers: { 'x-service-signature': '' } }), 401],
  ['a body that is not a webhook', () => post('[]'), 400],
  ['a body that is too large', () => post(`"${'x'.repeat(300_000)}"`), 413],
  ['a foreign source', () => post(webhook('x', 'paid', 'other')), 200],
  ['an unknown event', () => post({ ...webhook('x', 'paid'), event: 'order.shipped' }), 200],
])('%s is answered and not published', async (_name, attempt, status) => {
  expect((await attempt()).status).toBe(status)
  expect(await drain(sqs, feed())).toEqual([])
})

test('no log line of the stack contains personal data or a secret', async () => {
  const personal = ['Neda Rahimi', '09127654321', '9127654321', 'neda@example.com', 'گمشده']
  const asStore = { authorization: 'Bearer local-demo-shop', 'content-type': 'application/json' }
  const ask = (path: string, body: unknown) =>
    fetch(`${stack.urls.relay}/api/v1/orders/${path}`, {
      method: 'POST',
      headers: asStore,
      body: JSON.stringify(body),
    })
  const customer = { mobile: '+989127654321', name: 'Neda Rahimi', email: 'neda@example.com' }
  const order = (external_id: string, sku: string, changes: object = {}) => ({
    external_id,
    source: 'demo-shop',
    customer,
    items: [{ sku, quantity: 1, unit_price: 1000, name: 'گمشده' }],
    ...changes,
  })

  expect((await ask('', order('private-1', 'SKU-1'))).status).toBe(201)
  // The service refuses it, in words that reach only the store.
  expect((await ask('', order('private-2', 'گمشده'))).status).toBe(400)
  expect(
    (await ask('', order('private-3', 'SKU-1', { customer: { ...customer, mobile: '9127654321x' } }))).status,
  ).toBe(400)
  expect(
    (await ask('private-1/payment/?source=demo-shop', { method: 'card', reference: 'گمشده' })).status,
  ).toBe(200)
  await post({ event: 'order.updated', delivery: 'no uuid', data: { source: 'demo-shop', customer } })
  const published = await receive(4)
  expect(published.map(({ data }) => data.external_id).sort()).toEqual([
    'private-1',
    'private-1',
    'private-2',
    'private-3',
  ])

  const log = () => readFile(logFile(dataDir), 'utf8')
  await until(async () => (await log()).includes('private-2') && (await log()).includes('order.payment'))
  const written = await log()
  for (const word of [...personal, stack.webhookSecret, 'sandbox-key', 'local-demo-shop'])
    expect(written).not.toContain(word)
}, 40_000)

const DEFAULTS: Step = {
  ask: 'PUT /panel/settings',
  body: {
    automaticFinalization: true,
    defaultCustomer: 'walk-in',
    orderPaymentReceivingAccount: 'bank-1',
  },
}

describe('the relay answers as the service does:', () => {
  let direct: Awaited<ReturnType<typeof startSandbox>>
  beforeAll(async () => {
    direct = await startSandbox({ port: 0 })
  })
  afterAll(() => direct.close())

  test.each(STORIES)('%s', async (_name, ...steps) => {
    const id = randomUUID().slice(0, 8)
    const service: Target = {
      url: direct.url,
      panel: direct.url,
      keyOf: (_source, key) =>
        ({ none: undefined, wrong: key, read: 'sandbox-read-key', write: 'sandbox-key' })[key],
    }
    const relay: Target = {
      url: stack.urls.relay,
      panel: stack.urls.sandbox,
      keyOf: (source, key) =>
        ({ none: undefined, wrong: key, read: `local-${source}-read`, write: `local-${source}` })[key],
    }
    try {
      for (const step of steps) {
        const expected = comparable(await send(service, step, id))
        let found = await send(relay, step, id)
        // What the accountant does reaches the relay by webhook.
        if (step.ask.startsWith('GET')) {
          await until(async () => {
            found = await send(relay, step, id)
            return isDeepStrictEqual(comparable(found), expected)
          }, 3000).catch(() => undefined)
        }
        if (step.through !== undefined) {
          expect([step, found.status, found.body.state]).toEqual([step, 202, step.through])
        } else if (step.ask.includes(' /panel/')) {
          expect([step, found.status]).toEqual([step, expected.status])
        } else {
          expect({ step, ...comparable(found) }).toEqual({ step, ...expected })
        }
      }
    } finally {
      for (const target of [service, relay]) await send(target, DEFAULTS, '')
    }
  })
})

test('what waits is withdrawn at once, and what is held or registered is not', async () => {
  const relay: Target = {
    url: stack.urls.relay,
    panel: stack.urls.sandbox,
    keyOf: source => `local-${source}`,
  }
  const ask = (ask: string, body?: Json) => send(relay, { ask, ...(body && { body }) }, randomUUID())
  const withdraw = async (path: string) => {
    const { status, body } = await ask(`DELETE ${path}`)
    return [status, body.state ?? (body.error as Json).code]
  }
  const [inReview, refused] = [randomUUID(), randomUUID()]
  const items = [{ sku: 'SKU-1', quantity: 1, unit_price: 1000 }]
  await ask('PUT /panel/settings', { automaticFinalization: false })
  try {
    await ask('POST ', { external_id: inReview, items })
    await ask(`POST ${inReview}/payment/`, { method: 'card' })
    await ask(`POST ${inReview}/refund/`)
    expect(await withdraw(`${inReview}/payment/`)).toEqual([409, 'held'])
    expect(await withdraw(`${inReview}/refund/`)).toEqual([200, 'registered'])
    expect(await withdraw(`${inReview}/refund/`)).toEqual([409, 'nothing_waits'])
  } finally {
    await send(relay, DEFAULTS, '')
  }
  await ask('POST ', { external_id: refused, items: [{ ...items[0], sku: 'unknown' }] })
  expect(await withdraw(`${refused}/`)).toEqual([200, 'registered'])
  expect((await ask(`GET ${refused}/`)).body.relay).toMatchObject({
    requests: [
      { kind: 'create', state: 'withdrawn' },
      { kind: 'withdrawal', state: 'registered' },
    ],
  })
})

test("a client made from the service's OpenAPI document needs nothing but another base URL", async () => {
  const definition = JSON.parse(await readFile('docs/openapi.json', 'utf8'))
  const clientOf = (url: string, key: string) =>
    new OpenAPIClientAxios({
      definition,
      withServer: { url },
      axiosConfigDefaults: { headers: { authorization: `Bearer ${key}` }, validateStatus: () => true },
    }).init()
  const external_id = randomUUID()
  const placed = { external_id, items: [{ sku: 'SKU-1', quantity: 1, unit_price: 1000 }] }
  const path = { external_id }
  const client = await clientOf(stack.urls.relay, 'local-api')
  const replies = [
    await client.readOrder?.(path),
    await client.createOrder?.({}, placed),
    await client.createOrder?.({}, placed),
    await client.registerPayment?.(path, { method: 'card', reference: '1' }),
    await client.registerRefund?.(path, { reason: 'x' }),
    await client.readOrder?.(path),
  ]
  expect(replies.map(reply => [reply?.status, reply?.data.status ?? reply?.data.error.code])).toEqual([
    [404, 'not_found'],
    [201, 'invoiced'],
    [200, 'invoiced'],
    [200, 'paid'],
    [200, 'refunded'],
    [200, 'refunded'],
  ])
  const direct = await clientOf(stack.urls.sandbox, 'sandbox-key')
  const { relay: _, ...read } = replies.at(-1)?.data ?? {}
  expect(read).toEqual((await direct.readOrder?.(path))?.data)
})
