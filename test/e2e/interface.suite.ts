import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { startSandbox } from 'order-relay-sandbox'
import { fetchJson } from '../support/fetch-json.ts'
import { local } from '../support/relay.ts'
import { accountantOf, compared, item, orderApi, relayApi, storeOf } from '../support/steps.ts'

type Key = 'none' | 'wrong' | 'read' | 'write'
type Sender = { source?: string; key?: Key; accepted?: 'held' | 'waiting' }

/** Each value of each field, with its name for a test. */
const variants = (fields: Readonly<Record<string, readonly unknown[]>>) =>
  Object.entries(fields).flatMap(([name, values]) =>
    values.map(value => [inspect({ [name]: value }), { [name]: value }] as const),
  )

const source = 'demo-shop'
const inQuery = `?source=${source}`

/** What a store relies on, according to the spec and to the choices of the sandbox: the response to every step. */
export const interfaceTests = () => {
  let direct: Awaited<ReturnType<typeof startSandbox>>
  let id: string
  let store: ReturnType<typeof storeWith>
  let accountant: ReturnType<typeof accountantOf>

  const storeWith = ({ source = 'api', key = 'write', accepted }: Sender) => {
    const wrong = { none: undefined, wrong: 'wrong' }
    const serviceKeys = { ...wrong, read: 'sandbox-read-key', write: 'sandbox-key' }
    const relayKeys = { ...wrong, read: `local-${source}-read`, write: `local-${source}` }
    return storeOf(id, compared(orderApi(direct.url, serviceKeys[key]), relayApi(relayKeys[key]), accepted))
  }

  beforeAll(async () => {
    direct = await startSandbox({ port: 0 })
  })
  afterAll(() => direct.close())
  beforeEach(async () => {
    id = randomUUID().slice(0, 8)
    store = storeWith({})
    accountant = accountantOf(id, 'api', async (method, path, body) => {
      const { status } = await fetchJson(direct.url + path, { method, body })
      expect([path, (await local.sandbox(method, path, body)).status]).toEqual([path, status])
    })
    await accountant.set({
      automaticFinalization: true,
      defaultCustomer: 'walk-in',
      orderPaymentReceivingAccount: 'bank-1',
    })
  })
  // After each test, the relay must have the same order as the service.
  afterEach(() => store.read())

  test('a create that is repeated with another body', async () => {
    await store.create()
    await store.create({ items: [] })
  })

  test('requests for an unknown order', async () => {
    await store.read()
    await store.pay()
    await store.refund()
  })

  test('a refused create that is corrected', async () => {
    await store.create({ items: [item({ sku: 'none' })] })
    await store.read()
    await store.create()
  })

  test('a refused create that is repeated once its product exists', async () => {
    const items = [item({ sku: `NEW-${id}` })]
    await store.create({ items })
    await accountant.addProduct(`NEW-${id}`, { name: 'New', stock: 5 })
    await store.create({ items })
  })

  test('orders without a customer while there is no default customer', async () => {
    await accountant.set({ defaultCustomer: null })
    await store.create()
    await store.read()
    await store.create({ customer: { mobile: '09123456789', name: 'سارا' } })
  })

  const MOBILES = ['09123456789', '9123456789', '+989123456789', '۰۹۱۲۳۴۵۶۷۸۹', '', '00989123456789', '0912']
  test.each(MOBILES)('the mobile number "%s"', mobile => store.create({ customer: { mobile } }))

  test('an order in review, whose payment is held and registered after finalization', async () => {
    await accountant.set({ automaticFinalization: false })
    await store.create({ payment: { method: 'online' } })
    await store.create()
    await store.read()
    await accountant.set({ automaticFinalization: true })
    await accountant.retry()
  })

  test('payments of an order in review, and a refund after its finalization', async () => {
    await accountant.set({ automaticFinalization: false })
    await store.create()
    await storeWith({ accepted: 'held' }).pay()
    await storeWith({ accepted: 'held' }).pay({ method: 'cash' })
    await store.read()
    await accountant.set({ automaticFinalization: true })
    await accountant.retry()
    await store.read()
    await store.refund()
  })

  test('a refund of an order in review', async () => {
    await accountant.set({ automaticFinalization: false })
    await store.create()
    await storeWith({ accepted: 'waiting' }).refund()
  })

  test('a repeated payment', async () => {
    await store.create()
    await store.pay()
    await store.pay({ payment: { method: 'cash', date: '2026-11-20' } })
  })

  test('a repeated refund, and a payment after it', async () => {
    await store.create()
    await store.pay()
    await store.refund({ reason: 'x' })
    await store.refund()
    await store.pay()
  })

  test('a refund of an order that is not paid, without a body', async () => {
    await store.create()
    await store.refund('')
    await store.refund()
  })

  test('a payment without a receiving account', async () => {
    await store.create()
    await accountant.set({ orderPaymentReceivingAccount: null })
    await store.pay()
    await store.read()
    await accountant.set({ orderPaymentReceivingAccount: 'bank-1' })
    await store.pay()
  })

  test('invalid payments and refunds', async () => {
    await store.create()
    await store.pay({})
    await store.pay({ method: 'crypto' })
    await store.pay({ payment: { method: 'card', date: 'today' } })
    await store.pay({ method: 'card', reference: 12 })
    await store.pay([])
    await store.refund({ reason: 1 })
  })

  test('a source in the body', async () => {
    await storeWith({ source }).create({ source })
    await storeWith({ source }).read(inQuery)
  })

  test('a source in the query', () => storeWith({ source }).create({}, inQuery))

  test('the source of a payment and of a refund', async () => {
    await storeWith({ source }).create({ source })
    await store.pay()
    await storeWith({ source }).pay({ method: 'card', source })
    await storeWith({ source }).refund({}, inQuery)
  })

  test('two sources', async () => {
    await storeWith({ source }).create({ source: 'api' }, inQuery)
    await storeWith({ source }).pay({ method: 'card', source: 'api' }, inQuery)
  })

  test('an empty source', async () => {
    await store.create({ source: '' })
    await store.pay({ method: 'card', source: '' })
  })

  test('an amount with more digits than a double holds', async () => {
    const order = JSON.stringify({ external_id: id, items: [item()], shipping: 'BIG' })
    await store.request('POST', '', order.replace('"BIG"', '9007199254740993'))
  })

  test.each([
    ['an order that was paid already', { payment: { method: 'card', reference: '' } }],
    ['an item out of stock', { items: [item({ sku: 'SKU-3' })] }],
    ['a source of null, and other fields', { source: null, date: null, customer: null, payment: null }],
    ['fractional amounts', { items: [item({ quantity: 0.125, unit_price: 0.5 })], shipping: 10.5 }],
    ['discounts and shipping', { items: [item({ discount: 1000 })], discount: 333, shipping: 7 }],
    ['a discount above the items', { discount: 9_000_000 }],
    ['a date outside the fiscal years', { date: '1990-01-01' }],
    ['an order with a date', { date: '2026-11-20' }],
  ])('%s', (_name, changes) => store.create(changes))

  const ORDERS = variants({
    external_id: [undefined, '', 5, 'x'.repeat(101)],
    source: [7],
    items: [undefined, [], {}, [null]],
    date: ['2026-02-30', '۲۰۲۶-۱۱-۲۱'],
    customer: ['Sara', { mobile: 9123456789 }],
    shipping: ['1', -1],
    discount: [[1]],
    payment: [true, {}, { method: 'crypto' }],
  })
  test.each(ORDERS)('an order with %s', (_name, changes) => store.create(changes))

  const ITEMS = variants({
    sku: [undefined, 1, ''],
    quantity: [0, -1, '2'],
    unit_price: [undefined, -5],
    discount: [-5],
    name: [1],
  })
  test.each(ITEMS)('an item with %s', (_name, changes) => store.create({ items: [item(changes)] }))

  const BODIES = ['', '{', '[]', '"order"', 'null', '{/**/}']
  test.each(BODIES)('the body %j', body => store.request('POST', '', body))

  test.each(['a/b ID', 'شماره ID', '100%ID', '#ID', 'x'.repeat(90)])('the number "%s"', async number => {
    const external_id = number.replace('ID', id)
    const path = encodeURIComponent(external_id)
    await store.create({ external_id })
    await store.request('GET', `${path}/`)
    await store.request('GET', path)
    await store.request('POST', `${path}/payment`, { method: 'pos' })
    await store.request('POST', `${path}/refund/`, {})
  })

  test('missing, wrong and read-only keys', async () => {
    await storeWith({ key: 'none' }).create()
    await storeWith({ key: 'wrong' }).create()
    await storeWith({ key: 'read' }).create()
    await storeWith({ key: 'none' }).read()
    await storeWith({ key: 'read' }).read()
    await store.create()
    await storeWith({ key: 'read' }).read()
    await storeWith({ key: 'read' }).pay()
    await storeWith({ key: 'read' }).refund()
  })

  test('unknown paths and methods', async () => {
    await store.request('GET', '')
    await store.request('PATCH', `${id}/`)
    await store.request('PUT', `${id}/payment/`)
    await store.request('GET', '../x')
  })
}
