import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import * as v from 'valibot'
import { parseStores } from '../../deploy/stores.ts'
import { errorOf } from '../../lib/accounting/errors.ts'
import { type HttpClient, retryAfterSeconds } from '../../lib/platform/http-client.ts'
import { feedQueueName } from '../../lib/platform/names.ts'
import { sign } from '../../lib/protocol/signature.ts'
import { context, httpEvent } from '../../test/support/lambda.ts'
import { readCall } from '../crash/accounting.ts'
import { anyJsonText, anyText, bytesOf, jsonText, mostly, text, uuid, words } from './arbitraries.ts'
import { NOW, processMessages, SECRET, STORE_KEY, startRelay } from './relay.ts'
import { signatureProperty } from './signature.ts'

const status = fc.oneof(words('needs_review', 'invoiced', 'paid', 'refunded'), anyText)

const webhook = mostly({
  event: words('order.updated', 'order.updated', 'order.updated', 'order.shipped'),
  delivery: uuid,
  data: mostly({
    source: words('shop', 'shop', 'shop', 'other'),
    external_id: anyText,
    status,
    total: anyText,
  }),
})

const webhookHeaders = fc.record(
  { 'x-service-delivery': text, 'x-service-event': fc.oneof(fc.constant('order.updated'), text) },
  { requiredKeys: [] },
)

const responseBody = v.pipe(
  v.string(),
  v.parseJson(),
  v.union([
    v.object({ status: v.string() }),
    v.object({ error: v.looseObject({ message: v.pipe(v.string(), v.nonEmpty()) }) }),
  ]),
)

/** The AWS calls that an authentic webhook may cost, by outcome. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  queued: ['read the delivery', 'send to the order queue', 'record the delivery'],
  ignored: [],
  contradictory: [],
  quarantined: ['read the delivery', 'send to quarantine', 'record the delivery'],
}

const receive = async (
  relay: ReturnType<typeof startRelay>,
  body: Uint8Array | string,
  headers: Record<string, string>,
) => {
  const handler = await relay.createWebhook()
  relay.calls.length = 0
  const { statusCode, body: answer } = await handler(httpEvent({ headers, body }), context())
  return { statusCode, answer: v.parse(responseBody, answer) }
}

/** An authentic webhook is queued, ignored or quarantined byte for byte, and queued events are readable. */
const authenticWebhook = () =>
  fc.asyncProperty(
    bytesOf(webhook),
    fc.boolean(),
    fc.option(webhookHeaders, { freq: 4 }),
    async (bytes, asText, headers) => {
      const relay = startRelay()
      const signature = sign({ secret: SECRET, t: NOW, body: bytes })
      // API Gateway passes text as text by default.
      const body = asText && isUtf8(bytes) ? Buffer.from(bytes).toString() : bytes
      const { statusCode, answer } = await receive(relay, body, {
        ...headers,
        'x-service-signature': signature,
      })
      assert.ok(statusCode === 200 || statusCode === 400, `answered ${statusCode}`)
      const kept = relay.quarantined()
      const outcome = kept.length > 0 ? 'quarantined' : 'status' in answer ? answer.status : 'contradictory'
      assert.deepEqual(
        relay.calls,
        CALLS[outcome]?.map(call => `webhook: ${call}`),
        outcome,
      )
      for (const each of kept) assert.ok(each.equals(bytes))
      for (const message of relay.events()) {
        // U+FFFE and U+FFFF are escaped, since SQS refuses them.
        assert.deepEqual(
          JSON.parse(message),
          JSON.parse(
            Buffer.from(bytes)
              .toString()
              .replace(/^\uFEFF/, ''),
          ),
        )
        assert.equal(await processMessages([message, message]), 0)
      }
    },
  )

/** Any forged webhook is refused without an AWS call. */
const forgedWebhook = () =>
  fc.asyncProperty(bytesOf(webhook), text, async (body, header) => {
    const relay = startRelay()
    for (const signature of [header, sign({ secret: 'whsec_guess', t: NOW, body })]) {
      const { statusCode } = await receive(relay, body, { 'x-service-signature': signature })
      assert.equal(statusCode, 401)
      // A mismatch causes the secrets to be read again, at most once a minute.
      assert.deepEqual(
        relay.calls.filter(call => call !== 'webhook: read the secrets'),
        [],
      )
    }
  })

