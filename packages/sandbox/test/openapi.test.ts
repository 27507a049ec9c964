import { expect, test } from '@jest/globals'
import { curlCommands } from '@order-relay/test-support/documents.ts'
import { Validator } from '@seriousme/openapi-schema-validator'
import { openApi, operations } from '../src/openapi/document.ts'
import { call, expectFit, type Json, order, row, startReceiver, useSandbox } from './world.ts'

const sandbox = useSandbox()

test('the commands of BEHAVIOR.md and of the panel API work in order', async () => {
  const answers: Json[] = []
  const commands = ['BEHAVIOR', 'PANEL'].flatMap(page =>
    curlCommands(`packages/sandbox/${page}.md`, 'http://127.0.0.1:4000'),
  )
  for (const { path, ...options } of commands) {
    const { status, body } = await call(sandbox().url + path, options)
    expect(status).toBeLessThan(300)
    answers.push(body)
  }
  expect(answers).toMatchObject([
    ...[{ status: 'needs_review' }, { sku: 'SKU-3', stock: 5 }, { status: 'paid' }],
    ...[{ kind: 'error' }, { faults: [] }],
  ])
})

test('serves a valid OpenAPI 3.1 document', async () => {
  const { body } = await call(`${sandbox().url}/openapi.json`, { key: null })
  expect(body).toEqual(JSON.parse(JSON.stringify(openApi())))
  expect(await new Validator().validate(structuredClone(body))).toEqual({ valid: true })
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

test('every example, run in sequence, returns the documented response', async () => {
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
    if (answers[reply.status]?.schema === undefined) expect(reply.body).toBeNull()
    for (const [name] of new URLSearchParams(example.query)) expect(Object.keys(query ?? {})).toContain(name)
  }
})

test('a webhook and an order with all its documents match their schemas', async () => {
  const { create, refund, register, act, panel, post } = sandbox()
  const receiver = await startReceiver()
  await register(receiver.url)
  const rows = { items: [row('SKU-1', 0.5, 3)], shipping: 5, discount: 1 }
  await create(order('states', { ...rows, customer: { mobile: '9121112233' } }))
  await act('states', 'pay', { method: 'card' })
  await receiver.until(1)
  expectFit('Webhook', JSON.parse(String(receiver.received[0]?.body)))
  await refund('states', { reason: 'x' })
  expect((await panel('orders/states')).body).toMatchObject({
    receipts: [{ method: 'card' }],
    returns: [{ reason: 'x' }],
  })
  expect((await post('webhooks/test', { url: receiver.url })).body).toMatchObject({ status: 200 })
  await receiver.close()
})
