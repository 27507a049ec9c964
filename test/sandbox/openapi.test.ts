import { expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import * as v from 'valibot'
import { clockIn } from '../../sandbox/clock.ts'
import { startSender } from '../../sandbox/delivery/sender.ts'
import { createFaults } from '../../sandbox/faults.ts'
import { createApp } from '../../sandbox/http/server.ts'
import { openApi, operations } from '../../sandbox/openapi/document.ts'
import { SCHEMAS } from '../../sandbox/openapi/schemas.ts'
import { openStore } from '../../sandbox/store/open.ts'
import { curlCommands } from '../support/documents.ts'
import { call, type Json, order, startReceiver, useSandbox } from './world.ts'

const sandbox = useSandbox()

/** Fails with the path of each field that does not match. */
const expectFit = (schema: keyof typeof SCHEMAS, body: unknown) => {
  const { issues = [] } = v.safeParse(SCHEMAS[schema], body)
  expect(issues.map(issue => `${v.getDotPath(issue)}: ${issue.message}`)).toEqual([])
}

test('the commands of the README work in order', async () => {
  const answers: Json[] = []
  for (const { path, ...options } of curlCommands('sandbox/README.md', 'http://127.0.0.1:4000')) {
    const { status, body } = await call(sandbox().url + path, options)
    expect(status).toBeLessThan(300)
    answers.push(body)
  }
  expect(answers).toMatchObject([
    ...[{ status: 'needs_review' }, { sku: 'SKU-3', stock: 5 }, { status: 'paid' }],
    ...[{ kind: 'error' }, { faults: [] }],
  ])
})

test('the sandbox serves a valid OpenAPI 3.1 document', async () => {
  const { body } = await call(`${sandbox().url}/openapi.json`, { key: null })
  expect(body).toEqual(JSON.parse(JSON.stringify(openApi())))
  expect(await new Validator().validate(structuredClone(body))).toEqual({ valid: true })
})

test('the document has every endpoint and no other', async () => {
  const clock = clockIn('UTC')
  const store = openStore(undefined, clock)
  const sender = startSender(store, 1)
  const { routes } = createApp({
    ...{ store, sender, faults: createFaults(store.changes), stopping: new AbortController().signal },
  })
  const served = routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)\{[^}]*\}/g, '{$1}')}`)
  const documented = operations.map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replace(/\/$/, '')}`,
  )
  const pages = ['GET /', 'GET /panel/static/{path}', 'GET /openapi.json', 'GET /docs', 'GET /docs/{path}']
  expect(served.toSorted()).toEqual([...documented, ...pages].toSorted())
  await sender.stop()
  store.close()
})

test.each(operations)('$id requires the documented access: $access', async ({ method, path, access }) => {
  const send = async (key: string | null, headers: Record<string, string> = {}) =>
    (await call(sandbox().url + path, { method: method.toUpperCase(), key, headers })).status
  const [keyless, readOnly] = access === 'local' ? [] : [await send(null), await send('sandbox-read-key')]
  expect([keyless, readOnly]).toEqual(
    { read: [401, 404], write: [401, 403], local: [undefined, undefined] }[access],
  )
  expect(await send('sandbox-key', { origin: 'https://evil.example' })).toBe(403)
})

test('every example works, in order, with the documented response', async () => {
  for (const { method, path, access, query, answers, example, id } of operations) {
    if (example === undefined) continue
    const at = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(example.path?.[name] ?? ''))
    const reply = await call(`${sandbox().url}${at}${example.query ? `?${example.query}` : ''}`, {
      method: method.toUpperCase(),
      key: access === 'local' ? null : 'sandbox-key',
      ...(example.body !== undefined && { body: example.body }),
    })
    const actual = { id, status: reply.status, documented: answers[reply.status] !== undefined }
    expect(actual).toEqual({ id, status: reply.status, documented: true })
    const schema = answers[reply.status]?.schema
    if (schema === undefined) expect(reply.body).toBeNull()
    else expectFit(schema, reply.body)
    for (const [name] of new URLSearchParams(example.query)) expect(Object.keys(query ?? {})).toContain(name)
  }
})

test('responses match their schemas in every state of an order', async () => {
  const { create, pay, refund, product, retry, panel, register } = sandbox()
  const receiver = await startReceiver()
  await register(receiver.url)
  await product('SKU-3', { stock: 0 })
  const items = [{ sku: 'SKU-3', quantity: 0.5, unit_price: 3 }]
  const customer = { mobile: '9121112233' }
  expectFit(
    'CreateResult',
    (await create(order('states', { customer, items, shipping: 5, discount: 1 }))).body,
  )
  const detail = async () => expectFit('OrderDetail', (await panel('orders/states')).body)
  await detail()
  expectFit('Error', (await pay('states')).body)
  await detail()
  await product('SKU-3', { stock: 1 })
  expectFit('OrderDetail', (await retry('states')).body)
  await receiver.until(1)
  expectFit('Webhook', JSON.parse(String(receiver.received[0]?.body)))
  expectFit('OrderResult', (await refund('states', { reason: 'x' })).body)
  await detail()
  const test = await panel('webhooks/test', { method: 'POST', body: { url: receiver.url } })
  expectFit('WebhookTest', test.body)
  const LISTS = {
    orders: 'OrderList',
    deliveries: 'DeliveryList',
    webhooks: 'WebhookList',
    customers: 'CustomerList',
  }
  for (const [path, schema] of Object.entries(LISTS) as [string, keyof typeof SCHEMAS][])
    expectFit(schema, (await panel(path)).body)
  await receiver.close()
})
