import '../../proof/quiet.ts'
import { describe, expect, test } from '@jest/globals'
import { parseStores } from '../../deploy/stores.ts'
import { feedSecrets } from '../../lib/feeds/secrets.ts'
import { parametersBelow } from '../../lib/secrets.ts'
import { read } from '../../lib/webhook/read.ts'
import { workOn } from '../../proof/fuzz/worker.ts'

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

const webhook = (data: string) =>
  `{"event":"order.updated","delivery":"00000000-0000-4000-8000-000000000001","data":{${data}}}`

const order = (more = '') => `"source":"shop","external_id":"1","status":"paid"${more}`

describe('a webhook', () => {
  test.each([1000, 5000, 100_000])('nested %i levels deep is put aside at the door', levels => {
    const body = Buffer.from(webhook(order(`,"note":${deep(levels)}`)))
    expect(read(body)).toEqual({ kind: 'unreadable', reason: 'The body is nested too deep' })
  })

  test('nested as deep as a sensible order may be is taken', () => {
    expect(read(Buffer.from(webhook(order(`,"note":${deep(50)}`))))).toMatchObject({ kind: 'order.updated' })
  })

  test.each([
    ['source', '"source":"shop\\ud800","external_id":"1","status":"paid"'],
    ['external_id', '"source":"shop","external_id":"\\udc00","status":"paid"'],
    ['status', '"source":"shop","external_id":"1","status":"\\ud83d"'],
  ])('with half a surrogate pair in its %s is put aside: nothing could store it', (field, data) => {
    expect(read(Buffer.from(webhook(data)))).toMatchObject({
      kind: 'unreadable',
      reason: expect.stringContaining(`"data.${field}"`),
    })
  })

  test('with an emoji in its id is taken', () => {
    const body = Buffer.from(webhook('"source":"shop","external_id":"\\ud83d\\ude00","status":"paid"'))
    expect(read(body)).toMatchObject({ webhook: { data: { external_id: '😀' } } })
  })
})

describe('on the line', () => {
  test.each([
    ['100,000 brackets', '['.repeat(100_000)],
    ['100,000 arrays', deep(100_000)],
    ['an order with 2,000 arrays', webhook(order(`,"note":${deep(2000)}`))],
    ['half a surrogate pair for an id', webhook('"source":"shop","external_id":"\\ud800","status":"paid"')],
    [
      'keys that are names of JavaScript',
      webhook(`${order()},"__proto__":{"polluted":1}`).replace('paid', '\\ud800'),
    ],
  ])('%s: quarantined, and the worker lives', async (_name, body) => {
    expect(await workOn([body])).toEqual({ quarantined: 1 })
  })

  test('fields named as those of JavaScript change nothing but themselves', async () => {
    const named = webhook(order(',"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'))
    expect(await workOn([named, named])).toEqual({ quarantined: 0 })
    expect('polluted' in {}).toBe(false)
  })
})

test('a stores.yml whose aliases grow without end is refused by name', () => {
  const lines = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`)
  expect(() => parseStores(['a0: &a0 [x]', ...lines].join('\n'))).toThrow(/^Cannot read stores\.yml: .*alias/)
})

describe('a store named as something that every object has', () => {
  const feedSecretsOf = (parameters: { Name: string; Value: string }[]) =>
    feedSecrets(
      parametersBelow(
        {
          getParametersByPath: async () => ({ Parameters: parameters }),
          getParameter: async () => ({}),
        },
        '/secrets',
      ),
      '/secrets',
    )

  test.each(['constructor', '__proto__', 'toString'])('%s has its own secret or none', async source => {
    const secretOf = feedSecretsOf([{ Name: `/secrets/${source}`, Value: 'whsec_own' }])
    expect(await secretOf(source)).toBe('whsec_own')
    await expect(feedSecretsOf([])(source)).rejects.toThrow(`Cannot sign for the store "${source}"`)
  })
})