const order = mostly({
  external_id: anyText,
  source: words('shop', 'shop', 'shop', 'other'),
  date: words('2026-01-02', '2026-02-30'),
  customer: mostly({ mobile: words('09123456789', '+989123456789', '۰۹۱۲۳۴۵۶۷۸۹', '1'), name: anyText }),
  items: mostly({ sku: anyText, quantity: jsonText, unit_price: jsonText }).map(item => `[${item}]`),
  payment: mostly({ method: words('card', 'online', 'crypto'), reference: anyText }),
})
const payment = mostly({ source: words('shop'), method: words('card', 'pos'), reference: anyText })

const request = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', '__proto__'),
  path: fc.oneof(
    fc.constant(''),
    fc.tuple(text, fc.constantFrom('', '/', '/payment/', '/refund', '/cancel/')).map(parts => parts.join('')),
    text,
  ),
  authorization: fc.oneof(
    { weight: 9, arbitrary: fc.constant(`Bearer ${STORE_KEY}`) },
    { weight: 1, arbitrary: text.map(key => `Bearer ${key}`) },
    { weight: 1, arbitrary: text },
  ),
  source: fc.option(fc.oneof(fc.constant('shop'), text), { nil: undefined }),
  body: bytesOf(fc.oneof(order, payment, jsonText)),
})

const STATUSES = new Set([200, 202, 400, 401, 403, 404, 405, 413])

/** A store's request is accepted or refused with a reason; accepted requests are of its own orders and readable. */
const storeRequest = () =>
  fc.asyncProperty(request, async ({ method, path, authorization, source, body }) => {
    const relay = startRelay()
    const event = {
      ...httpEvent({ method, headers: { authorization }, body }),
      rawPath: `/api/v1/orders/${path}`,
      ...(source !== undefined && { rawQueryString: `${new URLSearchParams({ source })}` }),
    }
    const { statusCode = 0, body: answer = '' } = await relay.createApi()(event, context())
    const events = relay.events()
    assert.ok(STATUSES.has(statusCode), `answered ${statusCode}`)
    assert.equal(events.length, statusCode === 202 ? 1 : 0)
    if (statusCode >= 400) assert.match(answer, /"message":"[^"]/)
    const isKnown = /^bearer +key-of-shop *$/i.test(authorization)
    if (!isKnown) assert.ok([401, 404, 405].includes(statusCode), `answered ${statusCode} without a key`)
    for (const message of events) {
      assert.equal(JSON.parse(message).data.source, 'shop')
      assert.equal(await processMessages([message]), 0)
    }
  })

/** A valid or arbitrary message of the order queue. */
const message = fc.oneof(
  {
    weight: 20,
    arbitrary: mostly({
      event: words(
        ...['updated', 'create', 'payment', 'refund', 'withdraw', 'check', 'resend'].map(
          name => `order.${name}`,
        ),
      ),
      delivery: uuid,
      data: mostly({
        source: words('shop'),
        external_id: words('1', '2'),
        status,
        body: anyText,
        accepted_at: fc.nat().map(String),
        kind: words('create', 'payment', 'refund'),
      }),
    }),
  },
  { weight: 2, arbitrary: anyJsonText },
  { weight: 2, arbitrary: text },
)

const STORED_STATUSES = ['needs_review', 'invoiced', 'paid', 'refunded', 'archived', '__proto__']
const accountingAnswer = fc.oneof(
  fc.constantFrom(...STORED_STATUSES).map(result => ({ status: 200, result })),
  fc.constantFrom('not_finalized', 'invalid').map(code => ({ status: 400, code })),
  fc.constant({ status: 404, code: 'not_found' }),
)
type AccountingAnswer = { status: number; result?: string; code?: string }

const accountingOf = (answers: readonly AccountingAnswer[]): HttpClient => {
  let count = 0
  return async request => {
    const { status, result, code } = answers[count++ % answers.length] ?? { status: 404 }
    // Only a create has its order in the body, which the fuzzer generates.
    if (request.path.endsWith('/orders/')) return { status: 400, headers: {}, text: '{}' }
    const { key } = readCall(request)
    const body = result === undefined ? { error: { code } } : { ...key, status: result }
    return { status, headers: {}, text: JSON.stringify(body) }
  }
}

/** Any message of the order queue is processed or quarantined without a failure of the worker. */
const queuedMessages = () =>
  fc.asyncProperty(
    fc.array(message, { minLength: 1, maxLength: 5 }),
    fc.array(accountingAnswer, { minLength: 1, maxLength: 7 }),
    async (messages, answers) => {
      assert.ok((await processMessages(messages, accountingOf(answers))) <= messages.length)
    },
  )

