import { randomUUID } from 'node:crypto'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { logFile } from '@order-relay/local/log.ts'
import { storedSecret } from '@order-relay/operator/test/commands.ts'
import { OpenAPIClientAxios } from 'openapi-client-axios'
import { startSandbox } from 'order-relay-sandbox/src/start.ts'
import { feedQueueName } from '../../lib/platform/names.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { undocumented } from '../support/documents.ts'
import { fetchJson } from '../support/fetch-json.ts'
import { drain } from '../support/parts.ts'
import { copyProject } from '../support/project.ts'
import { local } from '../support/relay.ts'
import { until } from '../support/until.ts'
import { STORIES, type Step } from './interface.ts'

export const PERSIAN = 'فروشگاه شمالی'

/** A copy of the project with a store that no queue can be named after. */
export const projectWithPersianStore = async (folder: string): Promise<string> => {
  await copyProject(folder)
  const lines = [
    `- source: ${PERSIAN}`,
    '  feed: sqs',
    '  dead_letter_after: 2',
    '  consumers: ["111122223333"]',
  ]
  await appendFile(join(folder, 'stores.yml'), lines.map(line => `  ${line}\n`).join(''))
  return folder
}

type Json = { [field: string]: unknown }
export type Reply = { status: number; body: Json }

type Key = NonNullable<Step['key']>

/** Where a store sends its requests, and the panel of the service behind it. */
export type Target = { url: string; panel: string; keyOf: (source: string, key: Key) => string | undefined }

export const send = async (
  { url, panel, keyOf }: Target,
  { ask, body, key = 'write', source = 'api' }: Step,
  id = '',
): Promise<Reply> => {
  const [method = '', path = ''] = ask.replaceAll('ID', id).split(/ (.*)/s)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const isPanel = path.startsWith('/')
  const reply = await fetchJson(isPanel ? panel + path : `${url}/api/v1/orders/${path}`, {
    ...{ method, headers: { 'content-type': 'application/json' } },
    key: isPanel ? null : keyOf(source, key),
    body: text?.replaceAll('ID', id).replace('"BIG"', '9007199254740993'),
  })
  const isRelay = url === local.stack().urls.relay && !isPanel
  if (isRelay) expect(undocumented(method, path, reply.status, reply.body)).toBeUndefined()
  return reply
}

/** The relay of the stack, with these keys of its stores. */
export const relayWith = (keyOf: Target['keyOf']): Target => ({
  ...{ url: local.stack().urls.relay, panel: local.stack().urls.sandbox, keyOf },
})

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

const post = async (content: object) => {
  const body = JSON.stringify(content)
  const signature = sign({ secret: await storedSecret(), t: Math.floor(Date.now() / 1000), body })
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-service-signature': signature }
  const response = await fetch(`${local.stack().urls.relay}/webhook`, { method: 'POST', headers, body })
  return (await response.json()) as unknown
}

type Received = { version: number; delivery: string; data: Json & { external_id: string } }

/** Receives what is in a store's feed. */
export const published = async (source = 'demo-shop'): Promise<Received[]> =>
  (await drain(local.stack().sqs, local.queue(feedQueueName(source)))).map(
    ({ Body = '' }) => JSON.parse(Body) as Received,
  )

/** Receives this number of messages from the feed. */
const receive = async (count: number, source?: string): Promise<Received[]> => {
  const received: Received[] = []
  await until(async () => received.push(...(await published(source))) >= count)
  return received
}

const DEFAULTS: Step = {
  ask: 'PUT /panel/settings',
  body: {
    automaticFinalization: true,
    defaultCustomer: 'walk-in',
    orderPaymentReceivingAccount: 'bank-1',
  },
}
export const item = (changes: object = {}) => ({ sku: 'SKU-1', quantity: 1, unit_price: 1000, ...changes })

export const persianTests = () => {
  test('relays orders of stores with Persian names, and logs no personal data or secret', async () => {
    const { data } = await local.json(['stores', 'key', PERSIAN])
    const store = relayWith(() => data.key)
    const query = `?source=${encodeURIComponent(PERSIAN)}`
    const [lost, NAME] = ['گمشده', 'Neda Rahimi']
    const customer = { mobile: '+989127654321', name: NAME, email: 'neda@example.com' }
    const create = (external_id: string, sku: string): Step => ({
      ask: 'POST ',
      body: { external_id, source: PERSIAN, items: [item({ sku, name: lost })], customer },
    })
    const steps = [
      create('۱', 'SKU-1'),
      // The service refuses it, in words that reach only the store.
      create('۲', lost),
      { ask: `POST ID/payment/${query}`, body: { method: 'card', reference: lost } },
    ]
    for (const step of steps) await send(store, step, encodeURIComponent('۱'))
    const published = (await receive(3, PERSIAN)).map(message => message.data)
    expect(published).toContainEqual(expect.objectContaining({ source: PERSIAN, status: 'paid' }))

    const refunded = { source: PERSIAN, external_id: '۱', status: 'refunded' }
    const webhook = { event: 'order.updated', delivery: randomUUID(), data: refunded }
    expect(await post(webhook)).toEqual({ status: 'queued' })
    await post({ event: 'order.updated', delivery: 'no uuid', data: { source: PERSIAN, customer } })

    const log = () => readFile(logFile(local.stack().dataDir), 'utf8')
    await until(async () => (await log()).includes('unreadable') && (await log()).includes('order.payment'))
    const written = await log()
    expect(written).toContain(PERSIAN)
    const personal = [NAME, '09127654321', '9127654321', 'neda@example.com', lost]
    for (const word of [...personal, await storedSecret(), 'sandbox-key', data.key])
      expect(written).not.toContain(word)
  })
}

