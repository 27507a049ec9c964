import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { accountingClient } from '@order-relay/lib/accounting/client.ts'
import { readOrderEvent } from '@order-relay/lib/orders/events.ts'
import { REQUEST_KINDS } from '@order-relay/lib/orders/order.ts'
import { invalid } from '@order-relay/lib/protocol/errors.ts'
import { parseJson } from '@order-relay/lib/protocol/json.ts'
import { orderRequest } from '@order-relay/lib/protocol/requests.ts'
import { readWebhook } from '@order-relay/lib/webhook/receive.ts'
import { causeOf } from '@order-relay/lib/worker/failing.ts'
import { ROOT } from '@order-relay/test-support/project.ts'
import * as v from 'valibot'

/** A module of the pages: named by a variable, since importing its types would make the DOM's types global. */
const ofPages = (name: string) => import(name)

/** The translation of the console's pages for a Persian reader, whose language is read when the module is loaded. */
const persian = async (): Promise<(message: string) => string> => {
  const own = Object.getOwnPropertyDescriptor(navigator, 'language')
  Object.defineProperty(navigator, 'language', { value: 'fa-IR', configurable: true })
  try {
    await ofPages('../../console/pages/persian.ts')
    return (await ofPages('@order-relay/web/messages.ts')).translateMessage
  } finally {
    if (own === undefined) Reflect.deleteProperty(navigator, 'language')
    else Object.defineProperty(navigator, 'language', own)
  }
}

const translate = await persian()

/** Values, which stay as they are: one word, or a text of the sender in quotes. */
const VALUES = /\u2068(?:"[^"]*"?…?|[^\s\u2069]+)\u2069/g
const NAMES = /\b(?:[A-Z][A-Z0-9_-]+|stores\.yml)\b/g

/** What a Persian sentence must not contain: Latin words, digits and commas. */
const foreignIn = (text: string) =>
  text
    .replace(VALUES, '')
    .replace(NAMES, '')
    .match(/[a-z\d]+|, /gi) ?? []

const untranslated = (causes: Iterable<string>) =>
  [...new Set(causes)].filter(cause => foreignIn(translate(cause)).length > 0)

const uuid = '00000000-0000-4000-8000-000000000000'

const WRONG = [undefined, null, '', 5, 'x'.repeat(200), '\ud800', {}, [], [1]]

/** The body with each of these values in each of its fields. */
const withEach = (body: object) =>
  Object.keys(body).flatMap(name => WRONG.map(value => ({ ...body, [name]: value })))

test('the total of an order is in rials only if it is a number', async () => {
  const { totalText } = await ofPages('../../console/pages/total.ts')
  expect(totalText('1200000')).toMatch(/۱٬۲۰۰٬۰۰۰.* ریال/)
  for (const total of ['12x', '', true]) expect(totalText(total)).not.toContain('ریال')
  expect(totalText('12x')).toContain('12x')
})

test('a list of orders marks a total that is not a number of rials', async () => {
  const { totalInRials } = await ofPages('../../console/pages/total.ts')
  expect(totalInRials('1200000')).toBe('۱٬۲۰۰٬۰۰۰')
  for (const total of ['12x', '9'.repeat(25)]) expect(totalInRials(total)).toMatch(/^جمع/)
  expect(totalInRials('12x')).toContain('12x')
})

test('why a message is in quarantine is translated', () => {
  const data = { source: 'api', external_id: '1', status: 'paid' }
  const webhook = { event: 'order.updated', delivery: uuid, data }
  const request = { event: 'order.create', delivery: uuid, data: { ...data, body: '', accepted_at: 1 } }
  const bodies = [
    ...WRONG,
    ...[webhook, request].flatMap(each => [
      ...withEach(each),
      ...withEach(each.data).map(data => ({ ...each, data })),
    ]),
    { ...webhook, data: { ...data, more: 'x'.repeat(70_000) } },
    { ...request, event: 'order.withdraw' },
    { ...request, event: 'order.unheard' },
  ].map(body => JSON.stringify(body) ?? '')
  const reasons = [
    'x',
    '['.repeat(70) + ']'.repeat(70),
    `[${'1'.repeat(1100)}]`,
    Buffer.from([255]),
    ...bodies,
  ]
    .flatMap(body => [readWebhook(body), readOrderEvent(body)])
    .flatMap(reading =>
      'unreadable' in reading ? reading.unreadable : 'reason' in reading ? reading.reason : [],
    )
  expect(reasons.length).toBeGreaterThan(100)
  expect(untranslated(reasons)).toEqual([])
})

/** The texts with which the modules of the relay fail, with a word for each value. */
const failuresIn = (pattern: string, failure: RegExp) =>
  globSync(pattern, { cwd: ROOT }).flatMap(file => {
    const code = readFileSync(join(ROOT, file), 'utf8').replace(/'\s*\+\s*'/g, '')
    return [...code.matchAll(failure)].map(([, text = '']) => text.replace(/\$\{[^}]*\}/g, '7'))
  })

