import { expect, test } from '@jest/globals'
import * as main from '../src/index.ts'
import * as sqs from '../src/sqs.ts'
import * as testing from '../src/testing.ts'

// biome-ignore lint/suspicious/noExplicitAny: plain JavaScript passes anything
type Untyped = Record<'client' | keyof typeof main | keyof typeof sqs | keyof typeof testing, any>

const requests: unknown[] = []
const options = { baseUrl: 'http://relay.test', key: 'k', fetch: async (url: unknown) => requests.push(url) }
const client = (changes = {}) => main.createClient({ ...options, ...changes } as never)
const store = { ...main, ...sqs, ...testing, client } as Untyped
const feed = {
  sqs: { send: () => undefined },
  queueUrl: 'http://sqs.test/1/feed.fifo',
  handle: () => undefined,
}
const headers = {}
const circular: { self?: object } = {}
circular.self = circular

test.each<[message: string, call: (store: Untyped) => unknown]>([
  [
    'withdraw a request: of is undefined; it must be "create", "payment" or "refund"',
    ({ client }) => client().withdraw('N-2'),
  ],
  [
    'withdraw a request: of is "refunds"; it must be "create"',
    ({ client }) => client().withdraw('1', 'refunds'),
  ],
  ['create a client: options is undefined', ({ createClient }) => createClient()],
  ['create a client: baseUrl is undefined', ({ createClient }) => createClient({ key: 'k' })],
  [
    'create a client: baseUrl is "relay.test"; it must be a URL',
    ({ client }) => client({ baseUrl: 'relay.test' }),
  ],
  [
    'create a client: baseUrl is "http://relay.test/api/v1/"; it must be a URL that begins with https:// or http:// and ends before "/api/v1"',
    ({ client }) => client({ baseUrl: 'http://relay.test/api/v1/' }),
  ],
  [
    'create a client: there is no option "sourc"; the options are baseUrl, key, source, attempts, timeout, fetch',
    ({ client }) => client({ sourc: 'demo-shop' }),
  ],
  [
    'send a request: there is no option "timeout"; the options are wait, strict, signal',
    ({ client }) => client().read('1', { timeout: 5 }),
  ],
  [
    'create a client: baseUrl is a string; it must be a URL',
    ({ client }) => client({ baseUrl: 'ftp://user:password@relay.test' }),
  ],
  ['create a client: key is empty', ({ client }) => client({ key: '' })],
  ['create a client: attempts is 0', ({ client }) => client({ attempts: 0 })],
  ['send a request: key is undefined', ({ client }) => client({ key: async () => undefined }).read('1')],
  [
    'create a client: key is a string that ends with whitespace, such as a line break; it must be',
    ({ client }) => client({ key: 'k\n' }),
  ],
  [
    'send a request: key is a string that ends with whitespace, such as a line break; it must be',
    ({ client }) => client({ key: async () => 'k\n' }).read('1'),
  ],
  [
    'create a client: key is a string; it must be a string of visible Latin-1 characters (a local key contains its source percent-encoded), or a function',
    ({ client }) => client({ key: 'کلید' }),
  ],
  ['send a request: wait is a string', ({ client }) => client().read('1', { wait: '3' })],
  ['create an order: order is undefined', ({ client }) => client().create()],
  [
    'create an order: external_id is " 1001"; it must be a string other than "", "." and "..", without leading or trailing whitespace',
    ({ client }) => client().create({ external_id: ' 1001' }),
  ],
  ['create an order: external_id is 1001', ({ client }) => client().create({ external_id: 1001 })],
  [
    'send a request: shipping is a bigint; it must be a finite number',
    ({ client }) => client().create({ external_id: '1', shipping: 10n }),
  ],
  [
    'send a request: Converting circular structure to JSON',
    ({ client }) => client().create({ external_id: '1', shipping: circular }),
  ],
  [
    'send a request: items[1].unit_price is NaN; it must be a finite number',
    ({ client }) =>
      client().create({ external_id: '1', items: [{ quantity: 1 }, { unit_price: Number.NaN }] }),
  ],
  [
    'send a request: discount is Infinity',
    ({ client }) => client().create({ external_id: '1', discount: Number.POSITIVE_INFINITY }),
  ],
  [
    'create an order: there is no payment field "amount"; the payment fields are method, reference, date, and the payment is always of the whole invoice',
    ({ client }) => client().create({ external_id: '1', payment: { method: 'card', amount: 5 } }),
  ],
  [
    'create an order: its source is "web", but the client\'s source is "shop"; create another client with a key for "web"',
    ({ client }) => client({ source: 'shop' }).create({ external_id: '1', source: 'web' }),
  ],
  ['read an order: external_id is empty', ({ client }) => client().read('')],
  [
    'read an order: external_id is ".."; it must be a string other than "", "." and ".."',
    ({ client }) => client().read('..'),
  ],
  [
    'send a request: wait is 5 seconds, and timeout is 5000 milliseconds; timeout must be longer',
    ({ client }) => client({ timeout: 5000 }).read('1', { wait: 5 }),
  ],
  ['send a request: wait is 11', ({ client }) => client().read('1', { wait: 11 })],
  ['pay an order: payment is a string', ({ client }) => client().pay('1', 'card')],
  [
    'pay an order: there is no payment field "amount"; the payment fields are method, reference, date, and the payment is always of the whole invoice',
    ({ client }) => client().pay('1', { method: 'card', amount: 5 }),
  ],
  [
    'refund an order: reason is an object; it must be a string, since the refund is always of the whole order',
    ({ client }) => client().refund('1', { amount: 5, items: [1] }),
  ],
  [
    'send a request: there is no option "amount"',
    ({ client }) => client().refund('1', 'returned', { amount: 5 }),
  ],
  ['register a webhook: url is "shop.example"', ({ client }) => client().registerWebhook('shop.example')],
  ['remove a webhook: url is undefined', ({ client }) => client().removeWebhook()],
  ['create a receiver: secrets is undefined', ({ createReceiver }) => createReceiver({ handle: () => 1 })],
  [
    'create a receiver: secrets is a string that ends with whitespace, such as a line break; it must be a secret or a list of secrets, not empty and without leading or trailing whitespace (trim what is read from a file), or a function',
    ({ createReceiver }) => createReceiver({ secrets: 'whsec_c2VjcmV0\n', handle: () => 1 }),
  ],
  [
    'verify the signature: secrets is a list with a string that begins with whitespace; it must be a secret',
    ({ verifySignature }) => verifySignature({ headers, body: '', secrets: ['s', ' s'] }),
  ],
  [
    'create a receiver: secrets is a list with undefined; it must be a secret',
    ({ createReceiver }) => createReceiver({ secrets: [undefined], handle: () => 1 }),
  ],
  [
    'verify the signature: secrets is a list with an empty string; it must be a secret',
    ({ verifySignature }) => verifySignature({ headers, body: '', secrets: ['s', ''] }),
  ],
  ['sign a body: secrets is a string', ({ sign }) => sign('{}', 's\r\n')],
  ['create a receiver: secrets is an empty list', ({ createReceiver }) => createReceiver({ secrets: [] })],
  [
    'create a receiver: there is no option "secret"',
    ({ createReceiver }) => createReceiver({ secrets: 's', handle: () => 1, secret: 's' }),
  ],
  [
    'create a receiver: there is no option "secret"; the options are secrets, handle, once, onError, maxBytes',
    ({ createReceiver }) => createReceiver({ secret: 's', handle: () => 1 }),
  ],
  ['create a receiver: handle is undefined', ({ createReceiver }) => createReceiver({ secrets: 's' })],
  ['create a handler: receive is an object', ({ fetchHandler }) => fetchHandler({})],
  ['create a handler: receive is an object', ({ nodeHandler }) => nodeHandler({})],
  ['create a handler: receive is an object', ({ fastifyHandler }) => fastifyHandler({})],
  ['consume a feed: handle is undefined', ({ consumeFeed }) => consumeFeed({ ...feed, handle: undefined })],
  ['consume a feed: there is no option "url"', ({ consumeFeed }) => consumeFeed({ ...feed, url: '' })],
  ['consume a feed: queueUrl is empty', ({ consumeFeed }) => consumeFeed({ ...feed, queueUrl: '' })],
  [
    'verify the signature: there is no option "secret"',
    ({ verifySignature }) => verifySignature({ headers, body: '', secrets: 's', secret: 's' }),
  ],
  [
    'verify the signature: there is no option "secret"',
    ({ verifySignature }) => verifySignature({ headers, body: '', secret: 's' }),
  ],
  ['create a client: there is no option "baseURL"', ({ createClient }) => createClient({ baseURL: 'x' })],
  ['consume a feed: there is no option "queue"', ({ consumeFeed }) => consumeFeed({ queue: 'x' })],
  [
    'explain the signature: there is no option "secrets"',
    ({ explainSignature }) => explainSignature({ headers, body: '', secret: 's', secrets: 's' }),
  ],
  [
    'verify the signature: receivedAt is 1700000000000; it must be a unix time in seconds, not milliseconds, such as Date.now() / 1000',
    ({ verifySignature }) =>
      verifySignature({ headers, body: '', secrets: 's', receivedAt: 1_700_000_000_000 }),
  ],
  [
    'explain the signature: receivedAt is 1700000000000; it must be a unix time in seconds',
    ({ explainSignature }) =>
      explainSignature({ headers, body: '', secret: 's', receivedAt: 1_700_000_000_000 }),
  ],
  [
    'verify the signature: receivedAt is a string; it must be a unix time in seconds',
    ({ verifySignature }) => verifySignature({ headers, body: '', secrets: 's', receivedAt: '1700000000' }),
  ],
  [
    'sign a body: t is 1700000000000; it must be a unix time in whole seconds, not milliseconds, such as Math.floor(Date.now() / 1000)',
    ({ sign }) => sign('{}', 's', 1_700_000_000_000),
  ],
  [
    'sign a request: t is 1700000000.5; it must be a unix time in whole seconds',
    ({ signedRequest }) => signedRequest('http://store.test', {}, 's', 1_700_000_000.5),
  ],
  [
    'consume a feed: visibilityTimeout is 60000; it must be a whole number of seconds from 1 to 43200',
    ({ consumeFeed }) => consumeFeed({ ...feed, visibilityTimeout: 60_000 }),
  ],
  ['verify the signature: options is undefined', ({ verifySignature }) => verifySignature()],
  ['explain the signature: options is null', ({ explainSignature }) => explainSignature(null)],
  [
    'verify the signature: body is an object; it must be the raw bytes',
    ({ verifySignature }) => verifySignature({ headers, body: {}, secrets: 's' }),
  ],
  [
    'explain the signature: secret is empty',
    ({ explainSignature }) => explainSignature({ headers, body: '', secret: '' }),
  ],
  ['sign a body: secrets is undefined', ({ sign }) => sign('{}')],
  ['read a feed message: json is an object', ({ readMessage }) => readMessage({})],
  ['compare versions: seen is null', ({ nextSeen }) => nextSeen(null, { version: 1, delivery: 'd' })],
  ['compare versions: version is a string', ({ nextSeen }) => nextSeen(undefined, { version: '1' })],
  ['handle a message: handle is undefined', ({ onceInMemory }) => onceInMemory()({ data: {} })],
  ['create a message: external_id is undefined', ({ orderUpdated }) => orderUpdated({})],
  [
    'create a message: there is no field "receipt"; the fields are external_id, source, status',
    ({ orderUpdated }) => orderUpdated({ external_id: '1', receipt: 1 }),
  ],
  [
    'create a message: there is no field "kind"; the fields are source, external_id, request, id, error',
    ({ requestChanged }) => requestChanged('held', { external_id: '1', kind: 'payment' }),
  ],
  ['create a message: state is "refused"', ({ requestChanged }) => requestChanged('refused', {})],
  ['sign a request: message is undefined', ({ signedRequest }) => signedRequest('http://store.test')],
])('names an invalid argument: "Cannot %s"', async (message, call) => {
  const made = async () => call(store)
  await expect(made()).rejects.toThrow(TypeError)
  await expect(made()).rejects.toThrow(`Cannot ${message}`)
  expect(requests).toEqual([])
})
