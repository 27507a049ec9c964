import { describe, expect, test } from '@jest/globals'
import { parseStores } from '../../deploy/stores.ts'
import { feedSecrets } from '../../lib/feeds/secrets.ts'
import { readWebhook } from '../../lib/webhook/receive.ts'
import { aliasBomb } from './properties.ts'
import { processMessages } from './relay.ts'

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

const webhook = (data: string) =>
  `{"event":"order.updated","delivery":"00000000-0000-4000-8000-000000000001","data":{${data}}}`

const order = (more = '') => `"source":"shop","external_id":"1","status":"paid"${more}`

// Inputs that fuzzing found, and that once did harm.

const unreadable = (reason: unknown) => ({ kind: 'unreadable', reason })
const halved = (field: string) => unreadable(expect.stringContaining(`"data.${field}"`))

test.each<[string, string, object]>([
  [
    'half a surrogate pair as source',
    '"source":"\\ud800","external_id":"1","status":"paid"',
    halved('source'),
  ],
  ['half a pair as id', '"source":"shop","external_id":"\\udc00","status":"paid"', halved('external_id')],
  ['half a pair as status', '"source":"shop","external_id":"1","status":"\\ud83d"', halved('status')],
  [
    'an emoji as id',
    '"source":"shop","external_id":"\\ud83d\\ude00","status":"paid"',
    { webhook: { data: { external_id: '😀' } } },
  ],
])('a webhook with %s', (_name, data, reading) => {
  expect(readWebhook(Buffer.from(webhook(data)))).toMatchObject(reading)
})

describe('in the order queue', () => {
  test.each([
    ['100,000 brackets', '['.repeat(100_000)],
    ['100,000 arrays', deep(100_000)],
    ['an order with 2,000 arrays', webhook(order(`,"note":${deep(2000)}`))],
    ['half a surrogate pair as an id', webhook('"source":"shop","external_id":"\\ud800","status":"paid"')],
    [
      'keys that are names in JavaScript',
      webhook(`${order()},"__proto__":{"polluted":1}`).replace('paid', '\\ud800'),
    ],
  ])('%s: quarantined, and the worker survives', async (_name, body) => {
    expect(await processMessages([body])).toBe(1)
  })

  test('fields with names of JavaScript change nothing but themselves', async () => {
    const named = webhook(order(',"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'))
    expect(await processMessages([named, named])).toBe(0)
    expect('polluted' in {}).toBe(false)
  })
})

test('a stores.yml whose aliases grow exponentially is refused by name', () => {
  expect(() => parseStores(aliasBomb(30))).toThrow(/^Cannot read stores\.yml: .*alias/)
})

describe('a store named like something that every object has', () => {
  test.each(['constructor', '__proto__', 'toString'])('%s has its own secret or none', async source => {
    const secretsWith = (parameters: { Name: string; Value: string }[]) => {
      const ssm = { send: async (): Promise<never> => ({ Parameters: parameters }) as never }
      return feedSecrets(ssm, '/path', { now: () => 0, random: () => 0.5 })
    }
    const own = secretsWith([{ Name: `/path/feed-secrets/${source}`, Value: 'whsec_own' }])
    expect(await own(source)).toEqual(['whsec_own'])
    await expect(secretsWith([])(source)).rejects.toThrow(`Cannot sign for the store "${source}"`)
  })
})
