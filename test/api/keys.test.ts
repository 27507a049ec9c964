import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutParameterCommand, SSM } from '@aws-sdk/client-ssm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { bearerKey, STORE_KEYS, storeKeyParameter, storeKeys } from '../../lib/api/keys.ts'
import { type Load, parametersBelow } from '../../lib/secrets.ts'
import { startParameterStore } from '../../local/parameter-store.ts'
import { freePorts } from '../../local/ports.ts'
import { urlOf } from '../../local/settings.ts'

const PATH = '/order-relay/test'

let directory: string
let server: { close: () => Promise<void> }
let ssm: SSM
let loads: number
let load: Load

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'order-relay-'))
  const { ssm: port } = await freePorts()
  await writeFile(join(directory, 'parameters.json'), '{"parameters":[]}')
  server = await startParameterStore({
    port,
    path: join(directory, 'parameters.json'),
    region: 'eu-central-1',
  })
  ssm = new SSM({
    region: 'eu-central-1',
    endpoint: urlOf(port),
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  await add('shop', 'first key of shop')
  await add('shop', 'second key of shop')
  await add('api', 'key of api')
})
afterAll(async () => {
  ssm.destroy()
  await server.close()
  await rm(directory, { recursive: true })
})
beforeEach(() => {
  const below = parametersBelow(ssm, `${PATH}/${STORE_KEYS}`)
  loads = 0
  load = () => {
    loads++
    return below()
  }
})

const add = (source: string, key: string) =>
  ssm.send(new PutParameterCommand(storeKeyParameter(PATH, source, key)))

describe('the key of a store', () => {
  test('opens what is of its source, and a store may have several', async () => {
    const sourceOf = storeKeys(load)
    expect(await sourceOf('first key of shop')).toBe('shop')
    expect(await sourceOf('second key of shop')).toBe('shop')
    expect(await sourceOf('key of api')).toBe('api')
    expect(loads).toBe(1)
  })

  test('is kept as its hash only', async () => {
    const stored = await readFile(join(directory, 'parameters.json'), 'utf8')
    expect(stored).toContain('/order-relay/test/store-keys/shop/')
    expect(stored).not.toContain('key of shop')
  })

  test('opens nothing by its hash, by a part of it or by nothing', async () => {
    const sourceOf = storeKeys(load)
    const { Value } = storeKeyParameter(PATH, 'shop', 'first key of shop')
    for (const key of [Value, 'first key of', 'First key of shop', '']) {
      expect(await sourceOf(key)).toBeUndefined()
    }
  })

  test('works at once when it is new, while unknown keys are looked for at most once a minute', async () => {
    let now = 0
    const sourceOf = storeKeys(load, () => now)
    expect(await sourceOf('key of api')).toBe('api')
    await add('shop', 'new key')
    expect(await sourceOf('new key')).toBe('shop')
    expect(loads).toBe(2)

    for (const key of ['wrong', 'wrong again']) expect(await sourceOf(key)).toBeUndefined()
    expect(loads).toBe(2)
    now += 60_000
    expect(await sourceOf('wrong')).toBeUndefined()
    expect(loads).toBe(3)
  })

  test('works on while Parameter Store does not answer', async () => {
    let now = 0
    let down = false
    const sourceOf = storeKeys(
      () => (down ? Promise.reject(new Error('down')) : load()),
      () => now,
    )
    expect(await sourceOf('key of api')).toBe('api')
    down = true
    now += 3_600_000
    expect(await sourceOf('key of api')).toBe('api')
    expect(await sourceOf('wrong')).toBeUndefined()
  })

  test('that is no hash in the store opens nothing', async () => {
    const sourceOf = storeKeys(async () => ({ 'shop/1': 'no hash', 'shop/2': '' }))
    expect(await sourceOf('no hash')).toBeUndefined()
    expect(await sourceOf('')).toBeUndefined()
  })
})

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['Bearer  abc ', 'abc'],
  ['Bearer', undefined],
  ['Bearer a b', undefined],
  ['Basic abc', undefined],
  ['', undefined],
  [undefined, undefined],
])('the header %j has the key %j', (header, key) => {
  expect(bearerKey(header)).toBe(key)
})
