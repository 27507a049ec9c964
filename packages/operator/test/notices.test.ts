import { expect, test } from '@jest/globals'
import { keyUseItem, storeKeyParameter } from '@order-relay/lib/api/keys.ts'
import { DAY } from '@order-relay/lib/platform/environment.ts'
import { keepStores } from '@order-relay/local/kept-stores.ts'
import { useFolder } from '@order-relay/test-support/folder.ts'
import type { Context } from '../core/context.ts'
import { findingText } from '../core/output.ts'
import type { Queues } from '../core/queue.ts'
import { deadFinding } from '../feeds/dead.ts'
import { deadNotices, expiryNotices, feedNotices, storesNotices } from '../status/notices.ts'
import { removedNotices } from '../stores/removed.ts'

const flags = ' --local'
const nameOf = (name: string) => name
const none = { waiting: 0, inFlight: 0 }

const folder = useFolder()

test.each([
  [
    ['line 2: "stores[0].feed" is missing', 'line 5: "stores[1].fed" is not a known key'],
    'Cannot read /x/stores.yml:\nline 2: "stores[0].feed" is missing\nline 5: "stores[1].fed" is not a known key',
  ],
  [
    ['Cannot read /x/stores.yml: Map keys must be unique at line 2, column 1'],
    'Cannot read /x/stores.yml: Map keys must be unique at line 2, column 1:\n\nstores:\n^\n',
  ],
])('an error in stores.yml is a problem while the local relay keeps its stores: %j', (shown, error) => {
  const kept = ['shop', 'other'].map(source => ({ source, feed: 'sqs' as const }))
  expect(storesNotices({ storesProblem: () => ({ error, kept }) }).map(findingText)).toEqual(
    shown.map(
      text =>
        `!!    the file stores.yml has errors: ${text}\n      → correct the file; until then, the relay keeps the stores shop, other`,
    ),
  )
  expect(storesNotices({ storesProblem: () => undefined })).toEqual([])
})

test('reports messages in the queues of removed stores as a note until the stores are restored', async () => {
  const shop = 'stores:\n  - source: shop\n    feed: sqs\n'
  const gone = '  - source: gone\n    feed: sqs\n    dead_letter_after: 5\n'
  const depths: Readonly<Record<string, number>> = { 'feed-shop.fifo': 2, 'feed-gone.fifo': 3 }
  const context = {
    local: true,
    dataDir: folder(),
    queueUrl: async (name: string) => name,
    sqs: {
      getQueueAttributes: async ({ QueueUrl }: { QueueUrl: string }) => ({
        Attributes: { ApproximateNumberOfMessages: String(depths[QueueUrl] ?? 0) },
      }),
    },
  } as unknown as Context
  const found = async () => (await removedNotices(context)).map(findingText)
  await keepStores(folder(), shop + gone)
  expect(await found()).toEqual([])
  const waiting = [
    'note  the queue feed-gone.fifo of the store "gone" is no longer in stores.yml: 3 messages that no store receives\n' +
      '      → if the store was removed or renamed by mistake, restore it in stores.yml',
  ]
  for (let starts = 0; starts < 2; starts++) {
    await keepStores(folder(), shop)
    expect(await found()).toEqual(waiting)
  }
  // On AWS, the deployment deletes the queue of a removed store.
  expect(await removedNotices({ ...context, local: false })).toEqual([])
  await keepStores(folder(), shop + gone)
  expect(await found()).toEqual([])
})

test('messages that wait for a store without a registered URL are a problem', async () => {
  const registered = { url: { S: 'https://shop.example' } }
  const context = {
    local: true,
    dataDir: folder(),
    flags,
    nameOf,
    stores: () => ['shop', 'idle', 'known'].map(source => ({ source, feed: {} })),
    stack: async () => ({ apiUrl: 'https://relay.example' }),
    dynamodb: {
      getItem: async ({ Key }: { Key: { source: { S: string } } }) =>
        Key.source.S === 'known' ? { Item: registered } : {},
    },
  } as unknown as Context
  const waiting = { waiting: 3, inFlight: 1 }
  const feeds = [
    { source: 'shop', depth: waiting },
    { source: 'idle', depth: none },
    { source: 'known', depth: waiting },
  ]
  const found = await feedNotices(context, { feeds } as unknown as Queues)
  expect(found.map(findingText)).toEqual([
    '!!    the feed of "shop": the store has registered no webhook URL; 4 messages not received yet\n' +
      '      → the store registers one with its key: PUT https://relay.example/api/v1/webhook/',
  ])
})

