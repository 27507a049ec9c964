import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { keyUseItem, storeKeyParameter } from '../../lib/api/keys.ts'
import { HOUR } from '../../lib/platform/environment.ts'
import { answering, apiForTests, ORDERS } from './api.ts'

const { stack, recorded, world, start, ask } = await apiForTests()
const { secretsPath, deliveriesTable } = stack.settings
const ORDER = { source: 'shop', external_id: '1001', items: [{ sku: 'A', quantity: 1, unit_price: 1 }] }
const HEADERS = { prefer: 'respond-async' }

/** Stores a key of the store "shop"; resolves its id. */
const stored = async (key: string, options: Parameters<typeof storeKeyParameter>[3]) => {
  const parameter = storeKeyParameter(secretsPath, 'shop', key, options)
  await stack.ssm.putParameter(parameter)
  return parameter.Name.split('/').at(-1) ?? ''
}
/** Writes of the use of a key, and the stored hour. */
const written = () => stack.commands().filter(command => command === 'UpdateItem').length
const usedAt = async (id: string) => {
  const { Item } = await stack.dynamodb.send(
    new GetItemCommand({ TableName: deliveriesTable, Key: keyUseItem(id) }),
  )
  return Item?.used_at?.S
}
const read = (key: string) => ask('GET', `${ORDERS}1/?source=shop`, '', { key })

test('a create-only key creates orders', async () => {
  const created = await ask('POST', ORDERS, ORDER, { key: 'create-only', headers: HEADERS })
  expect(created.status).toBe(202)
  const refused = await ask('GET', `${ORDERS}1001/?source=shop`, '', { key: 'create-only' })
  const message = 'The API key is create-only: use one that `relay stores key` created without --create-only'
  expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden', message } } })
})

test('an expired key is answered like an unknown one, and the log names it', async () => {
  const expires = Math.floor(world.now / 1000) + 60
  const id = await stored('expiring', { kind: 'read-only', expires })
  start()
  world.service = () => answering(404, { error: { code: 'not_found', message: 'unknown' } })
  expect((await read('expiring')).status).toBe(404)
  world.now = expires * 1000
  recorded.clear()
  const answer = await read('expiring')
  expect(answer).toEqual(await read('unknown'))
  expect(answer.status).toBe(401)
  const fields = { action: 'read', source: 'shop', key: 'expired', expired_key: id }
  expect(recorded.lines[0]).toEqual({ level: 'warn', message: 'request unauthorized', fields })
})

test('a request without access is logged with the store that it names, if that is known', async () => {
  start()
  recorded.clear()
  await read('unknown')
  await ask('POST', ORDERS, ORDER, { key: 'unknown' })
  await ask('POST', ORDERS, { ...ORDER, source: 'ali@example.com' }, { key: 'unknown' })
  await ask('POST', ORDERS, { ...ORDER, note: 'x'.repeat(20_000) }, { key: '' })
  const fields = { key: 'unknown' }
  expect(recorded.lines.map(line => line.fields)).toEqual([
    { ...fields, action: 'read', claimed_source: 'shop' },
    { ...fields, action: 'create', claimed_source: 'shop' },
    { ...fields, action: 'create' },
    { ...fields, action: 'create', key: 'missing' },
  ])
})

test('a request that its key does not allow is logged with the reason, the key and the known store that it names', async () => {
  start()
  recorded.clear()
  await ask('POST', ORDERS, ORDER, { key: 'read-only' })
  await ask('POST', ORDERS, { ...ORDER, payment: { method: 'cash' } }, { key: 'create-only' })
  await ask('POST', ORDERS, { ...ORDER, source: 'api' }, { key: 'create-only' })
  await ask('GET', `${ORDERS}1/?source=ali@example.com`)
  const logged = { level: 'warn', message: 'request forbidden' }
  const about = { source: 'shop', key_id: expect.stringMatching(/^[0-9a-f]{12}/) }
  const create = { ...about, action: 'create' }
  expect(recorded.lines).toEqual([
    { ...logged, fields: { ...create, key: 'read-only' } },
    { ...logged, fields: { ...create, key: 'create-only' } },
    { ...logged, fields: { ...create, key: 'foreign', claimed_source: 'api' } },
    { ...logged, fields: { ...about, action: 'read', key: 'foreign' } },
  ])
})

test('the hour of the last use is written once an hour in each environment', async () => {
  const id = await stored('used', {})
  start()
  for (const _ of [1, 2]) await read('used')
  expect([written(), await usedAt(id)]).toEqual([1, '2026-03-01T21'])
  world.now += HOUR * 1000
  await read('used')
  expect([written(), await usedAt(id)]).toEqual([2, '2026-03-01T22'])
  // Another environment, whose clock is behind.
  start()
  world.now -= HOUR * 1000
  await read('used')
  expect([written(), await usedAt(id)]).toEqual([3, '2026-03-01T22'])
})

test('a request is answered even if the use of its key cannot be recorded', async () => {
  await stored('unrecorded', {})
  start()
  stack.faults.set('UpdateItem', 'before')
  for (const _ of [1, 2]) {
    const answer = await ask('POST', ORDERS, ORDER, { key: 'unrecorded', headers: HEADERS })
    expect(answer.status).toBe(202)
  }
  const failures = recorded.lines.filter(({ message }) => message === 'key use not recorded')
  expect(failures).toHaveLength(1)
})
