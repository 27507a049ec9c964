import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { type AccessOfKey, bearerKey, storedKey, storeKeyParameter, storeKeys } from '../../lib/api/keys.ts'
import { readPreferences } from '../../lib/api/prefer.ts'
import { readRequest, route } from '../../lib/api/request.ts'
import type { RequestKind } from '../../lib/orders/order.ts'
import { indexTexts, type Parameters } from '../../lib/platform/parameters.ts'
import { parametersForTests } from '../support/parameters.ts'

describe('the path', () => {
  const IDS = '1001 a+b a/b /a a//b 50% %41 %2F #7 😀 x/payment refund .. .'.split(' ')

  test.each([...IDS, 'a b', 'سفارش ۱۲', 'a\nb'])('has the id %j, with and without a trailing slash', id => {
    const order = `/api/v1/orders/${id}`
    for (const end of ['', '/']) {
      expect(route('GET', order + end)).toEqual({ action: { to: 'read', external_id: id } })
      for (const to of ['payment', 'refund']) {
        const withdrawal = { to: 'withdraw', of: to, external_id: id }
        expect(route('POST', `${order}/${to}${end}`)).toEqual({ action: { to, external_id: id } })
        expect(route('DELETE', `${order}/${to}${end}`)).toEqual({ action: withdrawal })
      }
    }
  })

  test.each([
    ['GET', '1001//', { to: 'read', external_id: '1001/' }],
    ['HEAD', '1001', { to: 'read', external_id: '1001' }],
    ['POST', '//refund', { to: 'refund', external_id: '/' }],
    ['DELETE', '1001/', { to: 'withdraw', of: 'create', external_id: '1001' }],
    ['POST', '', { to: 'create' }],
  ])('%s %s is understood', (method, path, action) => {
    expect(route(method, `/api/v1/orders/${path}`)).toEqual({ action })
  })

  const allow = (methods: string) => ({ headers: { allow: methods } })
  test.each<[string, string, number, object?]>([
    ['GET', '/api/v1/orders', 405, allow('POST')],
    ['DELETE', '/api/v1/orders/', 405, allow('POST')],
    // API Gateway cuts a path at a question mark in an id; nothing is then registered for another order.
    ['POST', '/api/v1/orders/1001/', 405, allow('GET, HEAD, DELETE')],
    ['PUT', '/api/v1/orders/1001/payment/', 405, allow('GET, HEAD, POST, DELETE')],
    ['PUT', '/webhook/', 405, allow('POST')],
    ['GET', '/api/v1/webhook', 405, allow('PUT, DELETE')],
    ...['/', '/api/v1/', '/api/v1/ordersx', '/webhooks'].map(
      path => ['POST', path, 404] satisfies [string, string, number],
    ),
  ])('%s %s is refused', (method, path, status, refused = {}) => {
    expect(route(method, path)).toMatchObject({ refused: { status, ...refused } })
  })

  test('the refusal of a POST to /pay/ says how the paths of payments and refunds end', () => {
    const message = expect.stringMatching(/only GET, HEAD, DELETE; .* end with \/payment\/, .* \/refund\/$/)
    expect(route('POST', '/api/v1/orders/1001/pay/')).toMatchObject({
      refused: { body: { error: { message } } },
    })
  })
})