const CODES: readonly (readonly [(status: number) => boolean, string])[] = [
  [status => status === 401 || status === 403, 'unauthorized'],
  [status => status === 404, 'unknown_order'],
  [status => [408, 425, 429].includes(status), 'throttled'],
  [status => status >= 502 && status <= 504, 'unavailable'],
  [status => status < 400 || status >= 500, 'failed'],
  [() => true, 'rejected'],
]

const errorBody = fc.oneof(mostly({ error: mostly({ code: anyText, message: anyText }) }), anyJsonText)

/** The status of an error determines its meaning regardless of its body, and there is always a reason to show. */
const accountingErrors = () =>
  fc.property(fc.integer({ min: 100, max: 599 }), errorBody, (status, json) => {
    const error = errorOf(status, { json: JSON.parse(json), text: json }, undefined)
    const [, code] = CODES.find(([applies]) => applies(status)) ?? []
    assert.equal(error.code, code, `for ${status}`)
    assert.ok(error.message.length > 0 && (error.reason?.message.length ?? 0) > 0)
  })

/** Any Retry-After header gives a non-negative whole number of seconds, or none. */
const retryAfter = () =>
  fc.property(
    fc.oneof(text, fc.date().map(String), fc.integer().map(String)),
    fc.nat(4e12),
    (header, now) => {
      const seconds = retryAfterSeconds(header, now)
      assert.ok(seconds === undefined || (Number.isInteger(seconds) && seconds >= 0))
    },
  )

const VALID_STORES = `stores:
  - source: api
    feed: sqs
  - source: demo-shop
    feed:
      http: https://shop.example/webhook
      disable_after: 3d
`

const damagedStores = fc
  .tuple(
    fc.nat(VALID_STORES.length),
    fc.nat(12),
    fc.oneof(text, fc.constantFrom('&a ', '*a', '!!js ', '- ', ': ', '\t', '{', '|', '<<: *a')),
  )
  .map(([at, removed, other]) => VALID_STORES.slice(0, at) + other + VALID_STORES.slice(at + removed))

/** Aliases that each double the previous one. */
export const aliasBomb = (levels: number): string =>
  [
    'a0: &a0 [x]',
    ...Array.from({ length: levels }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`),
  ].join('\n')

const storesText = fc.oneof(
  { weight: 8, arbitrary: damagedStores },
  { weight: 4, arbitrary: anyJsonText.map(json => `stores: ${json}`) },
  { weight: 2, arbitrary: text },
  { weight: 1, arbitrary: fc.integer({ min: 2, max: 40 }).map(aliasBomb) },
)

/** stores.yml is accepted with names that are valid on AWS, or refused with an error that names the file. */
const storesFile = () =>
  fc.property(storesText, content => {
    let stores: ReturnType<typeof parseStores>
    try {
      stores = parseStores(content)
    } catch (error) {
      assert.ok(error instanceof Error && error.message.startsWith('Cannot read stores.yml'), String(error))
      return
    }
    assert.ok(stores.length > 0)
    assert.equal(new Set(stores.map(({ source }) => source)).size, stores.length)
    for (const { source, queue, feed } of stores) {
      assert.match(feedQueueName(source, queue), /^[A-Za-z0-9_-]{1,75}\.fifo$/)
      if (feed !== 'sqs' && feed.http !== undefined)
        assert.match(new URL(feed.http).href, /^https:|^http:\/\/(127\.|localhost|\[::1\])/)
    }
  })

type Property = fc.IProperty<unknown> | fc.IAsyncProperty<unknown>

/** The properties of each trust boundary, with their share of the runs. */
export const PROPERTIES: readonly { name: string; share: number; property: () => Property }[] = [
  { name: 'a signature header', share: 4, property: signatureProperty },
  { name: 'an authentic webhook', share: 5, property: authenticWebhook },
  { name: 'a forged webhook', share: 1, property: forgedWebhook },
  { name: "a request to the stores' API", share: 5, property: storeRequest },
  { name: 'messages of the order queue', share: 5, property: queuedMessages },
  { name: 'errors of the accounting service', share: 2, property: accountingErrors },
  { name: 'Retry-After of the accounting service', share: 1, property: retryAfter },
  { name: 'stores.yml', share: 2, property: storesFile },
]

/** Whether Object.prototype was polluted. */
export const isPolluted = (): boolean => Object.keys(Object.prototype).length > 0 || 'polluted' in {}
