import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { feedQueueId, queuesOf } from '../../deploy/queues.ts'
import { parseStores, readStores } from '../../deploy/stores.ts'
import { httpStores } from '../../lib/platform/stores.ts'

const refusal = (text: string) => {
  try {
    parseStores(text)
  } catch (error) {
    return String(error)
  }
  throw new Error(`Not refused: ${text}`)
}

describe('stores.yml', () => {
  test('has two stores with SQS feeds as shipped', () => {
    expect(readStores('stores.yml')).toEqual([
      { source: 'api', feed: 'sqs' },
      { source: 'demo-shop', feed: 'sqs' },
    ])
  })

  test('takes another store in three lines', () => {
    const lines = ['  - source: corner-shop', '    feed:', '      http: https://corner.example/webhook', '']
    const stores = parseStores(readFileSync('stores.yml', 'utf8') + lines.join('\n'))
    expect(httpStores(stores)).toEqual([
      {
        source: 'corner-shop',
        feed: { http: 'https://corner.example/webhook', disable_after: 24 * 60 * 60 },
      },
    ])
  })

  test.each([
    ['90m', 90 * 60],
    ['36h', 36 * 60 * 60],
    ['10d', 10 * 24 * 60 * 60],
  ])('disables an HTTP feed after %s', (text, seconds) => {
    const [store] = parseStores(
      `stores:\n  - source: a\n    feed: { http: http://127.0.0.1:8080/, disable_after: ${text} }`,
    )
    expect(store?.feed).toMatchObject({ disable_after: seconds })
  })

  const first = (...lines: string[]) => ['stores:', ...lines].join('\n')

  test.each<[string, string, string[]]>([
    ['an empty file', '', ['line 1: the file must have keys', '"stores"']],
    ['a list at the top level', '- source: a', ['line 1: "stores" is missing']],
    ['no store', 'stores: []', ['line 1: "stores" must have at least one store']],
    ['stores that are not a list', 'stores: {}', ['line 1: "stores" must be a list']],
    [
      'a misspelled key',
      first('  - source: a', '    feed: sqs', '    fed: 1'),
      ['line 4: "stores[0].fed" is not a known key: a store has "source" and "feed"'],
    ],
    [
      'an unknown key',
      `${first('  - source: a', '    feed: sqs')}\nshops: 1`,
      ['line 4: "shops" is not a known key'],
    ],
    ['no feed', first('  - source: a'), ['line 2: "stores[0].feed" is missing']],
    [
      'an empty feed',
      first('  - source: a', '    feed:'),
      ['line 3: "stores[0].feed" must be "sqs"', 'not null'],
    ],
    [
      'a bare address',
      first('  - source: a', '    feed: https://a.example'),
      ['line 3: "stores[0].feed" must be "sqs"', '"http: https://…"', 'not "https://a.example"'],
    ],
    [
      'a source with a space',
      first('  - source: a b', '    feed: sqs'),
      ['line 2: "stores[0].source" must be 1 to 50 letters, digits, "-" or "_", not "a b"'],
    ],
    [
      'a number as source',
      first('  - source: 12', '    feed: sqs'),
      ['line 2: "stores[0].source" must be text (in quotes if it is a number), not 12'],
    ],
    [
      'the same source twice',
      first('  - source: a', '    feed: sqs', '  - source: a', '    feed: sqs'),
      ['line 4: "stores[1]" has the source "a" of another store: remove one of them'],
    ],
    [
      'an address without https',
      first('  - source: a', '    feed:', '      http: http://a.example'),
      ['line 4: "stores[0].feed.http" must be a public https address'],
    ],
    [
      'an address with a password',
      first('  - source: a', '    feed: { http: "https://u:p@a.example" }'),
      ['line 3: "stores[0].feed.http" must be a public https address without user and password'],
    ],
    [
      'an address that is not a URL',
      first('  - source: a', '    feed: { http: shop }'),
      ['line 3: "stores[0].feed.http" must be a public https address'],
    ],
    [
      'an invalid duration',
      first('  - source: a', '    feed:', '      http: https://a.example', '      disable_after: 1w'),
      ['line 5: "stores[0].feed.disable_after" must be a time such as 90m, 24h or 3d, not "1w"'],
    ],
    [
      'a duration that is too long',
      first('  - source: a', '    feed: { http: https://a.example, disable_after: 11d }'),
      ['line 3: "stores[0].feed.disable_after" must be 10d or less'],
    ],
    ['invalid YAML', 'stores:\n\t- source: a', ['Tabs are not allowed', 'line 2, column 1']],
    [
      'the same key twice',
      first('  - source: a', '    source: b', '    feed: sqs'),
      ['Map keys must be unique at line 3'],
    ],
  ])('with %s is rejected with line, key and remedy', (_what, text, parts) => {
    const message = refusal(text)
    expect(message).toContain('Cannot read stores.yml')
    for (const part of parts) expect(message).toContain(part)
  })

  test('reports every mistake at once', () => {
    expect(refusal(first('  - source: a b', '    feed: mail')).split('\n')).toHaveLength(3)
  })
})

describe('the queue of a store', () => {
  test('has a logical id that no other source has', () => {
    expect(feedQueueId('a-b')).toMatch(/^[A-Za-z0-9]+$/)
    expect(feedQueueId('a-b')).not.toBe(feedQueueId('a_b'))
  })

  test('has a name that SQS allows, or an error that says why not', () => {
    const named = (source: string) =>
      queuesOf({ prefix: 'order-relay-production-', stores: [{ source, feed: 'sqs' }] }).at(-1)?.name
    expect(named('shop')).toBe('order-relay-production-feed-shop.fifo')
    expect(() => named('x'.repeat(50))).toThrow(
      /has 83 characters and SQS allows 80; shorten the stage or the source/,
    )
  })
})