test('why an event, a call or a message to a store fails is translated', () => {
  const accounting = failuresIn(
    'lib/{accounting,worker}/*.ts',
    /(?:new AccountingError\(\s*'\w+',|message =|answered =)\s*['`](.+?)['`]/g,
  )
  expect(accounting).toContain('Not called, because the accounting service was unavailable')
  const orders = failuresIn('lib/orders/{repository,handle-event}.ts', /new Error\(['`](.+?)['`]\)/g)
  const feeds = failuresIn('lib/feeds/deliver.ts', /new FeedError\(['`](.+?)['`]/g)
  const http = failuresIn('lib/platform/{http-client,addresses}.ts', /new Error\(['`](.+?)['`]\)/g)
  const contradictions = failuresIn('lib/webhook/receive.ts', /contradict\('[\w ]+', ['`](.+?)['`]\)/g)
  expect([orders, feeds, http, contradictions].map(({ length }) => length)).toEqual([2, 2, 3, 2])
  const all = [...accounting, ...orders, ...feeds, ...http, ...contradictions]
  expect(untranslated([...all, ...all.map(causeOf)])).toEqual([])
})

test('why a request is refused is translated', () => {
  const item = { sku: 'A', quantity: 1, unit_price: 1, discount: 1, name: 'n' }
  const payment = { method: 'card', reference: 'r', date: '2026-01-01' }
  const customer = { mobile: '1', name: 'n', email: 'e' }
  const order = { source: 'api', external_id: '1', date: '2026-01-01', customer, items: [item], payment }
  const bodies = [
    ...WRONG,
    ...withEach({ ...order, shipping: 1, discount: 1 }),
    ...withEach(item).map(each => ({ ...order, items: [each] })),
    ...withEach(payment).map(each => ({ ...order, payment: each })),
    ...withEach(customer).map(each => ({ ...order, customer: each })),
    ...['2026-1-1', '2026-02-30'].map(date => ({ ...order, date })),
    ...[0, -1, 1e300].map(quantity => ({ ...order, items: [{ ...item, quantity }] })),
  ]
  const reasons = [
    ...bodies,
    parseJson(`{"external_id":"1","items":[],"shipping":${'1'.repeat(50)}}`),
  ].flatMap(body => {
    const { issues } = v.safeParse(orderRequest, body)
    return issues === undefined ? [] : issues.map(issue => invalid([issue]).error.message)
  })
  expect(reasons.length).toBeGreaterThan(100)
  expect(untranslated(reasons)).toEqual([])
})

test('the kinds and states of requests in an audit are translated', () => {
  const kinds = [...REQUEST_KINDS, 'withdrawal']
  expect(untranslated([...kinds, 'superseded', 'erased'])).toEqual([])
})

test('the errors of connections are translated, for the service and for stores', async () => {
  const server = createServer(socket => socket.resetAndDestroy())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const failing = async (baseUrl: string) => {
    const { read } = accountingClient({ baseUrl, apiKey: async () => 'key', timeout: 2000 })
    return read({ source: 'api', external_id: '1' }).then(
      () => '',
      (error: Error) => error.message,
    )
  }
  const found = [await failing(`http://127.0.0.1:${port}`), await failing(`https://127.0.0.1:${port}`)]
  await new Promise(resolve => server.close(resolve))
  found.push(await failing(`http://127.0.0.1:${port}`))
  expect(found[0]).toContain('ECONNRESET')
  expect(found[2]).toContain('ECONNREFUSED')
  const other = [
    ...['getaddrinfo ENOTFOUND shop.example', 'getaddrinfo EAI_AGAIN shop.example', 'socket hang up'],
    ...['connect ETIMEDOUT 10.0.0.1:443', 'connect EHOSTUNREACH 10.0.0.1:443', 'connect ENETUNREACH ::1:443'],
    ...['write EPIPE', 'read ETIMEDOUT', 'aborted', 'other side closed', 'self-signed certificate'],
    ...['certificate has expired', 'unable to verify the first certificate'],
    ...[
      "Hostname/IP does not match certificate's altnames: Host: a.example. is not in the cert's altnames: DNS:b",
    ],
  ]
  const reaching = other.flatMap(reason => [
    `Cannot reach the accounting service: ${reason}`,
    `Cannot reach the store: ${reason}`,
  ])
  const all = [...found, ...reaching]
  // Nothing is lost of what the relay says itself.
  for (const cause of all)
    expect(translate(cause)).toMatch(/^(?:سرویس حسابداری در دسترس نیست|دسترسی به فروشگاه ممکن نشد): /)
  expect(untranslated([...all, ...all.map(causeOf)])).toEqual([])
})

test('the values of an order that differs from the service are translated', () => {
  const found =
    'order differs in total: 1,500,000 here and 7 at the service; invoice_number: nothing here and 27 at the service'
  expect(untranslated([found])).toEqual([])
  expect(translate(found).replaceAll(/[\u2068\u2069]/g, '')).toBe(
    'سفارش مغایرت دارد: جمع اینجا ۱٬۵۰۰٬۰۰۰ و در سرویس ۷ است؛ شمارهٔ فاکتور اینجا خالی و در سرویس ۲۷ است',
  )
})

test('a remedy behind a value is translated', () => {
  const found =
    'Cannot find the store "x": stores.yml has "api", "demo-shop"; check the name, or add it there and deploy'
  expect(untranslated([found])).toEqual([])
  expect(translate(found)).toMatch(/"api"\u2069، \u2068"demo-shop"\u2069؛ /)
})

test('the full stop after the last number of a message is not part of the number', () => {
  expect(translate('Failing events released: 12. No longer waiting: 0.')).toMatch(/: ۱۲\. .*: ۰\.$/)
})

test('a time in a sentence is localized, and one in a command is not', () => {
  const time = '2026-11-26T12:10:59.000Z'
  const command = `relay stores resend shop --since ${time} --after 10 --local`
  expect(translate(`refused at ${time}; continue with ${command}`)).toMatch(
    new RegExp(`^refused at (?!${time}).+; continue with ${command}$`),
  )
})