export const relayTests = () => {
  beforeAll(async () => {
    for (const [sku, stock] of [
      ['SKU-1', 1000],
      ['SKU-3', 0],
    ] as const)
      await local.sandbox('PUT', `/panel/products/${sku}`, { stock })
    await published()
  })

  describe('the relay responds like the service:', () => {
    let direct: Awaited<ReturnType<typeof startSandbox>>
    let service: Target
    let relay: Target
    beforeAll(async () => {
      direct = await startSandbox({ port: 0 })
      service = {
        ...{ url: direct.url, panel: direct.url },
        keyOf: (_source, key) =>
          ({ none: undefined, wrong: key, read: 'sandbox-read-key', write: 'sandbox-key' })[key],
      }
      relay = relayWith(
        (source, key) =>
          ({ none: undefined, wrong: key, read: `local-${source}-read`, write: `local-${source}` })[key],
      )
    })
    afterAll(() => direct.close())

    test.each(STORIES)('%s', async (_name, ...steps) => {
      const id = randomUUID().slice(0, 8)
      for (const step of [DEFAULTS, ...steps]) {
        const expected = comparable(await send(service, step, id))
        let found = await send(relay, step, id)
        if (step.through !== undefined) {
          expect([step, found.status, found.body.state]).toEqual([step, 202, step.through])
        } else if (step.ask.includes(' /panel/')) {
          expect([step, found.status]).toEqual([step, expected.status])
        } else {
          const isSame = () => isDeepStrictEqual(comparable(found), expected)
          // What the accountant does reaches the relay by webhook.
          if (step.ask.startsWith('GET') && !isSame()) {
            await until(async () => {
              found = await send(relay, step, id)
              return isSame()
            }).catch(() => undefined)
          }
          expect({ step, ...comparable(found) }).toEqual({ step, ...expected })
        }
      }
    })
  })

  test('withdraws a waiting request immediately, and refuses to withdraw a held or registered one', async () => {
    const relay = relayWith(source => `local-${source}`)
    const ask = (ask: string, body?: Json) => send(relay, { ask, ...(body && { body }) })
    const withdraw = async (path: string) => {
      const { status, body } = await ask(`DELETE ${path}`)
      return [status, body.state ?? (body.error as Json).code]
    }
    const [inReview, refused] = [randomUUID(), randomUUID()]
    await ask('PUT /panel/settings', { automaticFinalization: false })
    await ask('POST ', { external_id: inReview, items: [item()] })
    await ask(`POST ${inReview}/payment/`, { method: 'card' })
    await ask(`POST ${inReview}/refund/`)
    expect(await withdraw(`${inReview}/payment/`)).toEqual([409, 'held'])
    expect(await withdraw(`${inReview}/refund/`)).toEqual([200, 'registered'])
    expect(await withdraw(`${inReview}/refund/`)).toEqual([409, 'nothing_waits'])
    await send(relay, DEFAULTS)
    await ask('POST ', { external_id: refused, items: [item({ sku: 'unknown' })] })
    expect(await withdraw(`${refused}/`)).toEqual([200, 'registered'])
    expect((await ask(`GET ${refused}/`)).body.relay).toMatchObject({
      requests: [
        { kind: 'create', state: 'withdrawn' },
        { kind: 'withdrawal', state: 'registered' },
      ],
    })
  })

  test("a client generated from the service's OpenAPI document needs only a different base URL", async () => {
    const definition = JSON.parse(await readFile('docs/openapi.json', 'utf8'))
    const clientOf = (url: string, key: string) =>
      new OpenAPIClientAxios({
        definition,
        withServer: { url },
        axiosConfigDefaults: { headers: { authorization: `Bearer ${key}` }, validateStatus: () => true },
      }).init()
    const external_id = randomUUID()
    const placed = { external_id, items: [item()] }
    const path = { external_id }
    const { urls } = local.stack()
    const client = await clientOf(urls.relay, 'local-api')
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
    const direct = await clientOf(urls.sandbox, 'sandbox-key')
    const { relay: _, ...read } = replies.at(-1)?.data ?? {}
    expect(read).toEqual((await direct.readOrder?.(path))?.data)
  })
}
