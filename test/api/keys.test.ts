import { beforeEach, expect, test } from '@jest/globals'
import { type AccessOfKey, storeKeyParameter, storeKeys } from '../../lib/api/keys.ts'
import { type Parameters, parameterCache } from '../../lib/platform/parameters.ts'

const STORES = ['shop', 'فروشگاه'].map(source => ({ source, feed: 'sqs' }) as const)
const PATH = '/order-relay/test'

const stored = (source: string, key: string): Parameters => {
  const { Name, Value } = storeKeyParameter(PATH, source, key)
  return { [Name.slice(`${PATH}/store-keys/`.length)]: Value }
}

let parameters: Parameters
let accessOf: AccessOfKey

beforeEach(() => {
  parameters = {
    ...stored('shop', 'first'),
    ...stored('shop', 'second'),
    ...stored('فروشگاه', 'key of another'),
    ...stored('removed', 'key of a removed store'),
  }
  accessOf = storeKeys(
    parameterCache(async () => parameters, { now: () => 0, random: () => 0.5 }),
    STORES,
  )
})

// How long a key is kept, how soon a new one is found, and what happens while Parameter Store is down, is in test/platform/parameters.test.ts.
test('each of several keys belongs to its source', async () => {
  const found = await Promise.all(['first', 'second', 'key of another'].map(accessOf))
  expect(found.map(access => access?.source)).toEqual(['shop', 'shop', 'فروشگاه'])
  expect(await accessOf('key of a removed store')).toBeUndefined()
})

test('a key is stored as its hash, under the beginning of that', () => {
  const { Name, Type, Value } = storeKeyParameter(PATH, 'shop', 'first')
  expect(Type).toBe('SecureString')
  expect(Value).toMatch(/^[0-9a-f]{64}$/)
  expect(Name).toBe(`/order-relay/test/store-keys/shop/${Value.slice(0, 12)}`)
})

test.each([storeKeyParameter(PATH, 'shop', 'first').Value, 'firs', 'First', '', 'no hash'])(
  '%p is not a key, whatever is stored',
  async key => {
    parameters = { ...stored('shop', 'first'), 'shop/1': 'no hash', 'shop/2': '' }
    expect(await accessOf(key)).toBeUndefined()
  },
)
