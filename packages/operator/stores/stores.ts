import { allow, policy } from '@order-relay/deploy/cloudformation.ts'
import { CONSUME } from '@order-relay/deploy/queues.ts'
import { relayHeaders } from '@order-relay/lib/feeds/deliver.ts'
import { feedQueueName, feedSecretName, storeName } from '@order-relay/lib/platform/names.ts'
import { queueNames, type Store } from '@order-relay/lib/platform/stores.ts'
import { REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import { readEnvironment } from '@order-relay/local/credentials.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { facts, findingText, lines, shellWord, table } from '../core/output.ts'
import { depthOf } from '../core/queue.ts'
import { jsonOf } from '../core/webhook.ts'
import { type DeadOfStore, deadFinding, deadOfHttp, type ReadDead } from '../feeds/dead.ts'
import { type FailingFeed, failingFeeds } from '../feeds/failing.ts'
import { storesWithSecret } from '../model/feed-secrets.ts'
import { messageMaker } from '../model/sample-messages.ts'
import { keyLabel, keysWithUse, storeKeysOf } from './credentials.ts'
import { registrationOf } from './endpoints.ts'
import { programsOf } from './programs.ts'

/** The feed of a store; `self` if the store registers its URL. */
const feedOf = async (context: Context, { source, feed }: Store, hasSecret: boolean) => {
  if (feed === 'sqs') return { kind: 'sqs' as const }
  if (feed.http !== undefined) return { kind: 'http' as const, url: feed.http, secret: hasSecret }
  return { kind: 'self' as const, ...(await registrationOf(context, source)) }
}

const feedText = (feed: Awaited<ReturnType<typeof feedOf>>): string => {
  if (feed.kind === 'sqs') return 'sqs'
  if (feed.kind === 'http') return `${feed.url}${feed.secret ? '' : ' (no secret)'}`
  return feed.url === undefined ? 'http (not registered)' : `${feed.url} (registered ${feed.since})`
}

const FEEDS = {
  sqs: 'SQS queue',
  http: 'HTTP, to the URL in stores.yml',
  self: 'HTTP, to the URL that the store registers',
}

/** The number of messages that the consumer of an SQS feed could not handle; undefined without a queue for them. */
export const deadLettersIn = async (context: Context, store: Store): Promise<number | undefined> => {
  const [, dead] = queueNames(store)
  return dead === undefined ? undefined : (await depthOf(context, dead)).all
}

/** The number of a store's dead letters, and whether there may be others that are hidden. */
const deadCountOf = async (context: Context, store: Store, dead: ReadonlyMap<string, DeadOfStore>) => {
  const own = dead.get(store.source)
  if (own === undefined)
    return { dead_letters: await deadLettersIn(context, store), more_dead_letters: false }
  return { dead_letters: own.count, more_dead_letters: own.more }
}

const deadText = ({ dead_letters, more_dead_letters }: Awaited<ReturnType<typeof deadCountOf>>) =>
  more_dead_letters ? `${dead_letters} or more` : dead_letters

/** The most recent failure: of a message that waits or, if no other message fails, of a dead letter. */
const lastErrorOf = (failing: readonly FailingFeed[] = [], dead: DeadOfStore | undefined) => {
  const [error] = failing.toSorted((a, b) => Number(b.at) - Number(a.at))
  if (error !== undefined) return error
  return dead?.last && { at: new Date(dead.last.at), message: dead.last.error }
}

/** @param read reads the dead letters, for example from a shared reading */
export const listStores = async (
  context: Context,
  { errors: isAsked = false }: { errors?: boolean },
  read?: ReadDead,
) => {
  const dead = await deadOfHttp(context, read)
  const deliveries = new Set([...dead.values()].flatMap(each => each.deliveries))
  const errors = isAsked ? await failingFeeds(context, deliveries) : undefined
  const keys = await storeKeysOf(context)
  const secrets = await storesWithSecret(context)
  const stores = []
  for (const store of context.stores()) {
    const { source, queue: given, exact = false } = store
    const name = storeName(source)
    const queue = feedQueueName(source, given)
    stores.push({
      source,
      exact,
      feed: await feedOf(context, store, secrets.has(name)),
      queue: await context.queueUrl(queue),
      waiting: (await depthOf(context, queue)).all,
      ...(await deadCountOf(context, store, dead)),
      keys: keys.filter(({ store }) => store === name),
      error: errors && lastErrorOf(errors.get(source), dead.get(source)),
    })
  }
  const rows = stores.map(({ source, exact, feed, queue, waiting, keys: own, error, ...letters }) => [
    source,
    `${feedText(feed)}${exact ? ', exact' : ''}`,
    queue.slice(queue.lastIndexOf('/') + 1),
    waiting,
    deadText(letters),
    own.map(keyLabel).join(', '),
    ...(errors ? [error && `${error.at.toISOString()} ${error.message}`] : []),
  ])
  const columns = ['SOURCE', 'FEED', 'QUEUE', 'WAITING', 'DEAD', 'KEYS', ...(errors ? ['LAST ERROR'] : [])]
  return { data: { stores }, text: table(columns, rows) }
}

/** A message to an exact store, with its headers or attributes. */
const sampleOf = (store: Store) => {
  const { json, attributes = {} } = messageMaker(store, 'order')('1', 1)
  const message = JSON.parse(json)
  return store.feed === 'sqs' ? { message, attributes } : { message, headers: relayHeaders(attributes) }
}

/** Information for the developer of a store with an SQS feed. */
const forConsumer = async ({ local, region, dataDir }: Context, url: string, arn: string) => {
  // Version 1 of the AWS CLI ignores AWS_ENDPOINT_URL_SQS.
  const aws = local ? `aws --endpoint-url ${new URL(url).origin} sqs` : 'aws sqs'
  return {
    role_policy: policy(allow(CONSUME, [arn])),
    aws_cli: `${aws} receive-message --queue-url ${url} --message-system-attribute-names MessageGroupId --message-attribute-names All --max-number-of-messages 10 --wait-time-seconds 20
${aws} delete-message --queue-url ${url} --receipt-handle "$RECEIPT_HANDLE"`,
    environment: local ? await readEnvironment(dataDir) : { AWS_REGION: region, AWS_DEFAULT_REGION: region },
  }
}

/** Information for the developer of a store with an HTTP feed. */
const forReceiver = async (context: Context, { source, feed }: Store, url = '') => {
  // An `https` URL leads to a proxy, whose port the receiver cannot have.
  const port = (url.startsWith('http:') && new URL(url).port) || '8080'
  const isSelf = feed !== 'sqs' && feed.http === undefined
  const from = isSelf
    ? 'the secret in the response to the registration'
    : `the secret that relay stores secret ${shellWord(source)}${context.flags} printed when it created or replaced it`
  const environment = { FEED_SECRET: from, PORT: port }
  if (!isSelf) return { environment }
  const { apiUrl } = await context.stack()
  const registered = url || (context.local ? `http://127.0.0.1:${port}/` : 'https://shop.example/webhook')
  const registration = `curl -X PUT ${apiUrl}${REGISTRATION_PATH} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify({ url: registered }))}`
  return { registration, environment }
}

/** The hour of a key's last use: `2026-03-21 09:00–10:00 UTC`. */
const hourText = (used: Date | undefined) => {
  if (used === undefined) return undefined
  const [from, to] = [used, new Date(used.getTime() + 3_600_000)].map(each =>
    each.toISOString().slice(11, 16),
  )
  return `${used.toISOString().slice(0, 10)} ${from}–${to} UTC`
}

/**
 * `relay stores show`.
 *
 * @param read reads the dead letters, for example from a shared reading
 */
export const showStore = async (context: Context, source: string, read?: ReadDead) => {
  const store = storeNamed(context, source)
  const { feed, exact = false, consumers, dead_letter_after } = store
  const [name = ''] = queueNames(store)
  const url = await context.queueUrl(name)
  const { all: waiting, inFlight: in_flight, attributes } = await depthOf(context, name)
  const dead = await deadOfHttp(context, read)
  const letters = await deadCountOf(context, store, dead)
  const own = dead.get(source)
  const { QueueArn: arn = '', Policy = '' } = attributes
  const secret = await context.parameters.get(feedSecretName(source))
  const keys = await keysWithUse(context, source)
  const { kind, ...endpoint } = await feedOf(context, store, secret !== undefined)
  const details = { ...endpoint, ...(feed === 'sqs' && { consumers, dead_letter_after }) }
  const snippets = {
    ...(feed === 'sqs'
      ? await forConsumer(context, url, arn)
      : await forReceiver(context, store, 'url' in endpoint ? endpoint.url : undefined)),
    ...programsOf(store, url),
    ...(exact && sampleOf(store)),
  }
  const messages = exact ? 'order.updated, as the service sends it' : undefined
  const queue = { url, arn, waiting, in_flight, policy: jsonOf(Policy) }
  const sections = Object.entries({ ...(Policy !== '' && { policy: queue.policy }), ...snippets })
  const rows = keys.map(key => [keyLabel(key), key.id, key.kind, key.since, key.expires, hourText(key.used)])
  return {
    data: { source, exact, feed: { kind, ...details, ...letters }, queue, keys, snippets },
    text: lines(
      facts({
        source,
        feed: FEEDS[kind],
        ...details,
        messages,
        consumers: consumers?.join(', '),
        queue: url,
        arn,
        waiting,
        'of these, in flight': in_flight,
        'dead letters': deadText(letters),
      }),
      (own === undefined ? [] : deadFinding(context, source, own)).map(findingText),
      keys.length > 0 && `\n${table(['KEY', 'ID', 'KIND', 'CREATED', 'EXPIRES', 'LAST USED'], rows)}`,
      ...sections.map(([title, content]) => [
        `\n${title}:\n`,
        typeof content === 'string' ? content : JSON.stringify(content, null, 2),
      ]),
    ),
  }
}