describe('a key', () => {
  const PATH = '/order-relay/test'
  const NOW = 1_800_000_000_000
  const stored = (source: string, ...key: [string, options?: object]): Parameters => {
    const { Name, Value } = storeKeyParameter(PATH, source, ...key)
    return { [Name.slice(`${PATH}/store-keys/`.length)]: Value }
  }
  const UNREADABLE = storedKey('shop/0', storeKeyParameter(PATH, 'shop', 'unreadable').Value)
  let accessOf: AccessOfKey
  // test/platform/parameters.test.ts tests how long a key is kept, and how soon a new one is found.
  beforeEach(() => {
    const { cache } = parametersForTests({
      ...stored('shop', 'first'),
      ...stored('shop', 'second'),
      'shop/1': 'no hash',
      'shop/2': '',
      ...stored('فروشگاه', 'key of another'),
      ...stored('removed', 'key of a removed store'),
      ...stored('shop', 'ended', { expires: NOW / 1000, name: 'موقت', kind: 'read-only' }),
      ...stored('shop', 'ending', { expires: NOW / 1000 + 1, kind: 'create-only' }),
      [`shop/${UNREADABLE.id}`]: `${UNREADABLE.hash} until tomorrow`,
    })
    const stores = ['shop', 'فروشگاه'].map(source => ({ source, feed: 'sqs' }) as const)
    accessOf = storeKeys(cache, stores, () => NOW)
  })

  test.each<[string, string | undefined]>([
    ['first', 'shop'],
    ['second', 'shop'],
    ['key of another', 'فروشگاه'],
    ['key of a removed store', undefined],
    [storeKeyParameter(PATH, 'shop', 'first').Value, undefined],
    ...['firs', 'First', '', 'no hash'].map((key): [string, undefined] => [key, undefined]),
  ])('%p is that of %p', async (key, source) => {
    expect((await accessOf(key))?.source).toBe(source)
  })

  test.each([
    ['first', { kind: 'full', only: undefined, expired: false }],
    ['ended', { kind: 'read-only', only: 'read', expired: true }],
    ['ending', { kind: 'create-only', only: 'create', expired: false }],
    ['unreadable', { kind: 'full', expired: true }],
  ])('%p has its kind and its expiry', async (key, expected) => {
    expect(await accessOf(key)).toMatchObject({ source: 'shop', ...expected })
  })

  test('a new key works at most 15 seconds after a request with an unknown key', async () => {
    const { state, cache } = parametersForTests({})
    const find = storeKeys(cache, [{ source: 'shop', feed: 'sqs' }], () => NOW)
    expect(await find('wrong')).toBeUndefined()
    state.stored = stored('shop', 'new')
    for (state.now of [0, 14_999]) expect(await find('new')).toBeUndefined()
    // One read at the start, one after the unknown key.
    expect(state.reads).toBe(2)
    state.now = 15_000
    expect(await find('new')).toMatchObject({ source: 'shop' })
    expect(state.reads).toBe(3)
  })

  test('keeps its kind, expiry and name in Parameter Store, and no name in the index', () => {
    const name = 'صندوق تهران'
    const [[parameter = '', text = ''] = []] = Object.entries(
      stored('shop', 'named', { name, expires: 1_900_000_000, kind: 'read-only' }),
    )
    const key = { store: 'shop', kind: 'read-only', expires: 1_900_000_000 }
    expect(storedKey(parameter, text)).toMatchObject({ ...key, name })
    const indexed = indexTexts({ [parameter]: text }).join('')
    expect(indexed).not.toContain(name)
    expect(storedKey(parameter, JSON.parse(indexed.replaceAll('{}', ''))[parameter])).toMatchObject({
      ...key,
      name: undefined,
    })
  })

  test('is stored as its hash, named by the first characters of the hash', () => {
    const { Name, Type, Value } = storeKeyParameter(PATH, 'shop', 'first')
    expect([Type, Value]).toEqual(['SecureString', expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(Name).toBe(`/order-relay/test/store-keys/shop/${Value.slice(0, 12)}`)
  })

  test.each([
    ['Bearer abc', 'abc'],
    ['bearer  abc ', 'abc'],
    ...['Bearer', 'Bearer a b', 'Basic abc', 'x Bearer abc', undefined].map(header => [header, undefined]),
  ])('in the Authorization header %j is %j', (header, key) => {
    expect(bearerKey(header)).toBe(key)
  })
})

test.each<[string | undefined, object]>([
  [undefined, {}],
  ['WAIT = "7"', { wait: 7 }],
  ['Respond-Async, wait=10', { respondAsync: true, wait: 10 }],
  ['respond-async; x=1; y="a,b;c", wait=3; z', { respondAsync: true, wait: 3 }],
  ['x="a, wait=1", wait=2, wait=9', { wait: 2 }],
  ['respond-async=, handling=lenient;;', { respondAsync: true }],
  ['handling=strict, wait=0', { wait: 0, strict: true }],
  ['wait, wait=5', {}],
  ['wait=-1', {}],
  ['wait=1.5', {}],
  ['wait="', {}],
  ['"wait=1", , =2', {}],
])('the preferences of %s', (header, expected) => {
  expect(readPreferences(header)).toEqual({ strict: false, respondAsync: false, ...expected })
})

describe('the body', () => {
  const item = { sku: 'A', quantity: 1, unit_price: 1 }
  const order = (changes: object = {}) => ({ external_id: '1', items: [item], ...changes })

  /** A request of the store "api". */
  const read = (to: RequestKind, body: object | string, options: object = {}) => {
    const action = to === 'create' ? { to } : { to, external_id: '1' }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return readRequest({ action, query: [], body: text, ...options }, 'api', () => '2026-01-01')
  }
  const refusal = (status: number, message: string | RegExp) => ({
    refused: { status, body: { error: { message: expect.stringMatching(message) } } },
  })

  const NONE = 'is unknown and has no effect'
  test.each<[to: RequestKind, body: object | string, ...messages: string[]]>([
    ['create', order({ payment: { method: 'card', reference: '', date: null }, customer: { email: 'a@b' } })],
    ['create', order({ discont: 5 }), `Field "discont" ${NONE}: did you mean "discount"?`],
    [
      'create',
      order({ items: [item, { ...item, DISCOUNT: 1, zzz: 2 }], customer: { phone: '0912' } }),
      `Field "customer.phone" ${NONE}`,
      `Field "items[1].DISCOUNT" ${NONE}: did you mean "discount"?`,
      `Field "items[1].zzz" ${NONE}`,
    ],
    [
      'create',
      `${JSON.stringify(order()).slice(0, -1)},"shipping":1,"sh\\u0069pping":2}`,
      'Field "shipping" occurs twice in one object; the last value counts',
    ],
    ['payment', { method: 'card' }],
    ['payment', { metod: 'card' }, `Field "metod" ${NONE}: did you mean "method"?`],
    ['payment', { payment: { ref: '1' }, note: 1 }, `Field "note" ${NONE}`, `Field "payment.ref" ${NONE}`],
    ['refund', { reson: 'x' }, `Field "reson" ${NONE}: did you mean "reason"?`],
    ['refund', { constructor: 'x' }, `Field "constructor" ${NONE}`],
  ])('of a %s: warns about fields without effect in %j', (to, body, ...messages) => {
    const reading = read(to, body)
    const warnings = 'warnings' in reading ? reading.warnings.map(({ message }) => message) : []
    expect(warnings.toSorted()).toEqual(messages)
    const strictly = messages.length === 0 ? reading : { refused: { status: 400 } }
    expect(read(to, body, { strict: true })).toMatchObject(strictly)
  })

  test('has at most ten warnings', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field ${index}`, 1]))
    const text = JSON.stringify(order(many))
    for (const body of [text, `${text.slice(0, -1)},${text.slice(1)}`]) {
      expect(read('create', body)).toHaveProperty('warnings.length', 10)
    }
  })

  test('of an invalid create has none, since it only counts if the order is not registered', () => {
    const invalid = { warnings: [], invalid: { status: 400 } }
    expect(read('create', order({ items: [], zzz: 1 }), { strict: true })).toMatchObject(invalid)
  })

  test('that is not JSON is refused with the position of the error', () => {
    const place = 'The body is not JSON: see line 1, column 21'
    expect(read('create', '{"external_id": "1",}')).toMatchObject(refusal(400, place))
  })

  test.each([
    [{ 'content-type': 'application/json; charset=utf-8' }, true],
    [{ 'content-type': 'application/vnd.shop+json', 'content-encoding': 'identity' }, true],
    [{}, true],
    [{ 'content-type': '', 'content-encoding': '' }, true],
    [{ 'content-type': 'text/plain' }, false],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, false],
    [{ 'content-encoding': 'gzip' }, false],
  ])('with the headers %j is accepted: %p', (headers, isTaken) => {
    const expected = isTaken ? { text: '{}' } : { refused: { status: 415 } }
    expect(read('refund', '{}', { headers })).toMatchObject(expected)
    expect(read('refund', '', { headers })).not.toHaveProperty('refused')
  })

  /** Text that cannot be deflated to less than three quarters. */
  const random = (length: number) => randomBytes(length).toString('base64').slice(0, length)
  const ROW = { quantity: 1, unit_price: 1_500_000, name: 'کیبورد مکانیکی بی‌سیم مدل' }
  const GROWS = `${JSON.stringify(order()).slice(0, -1)},"x":[${'1e20,'.repeat(20_000)}1]}`
  const STORED = /takes \d+ bytes.*at most 16384/

  test.each<[string, RequestKind, object | string, RegExp | undefined]>([
    ['random text', 'create', order({ note: random(340_000) }), /takes \d+ bytes.*at most \d+/],
    ['quotes, which grow', 'create', order({ note: '"'.repeat(200_000) }), /more than 500,000/],
    ['whitespace', 'refund', `{}${' '.repeat(500_000)}`, /more than 500,000/],
    ['random text', 'payment', { method: 'cash', reference: random(24_000) }, STORED],
    ['random text', 'refund', { reason: random(24_000) }, STORED],
    [
      'rows',
      'create',
      order({ items: Array.from({ length: 3000 }, (_, sku) => ({ sku: `${sku}`, ...ROW })) }),
      undefined,
    ],
    ['numbers that grow when serialized', 'create', GROWS, undefined],
  ])('with too much %s in a %s is refused if it cannot be stored: %#', (_name, to, body, message) => {
    expect(read(to, body)).toMatchObject(message ? refusal(413, message) : { order: { external_id: '1' } })
  })

  test.each([
    ...['a?b', '?', '.', '..', 'a/../b', './a'].map(id => [id, refusal(400, 'cannot be addressed')] as const),
    ...['1001', 'a..b', '#1'].map(id => [id, { order: { source: 'api', external_id: id } }] as const),
  ])('may have the id %p if a path can carry it', (external_id, expected) => {
    expect(read('create', order({ external_id }))).toMatchObject(expected)
    for (const to of ['read', 'payment', 'refund', 'withdraw'] as const)
      expect(read('refund', {}, { action: { to, external_id } })).toMatchObject(expected)
  })

  test('may name any other order up to 100 characters, the limit of the service', () => {
    const about = (external_id: string) => read('refund', {}, { action: { to: 'refund', external_id } })
    expect(about('x'.repeat(100))).toHaveProperty('order')
    expect(about('x'.repeat(101))).toMatchObject({
      refused: { status: 404, body: { error: { field: 'external_id' } } },
    })
  })
})
