import { stat } from 'node:fs/promises'
import {
  ParameterAlreadyExists,
  ParameterNotFound,
  paginateGetParametersByPath,
  type SSM,
} from '@aws-sdk/client-ssm'
import { beforeAll, expect, test } from '@jest/globals'
import { storeKeyParameter, storeKeys } from '@order-relay/lib/api/keys.ts'
import { indexedParameters, parameterCache } from '@order-relay/lib/platform/parameters.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import { clientsAt } from '@order-relay/test-support/parts.ts'
import { startParameterStore } from '../parameter-store.ts'
import { freePorts } from '../ports.ts'
import { seed } from '../relay.ts'
import { urlOf } from '../settings.ts'

let path: string
let ssm: SSM
let port: number
let store: Awaited<ReturnType<typeof startParameterStore>>

const start = () => startParameterStore({ port, path })

const folder = useFolder(async () => {
  ssm.destroy()
  await store.close()
})
beforeAll(async () => {
  path = folder('data', 'parameters.json')
  const ports = await freePorts()
  port = ports.ssm
  store = await start()
  ssm = clientsAt(ports, { maxAttempts: 3 }).ssm
})

const put = (Name: string, Value: string, more = {}) =>
  ssm.putParameter({ Name, Value, Type: 'SecureString', ...more })
const get = (Name: string, WithDecryption = true) => ssm.getParameter({ Name, WithDecryption })

test('keeps idle connections for longer than clients reuse them', async () => {
  expect((await fetch(urlOf(port))).headers.get('keep-alive')).toBe('timeout=65')
})

test('creates a parameter once, overwrites it on request, and counts its versions', async () => {
  expect(await put('/relay/key', 'one')).toMatchObject({ Version: 1, Tier: 'Standard' })
  await expect(put('/relay/key', 'two')).rejects.toBeInstanceOf(ParameterAlreadyExists)
  expect(await put('/relay/key', 'سه', { Overwrite: true, Type: undefined })).toMatchObject({ Version: 2 })
  const { Parameter } = await get('/relay/key')
  expect(Parameter).toMatchObject({
    Name: '/relay/key',
    Type: 'SecureString',
    Value: 'سه',
    Version: 2,
    ARN: 'arn:aws:ssm:eu-central-1:000000000000:parameter/relay/key',
  })
  expect(Parameter?.LastModifiedDate).toBeInstanceOf(Date)
})

test('returns a SecureString only with decryption, and a String without it', async () => {
  await put('/decryption/secret', 'plain')
  await put('/decryption/open', 'plain', { Type: 'String' })
  expect((await get('/decryption/secret', false)).Parameter?.Value).not.toContain('plain')
  expect((await get('/decryption/open', false)).Parameter?.Value).toBe('plain')
})

test('throws ParameterNotFound for a missing parameter', async () => {
  await expect(get('/none')).rejects.toBeInstanceOf(ParameterNotFound)
  await expect(ssm.deleteParameter({ Name: '/none' })).rejects.toBeInstanceOf(ParameterNotFound)
})

test('lists the direct children of a path, or all its descendants, page by page', async () => {
  const names = Array.from({ length: 23 }, (_, index) => `/many/${String(index).padStart(2, '0')}`)
  for (const name of names) await put(name, name)
  await put('/many/deep/er', 'x')
  await put('/manyother', 'x')
  const all = async (input: { Path: string; Recursive?: boolean; MaxResults?: number }) => {
    const found: string[] = []
    let pages = 0
    for await (const page of paginateGetParametersByPath({ client: ssm }, input)) {
      pages += 1
      found.push(...(page.Parameters ?? []).map(({ Name = '' }) => Name))
    }
    return { found, pages }
  }
  expect(await all({ Path: '/many' })).toEqual({ found: names, pages: 3 })
  expect((await all({ Path: '/many/', Recursive: true, MaxResults: 5 })).found).toEqual([
    ...names,
    '/many/deep/er',
  ])
  expect(await all({ Path: '/nothing' })).toEqual({ found: [], pages: 1 })
})

test.each<[string, () => Promise<unknown>, string?]>([
  ['a name with other characters', () => put('/a b', 'x')],
  ['a reserved name', () => put('/aws/x', 'x')],
  ['a path without a leading slash', () => put('a/b', 'x')],
  ['too many levels', () => put('/a'.repeat(16), 'x')],
  ['an empty value', () => put('/x', '')],
  ['a value that is too long', () => put('/x', 'x'.repeat(4097))],
  ['a new parameter without a type', () => put('/x', 'x', { Type: undefined })],
  ['a page that is too long', () => ssm.getParametersByPath({ Path: '/', MaxResults: 11 })],
  ['a filter', () => ssm.getParametersByPath({ Path: '/', ParameterFilters: [{ Key: 'Type' }] })],
  ['a path without a slash', () => ssm.getParametersByPath({ Path: 'many' })],
  [
    'a token of another path',
    () => ssm.getParametersByPath({ Path: '/x', NextToken: 'bm8' }),
    'InvalidNextToken',
  ],
])('throws the same exception as AWS for %s', async (_name, attempt, exception = 'ValidationException') => {
  await expect(attempt()).rejects.toMatchObject({ name: exception })
  await expect(get('/x')).rejects.toBeInstanceOf(ParameterNotFound)
})

