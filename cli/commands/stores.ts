import { randomBytes } from 'node:crypto'
import { readStores } from '../../deploy/stores.ts'
import { STORE_KEYS, storeKeyParameter } from '../../lib/api/keys.ts'
import { FEED_SECRETS } from '../../lib/feeds/secrets.ts'
import { cannot } from '../failure.ts'
import type { Place } from '../place/place.ts'
import { depth } from '../queues/browse.ts'
import { act, type Relay } from '../relay-command.ts'
import type { Report } from '../report.ts'
import { STORES_FILE } from '../root.ts'
import { readSecret } from '../secret-input.ts'
import { count, table } from '../table.ts'

const storeNamed = (source: string) => {
  const stores = readStores(STORES_FILE)
  const store = stores.find(candidate => candidate.source === source)
  if (store !== undefined) return store
  throw cannot(
    `find the store "${source}"`,
    `stores.yml has ${stores.map(known => `"${known.source}"`).join(', ')}`,
    'add it there and deploy',
  )
}

const keysOf = async (place: Place) =>
  (await place.parameters.below(STORE_KEYS)).map(({ name, modified }) => {
    const [source = '', id = ''] = name.split('/')
    return { source, id, since: modified }
  })

const list = async (place: Place): Promise<Report> => {
  const keys = await keysOf(place)
  const secrets = new Set((await place.parameters.below(FEED_SECRETS)).map(({ name }) => name))
  const stores = []
  for (const { source, feed } of readStores(STORES_FILE)) {
    const { all } = await depth(place, place.names.feed(source))
    stores.push({
      source,
      feed: feed === 'sqs' ? { kind: 'sqs' } : { kind: 'http', url: feed.http, secret: secrets.has(source) },
      waiting: all,
      keys: keys.filter(key => key.source === source).map(({ id, since }) => ({ id, since })),
    })
  }
  const rows = stores.map(({ source, feed, waiting, keys: ids }) => [
    source,
    feed.kind === 'sqs' ? 'sqs' : `${feed.url}${feed.secret ? '' : ' (no secret yet)'}`,
    waiting,
    ids.map(({ id }) => id).join(', '),
  ])
  return { data: { stores }, text: table(['SOURCE', 'FEED', 'WAITING', 'KEYS'], rows) }
}

const makeKey = async (place: Place, source: string): Promise<Report> => {
  storeNamed(source)
  const key = randomBytes(32).toString('base64url')
  const { Name, Value } = storeKeyParameter(place.names.secrets, source, key)
  const name = Name.slice(place.names.secrets.length + 1)
  await place.parameters.put(name, Value)
  const id = name.split('/').at(-1)
  const { apiUrl } = await place.deployment()
  return {
    data: { source, id, key, api: apiUrl },
    text: [
      key,
      `This is the only time it is shown: only its hash is kept, as ${id}. The store "${source}" sends it to`,
      `${apiUrl}/api/v1/orders/ as "Authorization: Bearer <key>".`,
    ].join('\n'),
  }
}

const revoke = async (place: Place, source: string, id: string): Promise<Report> => {
  const keys = (await keysOf(place)).filter(key => key.source === source)
  if (!keys.some(key => key.id === id)) {
    throw cannot(
      `revoke the key "${id}"`,
      keys.length === 0
        ? `the store "${source}" has no keys`
        : `the store "${source}" has ${keys.map(key => `"${key.id}"`).join(', ')}`,
    )
  }
  await place.parameters.remove(`${STORE_KEYS}/${source}/${id}`)
  return {
    data: { source, revoked: id, keys: keys.length - 1 },
    text: `Revoked; it stops working within five minutes. The store "${source}" has ${count(keys.length - 1, 'key')} left.`,
  }
}

const secret = async (place: Place, source: string, given: boolean): Promise<Report> => {
  const { feed } = storeNamed(source)
  if (feed === 'sqs') {
    throw cannot(`give "${source}" a secret`, 'its feed is an SQS queue, where nothing is signed')
  }
  const value = given
    ? await readSecret(`the secret of the store "${source}"`)
    : randomBytes(32).toString('hex')
  await place.parameters.put(`${FEED_SECRETS}/${source}`, value)
  return {
    data: { source, url: feed.http, ...(!given && { secret: value }) },
    text: given
      ? `Kept. What is sent to ${feed.http} is signed with it within five minutes.`
      : `${value}\nThe store "${source}" verifies with it what is sent to ${feed.http}. It takes effect within five minutes.`,
  }
}

/** `relay stores`: who the relay works for, and with which keys they come. */
export const storesCommands = (relay: Relay): void => {
  const stores = relay.command('stores').description('The stores of stores.yml, their keys and their feeds.')
  stores
    .command('list')
    .description('List the stores: how they are told, what waits for them, which keys they have.')
    .action((_options, command) => act(command, list))
  stores
    .command('key')
    .description("Make a key for the stores' API. It is shown once; only its hash is kept.")
    .argument('<source>', 'the store')
    .action((source, _options, command) => act(command, place => makeKey(place, source)))
  stores
    .command('revoke')
    .description('Take a key away.')
    .argument('<source>', 'the store')
    .argument('<id>', 'the key, as relay stores list shows it')
    .action((source, id, _options, command) => act(command, place => revoke(place, source, id)))
  stores
    .command('secret')
    .description('Make the secret with which the messages of an HTTP feed are signed; it is shown once.')
    .argument('<source>', 'the store')
    .option('--stdin', 'take it from standard input, or ask for it, instead of making one')
    .action((source, options, command) =>
      act(command, place => secret(place, source, options.stdin === true)),
    )
}
