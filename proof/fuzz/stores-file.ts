import assert from 'node:assert/strict'
import fc from 'fast-check'
import { parseStores } from '../../deploy/stores.ts'
import { feedQueueName } from '../../lib/feeds/sqs.ts'
import { anyJsonText, text } from './hostile.ts'

const RIGHT = `stores:
  - source: api
    feed: sqs
  - source: demo-shop
    feed:
      http: https://shop.example/webhook
      disable_after: 3d
`

const damaged = fc
  .tuple(
    fc.nat(RIGHT.length),
    fc.nat(12),
    fc.oneof(text, fc.constantFrom('&a ', '*a', '!!js ', '- ', ': ', '\t', '{', '|', '<<: *a')),
  )
  .map(([at, removed, other]) => RIGHT.slice(0, at) + other + RIGHT.slice(at + removed))

/** Each level doubles what the one before it is an alias of. */
const bomb = fc
  .integer({ min: 2, max: 40 })
  .map(levels =>
    [
      'a0: &a0 [x]',
      ...Array.from({ length: levels }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`),
    ].join('\n'),
  )

const file = fc.oneof(
  { weight: 8, arbitrary: damaged },
  { weight: 4, arbitrary: anyJsonText.map(json => `stores: ${json}`) },
  { weight: 2, arbitrary: text },
  { weight: 1, arbitrary: bomb },
)

/** stores.yml is read, or refused with words that name the file; what is read makes names that AWS takes. */
export const storesFileProperty = () =>
  fc.property(file, content => {
    let stores: ReturnType<typeof parseStores>
    try {
      stores = parseStores(content)
    } catch (error) {
      assert.ok(error instanceof Error && error.message.startsWith('Cannot read stores.yml'), String(error))
      return
    }
    assert.ok(stores.length > 0)
    assert.equal(new Set(stores.map(({ source }) => source)).size, stores.length)
    for (const { source, feed } of stores) {
      assert.match(feedQueueName(source), /^[A-Za-z0-9_-]{1,75}\.fifo$/)
      if (feed !== 'sqs')
        assert.match(new URL(feed.http).href, /^https:|^http:\/\/(127\.0\.0\.1|localhost)[:/]/)
    }
  })