test('refuses an unsupported action and a body that is not JSON', async () => {
  const call = async (target: string, body: string) => {
    const response = await fetch(urlOf(port), { method: 'POST', headers: { 'x-amz-target': target }, body })
    return [response.status, await response.json()]
  }
  expect(await call('AmazonSSM.LabelParameterVersion', '{}')).toMatchObject([
    400,
    { __type: 'UnknownOperationException' },
  ])
  expect(await call('AmazonSSM.GetParameter', '{')).toMatchObject([400, { __type: 'SerializationException' }])
})

test('parameters outlive a restart, in a file that only its owner can read', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => put(`/kept/${index}`, `value ${index}`)))
  await store.close()
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  store = await start()
  for (let index = 0; index < 20; index += 1) {
    expect((await get(`/kept/${index}`)).Parameter?.Value).toBe(`value ${index}`)
  }
})

test('seeding replaces only the webhook secrets of earlier starts', async () => {
  const seeded = async (...secrets: string[]) => {
    await seed(store, '/relay', ['shop'], secrets)
    const { Parameters = [] } = await ssm.getParametersByPath({
      Path: '/relay/webhook/secrets',
      WithDecryption: true,
    })
    return Object.fromEntries(Parameters.map(({ Name = '', Value }) => [Name.split('/').at(-1), Value]))
  }
  await put('/relay/webhook/secrets/by-hand', 'kept')
  // The index of earlier keys, which lacks the new ones.
  await put('/relay/store-keys-index/0', '{}')
  expect(await seeded('one', 'two')).toEqual({ 'by-hand': 'kept', 'local-1': 'one', 'local-2': 'two' })
  expect(await seeded('three')).toEqual({ 'by-hand': 'kept', 'local-1': 'three' })
  expect(await seeded()).toEqual({ 'by-hand': 'kept' })
  const key = storeKeyParameter('/relay', 'shop', 'local-shop')
  expect((await get(key.Name)).Parameter?.Value).toBe(key.Value)
  await expect(get('/relay/store-keys-index/0')).rejects.toMatchObject({ name: 'ParameterNotFound' })
})

test('the date on which a key was created stays the same when the relay restarts', async () => {
  const { Name } = storeKeyParameter('/relay', 'shop', 'local-shop')
  const created = async () => {
    await seed(store, '/relay', ['shop'], [])
    return (await get(Name)).Parameter
  }
  const first = await created()
  expect(await created()).toEqual(first)
})

test('seeding deletes the local keys of a removed store, but no key that was created for it', async () => {
  const [own, created] = ['local-old', 'created'].map(key => storeKeyParameter('/relay', 'old', key))
  await seed(store, '/relay', ['shop', 'old'], [])
  await put(`${created?.Name}`, `${created?.Value}`)
  expect((await get(`${own?.Name}`)).Parameter?.Value).toBe(own?.Value)
  await seed(store, '/relay', ['shop'], [], ['old'])
  await expect(get(`${own?.Name}`)).rejects.toMatchObject({ name: 'ParameterNotFound' })
  expect((await get(`${created?.Name}`)).Parameter?.Value).toBe(created?.Value)
})

test.each([
  ['web', 'local-web', 'local-web-read'],
  // Beside the store "shop".
  ['shop-read', 'local-shop-read', 'local-shop-read-read'],
  ['Shop.ir', 'local-Shop.ir', 'local-Shop.ir-read'],
  ['my shop', 'local-my%20shop', 'local-my%20shop-read'],
  // Node reads the bytes of a header as Latin-1.
  ['فروشگاه', Buffer.from('local-فروشگاه').toString('latin1'), `local-${encodeURIComponent('فروشگاه')}-read`],
])('the store "%s" has the keys %s and %s', async (source, key, readOnlyKey) => {
  const stores = ['web', 'shop', 'shop-read', 'Shop.ir', 'my shop', 'فروشگاه']
  await seed(store, '/relay', stores, [])
  const accessOf = storeKeys(
    parameterCache(indexedParameters(ssm, '/relay/store-keys'), { now: Date.now, random: () => 0.5 }),
    stores.map(each => ({ source: each, feed: 'sqs' })),
    Date.now,
  )
  expect(await accessOf(key)).toMatchObject({ source, kind: 'full' })
  expect(await accessOf(readOnlyKey)).toMatchObject({ source, kind: 'read-only' })
})
