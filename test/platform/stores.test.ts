import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { feedQueueId, queuesOf } from '../../deploy/queues.ts'
import { assertFeedsAllowed } from '../../deploy/settings.ts'
import { parseStores, readStores } from '../../deploy/stores.ts'
import { registersItself } from '../../lib/platform/http-stores.ts'
import { storeName } from '../../lib/platform/names.ts'
import { MAX_STORES } from '../../lib/platform/stores.ts'
import { aliasBomb } from '../../proofs/fuzz/properties.ts'

/** A file with these stores, one per line. */
const file = (...stores: string[]) => ['stores:', ...stores.map(store => `  - ${store}`)].join('\n')
const http = (address: string) => `{ source: a, feed: { http: "${address}" } }`

describe('stores.yml', () => {
  test('has two stores with SQS feeds by default', () => {
    expect(readStores('stores.yml')).toEqual([
      { source: 'api', feed: 'sqs' },
      { source: 'demo-shop', feed: 'sqs' },
    ])
  })

  test('accepts another store in three lines', () => {
    const lines = ['  - source: corner-shop', '    feed:', '      http: https://corner.example/webhook', '']
    const stores = parseStores(readFileSync('stores.yml', 'utf8') + lines.join('\n'))
    const feed = { http: 'https://corner.example/webhook', disable_after: 24 * 60 * 60 }
    expect(stores.at(-1)).toEqual({ source: 'corner-shop', feed })
    expect(() => assertFeedsAllowed(stores, 'public')).not.toThrow()
  })

  test.each([
    ['http', 24 * 60 * 60],
    ['{ http: self }', 24 * 60 * 60],
    ['{ http: self, disable_after: 3d }', 3 * 24 * 60 * 60],
  ])('leaves the URL to the store with "feed: %s"', (feed, disable_after) => {
    const stores = parseStores(file(`{ source: a, feed: ${feed} }`))
    expect(stores).toEqual([{ source: 'a', feed: { disable_after } }])
    expect(stores.map(registersItself)).toEqual([true])
    expect(() => assertFeedsAllowed(stores, 'public')).not.toThrow()
  })

  test.each([
    ['90m', 90 * 60],
    ['36h', 36 * 60 * 60],
    ['10d', 10 * 24 * 60 * 60],
  ])('disables an HTTP feed after %s', (text, seconds) => {
    const store = http('https://a.example').replace('" }', `", disable_after: ${text} }`)
    expect(parseStores(file(store))).toMatchObject([{ feed: { disable_after: seconds } }])
  })

  test('accepts a source of any hundred characters', () => {
    const store = { source: '😀'.repeat(100), feed: 'sqs' }
    expect(parseStores(JSON.stringify({ stores: [store] }))).toEqual([store])
  })

  test('accepts roles, accounts and a receive count for an SQS feed', () => {
    const roles = ['arn:aws:iam::111122223333:role/team/shop', 'arn:aws-cn:iam::111122223333:root']
    const stores = [{ source: 'a', feed: 'sqs', consumers: [...roles, '444455556666'], dead_letter_after: 5 }]
    expect(parseStores(JSON.stringify({ stores }))).toEqual(stores)
  })

  test.each(['http://127.0.0.1:8080/', 'https://localhost/', 'http://[::1]/', 'https://shop.localhost/'])(
    'accepts the feed %s locally, but does not deploy it',
    address => {
      const stores = parseStores(file(http(address)))
      for (const allowed of ['public', 'private'] as const)
        expect(() => assertFeedsAllowed(stores, allowed)).toThrow(
          /the HTTP feed of the store "a" is \S+, which is a loopback address, allowed only in the stage "local"; use the public address of the store$/,
        )
    },
  )

  test.each(['https://10.1.2.3/', 'https://[fc00::1]:8443/'])(
    'deploys the feed %s with "private"',
    address => {
      const stores = parseStores(file(http(address)))
      expect(() => assertFeedsAllowed(stores, 'public')).toThrow('the HTTP feed of the store "a"')
      expect(() => assertFeedsAllowed(stores, 'private')).not.toThrow()
    },
  )

  test.each([true, false])('accepts exact: %p', exact => {
    const stores = [{ source: 'a', feed: 'sqs', exact }]
    expect(parseStores(JSON.stringify({ stores }))).toEqual(stores)
  })

  const name = storeName('shop.ir')
  const many = Array.from({ length: MAX_STORES + 1 }, (_, index) => `{ source: s${index}, feed: sqs }`)
  const roles = many.slice(0, 50).map((_, index) => `arn:aws:iam::1111222233${index + 10}:role/shop`)
  const ROLE = 'consumers[0]" must be the ARN of a role, such as '
  const PUBLIC =
    'feed.http" must be "self", or a public https address on port 443 or 8443 without user and password'
  const HTTP = 'feed: { http: "https://a.example" }'
  const DISABLED = (after: string) => HTTP.replace(' }', `, disable_after: ${after} }`)
  const addresses = [
    ...['http://169.254.169.254/latest', 'https://169.254.100.1/', 'https://0.0.0.0/', 'https://[fe80::1]/'],
    ...[
      'https://[fd00:ec2::254]/',
      'https://[::]/',
      'https://[::ffff:169.254.169.254]/',
      'http://shop.example/',
      'shop',
    ],
    'https://u:p@a.example',
    ...['https://a.example:22', 'https://a.example:6379', 'https://a.example:80', 'https://10.1.2.3:3306/'],
    ...['https://224.0.0.1/', 'https://[64:ff9b::a00:1]/', 'https://[2002:7f00:1::]/', 'https://[::7f00:1]/'],
  ]

  test('says that the file does not exist', () => {
    expect(() => readStores('nowhere/stores.yml')).toThrow(
      /^Cannot read nowhere\/stores\.yml: it does not exist$/,
    )
  })

  const rejects = (text: string, parts: string[]) => {
    for (const part of ['Cannot read stores.yml', ...parts]) expect(() => parseStores(text)).toThrow(part)
  }

  test.each<[store: string, first: string, ...parts: string[]]>([
    ['source: a, feed: sqs, fed: 1', 'fed" is not a known key: a store has "source", "feed" and opt'],
    ['source: a', 'feed" is missing'],
    ['source: a, feed: ', 'feed" must be "sqs", "http"', 'not null'],
    ['source: a, feed: "https://a.example"', 'feed" must be "sqs"', '"http: https://…"'],
    ['source: "", feed: sqs', 'source" must have 1 to 100 characters'],
    [`source: ${'ف'.repeat(101)}, feed: sqs`, 'source" must have 1 to 100 characters'],
    ['source: "\\uD800", feed: sqs', 'source" must be well-formed Unicode'],
    ['source: 12, feed: sqs', 'source" must be text (in quotes if it is a number), not 12'],
    ['source: a, queue: a.fifo, feed: sqs', 'queue" must be 1 to 50 letters', 'not "a.fifo"'],
    ['source: a, feed: sqs, consumers: [111122223333]', ROLE, 'in quotes', 'not 111122223333'],
    ['source: a, feed: sqs, consumers: ["*"]', ROLE, 'not "*"'],
    ['source: a, feed: sqs, consumers: []', 'consumers" must name a role'],
    ['source: a, feed: sqs, exact: yes', 'exact" must be true or false, not "yes"'],
    [`source: a, consumers: ["111122223333"], ${HTTP}`, 'consumers" is for SQS feeds, and'],
    [`source: a, dead_letter_after: 5, ${HTTP}`, 'dead_letter_after" is for SQS'],
    ['source: relay-probe, feed: http', 'feed" does not suit the probe, which reads an SQS feed'],
    ['source: relay-probe, feed: sqs, exact: true', 'exact" does not suit the probe'],
    ['source: a, dead_letter_after: 5, feed: http', 'dead_letter_after" is for SQS'],
    ['source: a, dead_letter_after: 0, feed: sqs', 'dead_letter_after" must be a number of receives'],
    [`source: a, ${DISABLED('1w')}`, 'feed.disable_after" must be a time such as 90m, 24h or 3d, not "1w"'],
    [`source: a, ${DISABLED('11d')}`, 'feed.disable_after" must be 10d or less'],
    ...addresses.map((address): [string, string] => [`source: a, feed: { http: "${address}" }`, PUBLIC]),
  ])('rejects the store { %s } with line, key and remedy', (store, first, ...parts) =>
    rejects(file(`{ ${store} }`), [`line 2: "stores[0].${first}`, ...parts]),
  )

  const feedName = (name: string, of: string) =>
    `name "feed-${name}.fifo" of the store "${of}": set another "queue"`
  test.each<[second: string, first: string, message: string]>([
    ['source: shop', 'source: shop.ir, queue: shop', feedName('shop', 'shop.ir')],
    [`source: ${name}, queue: b`, 'source: shop.ir', `name "${name}" of the store "shop.ir"`],
    ['source: a', 'source: a', 'source "a" of another store: remove one of them'],
    ['source: a-dead', 'source: a, dead_letter_after: 5', feedName('a-dead', 'a')],
  ])('rejects the store { %s } behind { %s }', (second, first, message) => {
    const [one, two] = [first, second].map(store => `{ ${store}, feed: sqs }`)
    rejects(file(one ?? '', two ?? ''), [`line 3: "stores[1]" has the ${message}`])
  })

  test('reports a misspelled key once, with the required one that is missing', () => {
    const problems = (text: string) => {
      try {
        return parseStores(text)
      } catch (error) {
        return String(error).split('\n').slice(1)
      }
    }
    const isUnknown = (field: string, missing: string, meant: string) =>
      `line 3: "stores[0].${field}" is not a known key, and ${missing} missing: did you mean "${meant}"?`
    expect(problems('stores:\n  - source: a\n    fed: sqs')).toEqual([isUnknown('fed', '"feed" is', 'feed')])
    expect(problems('stores:\n  - exact: true\n    fed: sqs')).toEqual([
      isUnknown('fed', '"source" and "feed" are', 'feed'),
    ])
    expect(problems('stores:\n  - source: a\n    feed: { htp: self }')).toEqual([
      isUnknown('feed.htp', '"http" is', 'http'),
    ])
    expect(problems('stores:\n  - source: a\n    address: sqs')).toEqual([
      expect.stringMatching(
        /^line 3: "stores\[0\]\.address" is not a known key, and "feed" is missing: a store has /,
      ),
    ])
    expect(problems('- source: a')).toEqual([expect.stringMatching(/^line 1: "stores" is missing: /)])
  })

  const QUEUES = 'line 1: "stores" must have at most 400 queues, which is what one stack holds, not 401'
  const POLICY = 'line 2: "stores[0].consumers" must have at most 50 entries and 6000 characters'
  const TEMPLATE = 'line 1: "stores" must have at most 500000 characters of consumers'
  const withRoles = (stores: string[], more = '') =>
    stores.map(store => store.replace(' }', `, consumers: [${roles}${more}] }`))
  const longer = (store: string) => store.replaceAll('role/shop', `role/${'x'.repeat(100)}`)
  const twice = 'stores:\n  - source: a\n    source: b\n    feed: sqs'

  test.each<[what: string, text: string, ...parts: string[]]>([
    ['an empty file', '', 'line 1: the file is empty: the file must have the key "stores" and no other'],
    ['a list at the top level', '- source: a', 'line 1: "stores" is missing'],
    ['no store', 'stores: []', 'line 1: "stores" must have at least one store'],
    ['stores that are not a list', 'stores: {}', 'line 1: "stores" must be a list'],
    ['an unknown key', `${file('{ source: a, feed: sqs }')}\nshops: 1`, 'line 3: "shops" is not a known key'],
    ['more stores than one stack holds', file(...many), QUEUES],
    [
      'more queues than one stack holds',
      file('{ source: a, dead_letter_after: 5, feed: sqs }', ...many.slice(0, MAX_STORES - 1)),
      `${QUEUES}: one for each store, and`,
    ],
    ['more consumers than a policy holds', file(...withRoles(many.slice(0, 1), ',"111122223333"')), POLICY],
    ['longer consumers than a policy holds', file(...withRoles(many.slice(0, 1)).map(longer)), POLICY],
    ['more consumers than one template holds', file(...withRoles(many.slice(0, 300))), TEMPLATE],
    ['aliases that grow exponentially', aliasBomb(30), 'alias'],
    ['invalid YAML', 'stores:\n\t- source: a', 'Tabs are not allowed', 'line 2, column 1'],
    ['a key twice', twice, 'Map keys must be unique at line 3'],
    ['two mistakes', file('{ source: 12, feed: mail }'), '[0].source', '[0].feed'],
  ])('rejects %s with line, key and remedy', (_what, text, ...parts) => rejects(text, parts))
})

