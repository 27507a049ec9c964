import assert from 'node:assert/strict'
import fc from 'fast-check'
import { storeKeyParameter, storeKeys } from '../../lib/api/keys.ts'
import { serve } from '../../lib/api/serve.ts'
import { anyText, bytesOf, jsonText, mostly, text, words } from './hostile.ts'
import { workOn } from './worker.ts'

const KEY = 'key-of-shop'
const hash = storeKeyParameter('', 'shop', KEY).Value

const order = mostly({
  external_id: anyText,
  source: words('shop', 'shop', 'shop', 'other'),
  date: words('2026-01-02', '2026-02-30'),
  customer: mostly({ mobile: words('09123456789', '+989123456789', '۰۹۱۲۳۴۵۶۷۸۹', '1'), name: anyText }),
  items: mostly({ sku: anyText, quantity: jsonText, unit_price: jsonText }).map(item => `[${item}]`),
  payment: mostly({ method: words('card', 'online', 'crypto'), reference: anyText }),
})
const payment = mostly({ source: words('shop'), method: words('card', 'pos'), reference: anyText })

const path = fc.oneof(
  fc.constant(''),
  fc.tuple(text, fc.constantFrom('', '/', '/payment/', '/refund', '/cancel/')).map(parts => parts.join('')),
  text,
)

const request = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', '__proto__'),
  path,
  authorization: fc.oneof(
    { weight: 9, arbitrary: fc.constant(`Bearer ${KEY}`) },
    { weight: 1, arbitrary: text.map(key => `Bearer ${key}`) },
    { weight: 1, arbitrary: text },
  ),
  source: fc.option(fc.oneof(fc.constant('shop'), text), { nil: undefined }),
  body: bytesOf(fc.oneof(order, payment, jsonText)),
})

const STATUSES = new Set([200, 202, 400, 401, 403, 404, 405, 413])

/** Whatever a store sends is accepted or refused with a reason; what is accepted is its own, and the worker can read it. */
export const apiProperty = () =>
  fc.asyncProperty(request, async ({ method, path, authorization, source, body }) => {
    const queued: { source: string; message: string }[] = []
    const { answer } = await serve(
      {
        method,
        location: { rawPath: `/api/v1/orders/${path}`, pathParameters: { proxy: path } },
        headers: { authorization },
        query: source === undefined ? {} : { source },
        body,
      },
      {
        sourceOf: storeKeys(async () => ({ 'shop/1': hash })),
        isOurs: ours => ours === 'shop',
        orders: { get: async () => undefined },
        enqueue: async (order, _id, message) => void queued.push({ source: order.source, message }),
        newId: () => '00000000-0000-4000-8000-000000000001',
      },
    )
    assert.ok(STATUSES.has(answer.status), `answered ${answer.status}`)
    assert.equal(queued.length, answer.status === 202 ? 1 : 0)
    if (answer.status >= 400) assert.match(JSON.stringify(answer.body), /"message":"[^"]/)
    if (authorization !== `Bearer ${KEY}`)
      assert.ok(answer.status === 401 || /^bearer +key-of-shop *$/i.test(authorization))
    for (const { source, message } of queued) {
      assert.equal(source, 'shop')
      assert.deepEqual(await workOn([message]), { quarantined: 0 })
    }
  })