test('a store with a URL in stores.yml but without a signing secret is a problem, also if no message waits', async () => {
  const context = (secrets: readonly string[]) =>
    ({
      flags,
      stores: () => [{ source: 'my-shop', feed: { http: 'https://shop.example' } }],
      parameters: { below: async () => secrets.map(name => ({ name })) },
    }) as unknown as Context
  const queues = { feeds: [{ source: 'my-shop', depth: none }] } as unknown as Queues
  expect((await feedNotices(context([]), queues)).map(findingText)).toEqual([
    '!!    the feed of "my-shop": it has no signing secret\n      → relay stores secret my-shop --local',
  ])
  expect(await feedNotices(context(['my-shop']), queues)).toEqual([])
})

test('dead letters that the consumer of an SQS feed left are a problem', async () => {
  const context = { flags, stores: () => [{ source: 'my shop', feed: 'sqs' }] } as unknown as Context
  const feeds = [{ source: 'my shop', depth: none, dead: { waiting: 2, inFlight: 0 } }]
  const found = await feedNotices(context, { feeds } as unknown as Queues)
  expect(found.map(findingText)).toEqual([
    '!!    the feed of "my shop": dead letters that its consumer could not handle: 2\n' +
      "      → relay dead list --source 'my shop' --local",
  ])
})

test.each([
  [false, '2 messages since 2026-01-02T00:00:00.000Z: refused'],
  [true, 'at least 2 messages since 2026-01-02T00:00:00.000Z: refused'],
])(
  'dead letters of an HTTP feed are a problem with their time and cause (others are hidden: %s)',
  (more, words) => {
    const last = { at: '', delivery: '1', receives: 1, outcome: 'failed', error: 'refused' } as const
    const since = new Date('2026-01-02')
    const dead = { count: 2, more, since, last, deliveries: ['0', '1'] }
    expect(deadFinding({ flags }, 'my shop', dead).map(findingText)).toEqual([
      `!!    messages to the store "my shop" are dead letters: ${words}; a dead letter is sent again only when it is replayed\n` +
        "      → once the store accepts messages, send them again: relay dead replay --source 'my shop' --local",
    ])
  },
)

test('a key that is in use and expires soon is a note', async () => {
  const inDays = (days: number) => Math.floor(Date.now() / 1000) + days * DAY
  const hour = new Date(Date.now() - 3_600_000).toISOString().slice(0, 13)
  const parameterOf = (name: string, days: number) =>
    storeKeyParameter('', 'shop', name, { kind: 'full', name, expires: inDays(days) })
  const parameters = [parameterOf('used', 2), parameterOf('unused', 2), parameterOf('later', 30)]
  const idOf = ({ Name }: { Name: string }) => Name.split('/').at(-1) ?? ''
  const inUse = [parameters[0], parameters[2]].flatMap(each =>
    each === undefined ? [] : [keyUseItem(idOf(each)).delivery.S],
  )
  const context = {
    flags,
    nameOf,
    stores: () => [{ source: 'shop', feed: 'sqs' }],
    parameters: {
      below: async () =>
        parameters.map(each => ({
          name: each.Name.split('/').slice(-2).join('/'),
          value: each.Value,
          modified: new Date(0),
        })),
    },
    dynamodb: {
      getItem: async ({ Key }: { Key: { delivery: { S: string } } }) =>
        inUse.includes(Key.delivery.S) ? { Item: { used_at: { S: hour } } } : {},
    },
  } as unknown as Context
  expect((await expiryNotices(context)).map(findingText)).toEqual([
    expect.stringMatching(
      /^note {2}the key of "shop": the key "used" expires at .*\n.* relay stores key shop --local$/,
    ),
  ])
})

test('the number of orders with dead letters is a minimum if not all dead letters could be read', () => {
  const said = (dead: number, more_dead: boolean) =>
    deadNotices({ flags }, { dead, unnamed: 0, more_dead }).map(findingText)
  expect(said(0, false)).toEqual([])
  expect(said(1, false)).toEqual([expect.stringMatching(/^!! +1 order has dead letters: /)])
  expect(said(1035, false)).toEqual([expect.stringContaining('1,035')])
  expect(said(2, true)).toEqual([expect.stringContaining('orders with dead letters: at least 2: ')])
})

test.each([
  [1, false, '1 dead letter belongs to no order'],
  [2, false, '2 dead letters belong to no order'],
  [2, true, 'dead letters that belong to no order: at least 2'],
])(
  'dead letters that belong to no order are not counted as orders (%i, others are hidden: %s)',
  (unnamed, more_dead, words) => {
    expect(deadNotices({ flags }, { dead: 0, unnamed, more_dead }).map(findingText)).toEqual([
      `!!    ${words}: the worker cannot read such a message and quarantines it when it is replayed\n      → relay dead list --local`,
    ])
  },
)