describe('the name of a store', () => {
  /** Likely includes texts that differ only in case, punctuation or Unicode normalization. */
  const source = fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }),
      fc.string({ unit: fc.constantFrom(...'aA.- آا\u0622\u200cé۲2'), minLength: 1, maxLength: 5 }),
    )
    .filter(text => [...text].length <= 100)
  const plain = (text: string) => /^[\w-]{1,50}$/.test(text)
  const queueOf = (prefix: string, source: string, queue?: string) =>
    queuesOf({ prefix, stores: [{ source, queue, feed: 'sqs' }] }).at(-1)?.name

  test.each([
    ['shop_1-Ab', /^shop_1-Ab$/],
    ['shop.ir', /^shop-ir-[0-9a-f]{10}$/],
    ['Café №5', /^cafe-no5-[0-9a-f]{10}$/],
    ['فروشگاه آبی‌فروش ۲', /^froshgah-abi-frosh-2-[0-9a-f]{10}$/],
    ['書店', /^store-[0-9a-f]{10}$/],
    ['x'.repeat(51), /^x{30}-[0-9a-f]{10}$/],
  ])('derived from "%s" is readable', (text, name) => {
    expect(storeName(text)).toMatch(name)
  })

  test('derived from any source is valid in queues, parameters, alarms, logical ids and HTTP headers', () => {
    fc.assert(
      fc.property(source, text => {
        expect(storeName(text)).toMatch(plain(text) ? /^[\w-]{1,50}$/ : /^[a-z0-9][a-z0-9-]{5,40}$/)
        expect(feedQueueId(text)).toMatch(/^Feed[0-9a-f]{2,100}$/)
        expect(queueOf('order-relay-staging-', text)).toMatch(/^[\w-]{1,75}\.fifo$/)
      }),
    )
  })

  test('is unique for each source, even if case is ignored', () => {
    fc.assert(
      fc.property(fc.uniqueArray(source, { minLength: 2, maxLength: 100 }), sources => {
        const names = sources.map(text => (plain(text) ? storeName(text) : storeName(text).toLowerCase()))
        expect(new Set(names).size).toBe(sources.length)
        expect(new Set(sources.map(feedQueueId)).size).toBe(sources.length)
      }),
    )
  })

  test('gives a valid SQS queue name, or an error with the reason', () => {
    const prefix = 'order-relay-production-'
    const long = 'x'.repeat(50)
    expect(() => queueOf(prefix, long)).toThrow(
      /has 83 characters and SQS allows 80; shorten the stage, or set "queue" of the store/,
    )
    expect(queueOf(prefix, long, 'shop')).toBe(`${prefix}feed-shop.fifo`)
  })
})
