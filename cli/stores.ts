import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { allow, policy } from '../deploy/cloudformation.ts'
import { CONSUME } from '../deploy/queues.ts'
import { storeKeyParameter } from '../lib/api/keys.ts'
import { FEED_TEST, httpDelivery } from '../lib/feeds/deliver.ts'
import { feedSecretParameters } from '../lib/feeds/secrets.ts'
import { httpClient } from '../lib/platform/http-client.ts'
import { feedQueueName, PARAMETERS, storeName } from '../lib/platform/names.ts'
import { queueNames } from '../lib/platform/stores.ts'
import { CREDENTIALS } from '../local/settings.ts'
import type { Cli } from './core/command.ts'
import { type Context, storeNamed } from './core/context.ts'
import { cannot, messageOf } from './core/errors.ts'
import { logOf } from './core/log.ts'
import { ORDER, positive, since } from './core/options.ts'
import { count, facts, lines, shellWord, table } from './core/output.ts'
import { depthOf } from './core/queue.ts'
import { ROOT } from './core/stack.ts'
import { readSecret } from './core/terminal.ts'
import { jsonOf, nowSeconds } from './core/webhook.ts'
import { RESEND_RATE, resendOrders } from './orders/resend.ts'

/** The stored keys of the stores' API, each with the name of its store. */
export const storeKeysOf = async ({ parameters }: Context) =>
  (await parameters.below(PARAMETERS.storeKeys)).map(({ name, modified }) => {
    const [store = '', id = ''] = name.split('/')
    return { store, id, since: modified }
  })

/** What the functions read from an index. */
export const INDEXED = [PARAMETERS.storeKeys, PARAMETERS.feedSecrets] as const

/** The names of the stores whose HTTP feed has a secret. */
export const storesWithSecret = async ({ parameters }: Context): Promise<ReadonlySet<string>> =>
  new Set((await parameters.below(PARAMETERS.feedSecrets)).map(({ name }) => name))

/** So far back errors of endpoints are looked for. */
export const ERROR_HOURS = 24

const FAILURES = ['feed message retried', 'feed message dead-lettered', 'feed disabled']
const DELIVERED = 'feed message delivered'

const failed = v.object({ error: v.object({ message: v.string() }) })

/** The last error of each store's endpoint in the log, unless it has accepted a message since. */
const feedErrors = async (context: Context) => {
  const errors = new Map<string, { at: Date; message: string }>()
  if (context.stores().every(({ feed }) => feed === 'sqs')) return errors
  const since = new Date(Date.now() - ERROR_HOURS * 60 * 60 * 1000)
  const log = logOf(context, { since, follow: false, messages: [...FAILURES, DELIVERED] })
  for await (const { at, message, fields } of log) {
    const source = String(fields.source)
    if (message === DELIVERED) errors.delete(source)
    else errors.set(source, { at, message: v.is(failed, fields) ? fields.error.message : message })
  }
  return errors
}

export const listStores = async (context: Context, { errors: isAsked = false }: { errors?: boolean }) => {
  const errors = isAsked ? await feedErrors(context) : undefined
  const keys = await storeKeysOf(context)
  const secrets = await storesWithSecret(context)
  const stores = []
  for (const { source, queue: given, feed } of context.stores()) {
    const name = storeName(source)
    const queue = feedQueueName(source, given)
    stores.push({
      source,
      feed:
        feed === 'sqs'
          ? { kind: 'sqs' as const }
          : { kind: 'http' as const, url: feed.http, secret: secrets.has(name) },
      queue: await context.queueUrl(queue),
      waiting: (await depthOf(context, queue)).all,
      keys: keys.filter(({ store }) => store === name).map(({ id, since }) => ({ id, since })),
      error: errors?.get(source),
    })
  }
  const rows = stores.map(({ source, feed, queue, waiting, keys: ids, error }) => [
    source,
    feed.kind === 'sqs' ? 'sqs' : `${feed.url}${feed.secret ? '' : ' (no secret)'}`,
    queue.slice(queue.lastIndexOf('/') + 1),
    waiting,
    ids.map(({ id }) => id).join(', '),
    ...(errors ? [error && `${error.at.toISOString()} ${error.message}`] : []),
  ])
  const columns = ['SOURCE', 'FEED', 'QUEUE', 'WAITING', 'KEYS', ...(errors ? ['LAST ERROR'] : [])]
  return { data: { stores }, text: table(columns, rows) }
}

const PACKAGE_IMPORT = /\/\/ In your own project: from ('[^']+')\n(import .* from) '[^']+'/

/** An example as a project of a store's own needs it: without its header, and with the package in place of its path. */
const example = (file: string): string => {
  const text = readFileSync(join(ROOT, 'examples', file), 'utf8')
  return text.slice(text.indexOf('import ')).replace(PACKAGE_IMPORT, '$2 $1').trimEnd()
}

/** What the developer of a store with an SQS feed needs. */
const forConsumer = ({ local, region }: Context, url: string, arn: string) => {
  // Version 1 of the AWS CLI ignores AWS_ENDPOINT_URL_SQS.
  const aws = local ? `aws --endpoint-url ${new URL(url).origin} sqs` : 'aws sqs'
  return {
    role_policy: policy(allow(CONSUME, [arn])),
    aws_cli: `${aws} receive-message --queue-url ${url} --message-system-attribute-names MessageGroupId --max-number-of-messages 10 --wait-time-seconds 20
${aws} delete-message --queue-url ${url} --receipt-handle "$RECEIPT_HANDLE"`,
    environment: {
      AWS_REGION: region,
      // The AWS CLI before version 2, and Python.
      AWS_DEFAULT_REGION: region,
      ...(local && {
        AWS_ENDPOINT_URL_SQS: new URL(url).origin,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      }),
    },
    code: example('sqs-consumer.ts').replace("process.argv[2] ?? ''", `'${url}'`),
  }
}

const forReceiver = () => ({
  environment: { FEED_SECRET: 'the secret of the feed', PORT: '8080' },
  code: example('http-receiver.ts'),
})

/** `relay stores show`. */
export const showStore = async (context: Context, source: string) => {
  const store = storeNamed(context, source)
  const { feed, consumers, dead_letter_after } = store
  const [name = '', deadName] = queueNames(store)
  const [url, { all: waiting, attributes }] = [await context.queueUrl(name), await depthOf(context, name)]
  const dead_letters = deadName === undefined ? undefined : (await depthOf(context, deadName)).all
  const { QueueArn: arn = '', Policy = '' } = attributes
  const secret = await context.parameters.get(`${PARAMETERS.feedSecrets}/${storeName(source)}`)
  const kind =
    feed === 'sqs'
      ? { kind: 'sqs', consumers, dead_letter_after, dead_letters }
      : { kind: 'http', url: feed.http, secret: secret !== undefined }
  const forStore = feed === 'sqs' ? forConsumer(context, url, arn) : forReceiver()
  // The code imports it.
  const snippets = { ...forStore, 'once.ts': example('once.ts') }
  const queue = { url, arn, waiting, policy: jsonOf(Policy) }
  const sections = Object.entries({ ...(Policy !== '' && { policy: queue.policy }), ...snippets })
  return {
    data: { source, feed: kind, queue, snippets },
    text: lines(
      facts({ source, ...kind, consumers: consumers?.join(', '), queue: url, arn, waiting }),
      ...sections.map(([title, content]) => [
        `\n${title}:\n`,
        typeof content === 'string' ? content : JSON.stringify(content, null, 2),
      ]),
    ),
  }
}

type KeyOptions = { readOnly?: boolean }

export const createKey = async (context: Context, source: string, { readOnly = false }: KeyOptions) => {
  storeNamed(context, source)
  const key = randomBytes(32).toString('base64url')
  const { Name, Value } = storeKeyParameter(context.secretsPath, source, key, readOnly)
  const name = Name.slice(context.secretsPath.length + 1)
  await context.parameters.put(name, Value)
  await context.parameters.writeIndex(PARAMETERS.storeKeys)
  const id = name.split('/').at(-1)
  const { apiUrl } = await context.stack()
  return {
    data: { source, id, key, readOnly, api: apiUrl },
    text: lines(
      key,
      `This key is shown only once; its hash is stored as ${id}. The store "${source}" sends it to`,
      `${apiUrl}/api/v1/orders/ as "Authorization: Bearer <key>".`,
      readOnly && 'It allows to read orders only.',
    ),
  }
}

export const revokeKey = async (context: Context, source: string, id: string) => {
  const keys = (await storeKeysOf(context)).filter(({ store }) => store === storeName(source))
  if (!keys.some(key => key.id === id)) {
    const found = keys.length === 0 ? 'no keys' : keys.map(key => `"${key.id}"`).join(', ')
    throw cannot(`revoke the key "${id}"`, `the store "${source}" has ${found}`)
  }
  await context.parameters.writeIndex(PARAMETERS.storeKeys, `${storeName(source)}/${id}`)
  await context.parameters.remove(`${PARAMETERS.storeKeys}/${storeName(source)}/${id}`)
  return {
    data: { source, revoked: id, keys: keys.length - 1 },
    text: `Revoked; the key stops working within a minute. The store "${source}" has ${count(keys.length - 1, 'key')} left.`,
  }
}

export const writeIndexes = async ({ parameters }: Context) => {
  for (const folder of INDEXED) await parameters.writeIndex(folder)
  return { data: { indexed: INDEXED }, text: 'The index of keys and secrets is written.' }
}

type SecretOptions = { stdin?: boolean }

export const setSecret = async (context: Context, source: string, { stdin = false }: SecretOptions) => {
  const { feed } = storeNamed(context, source)
  if (feed === 'sqs')
    throw cannot(`set a secret for "${source}"`, 'its feed is an SQS queue, whose messages are not signed')
  const value = stdin
    ? await readSecret(context.terminal, `the secret of the store "${source}"`)
    : `whsec_${randomBytes(32).toString('base64')}`
  const stored = await context.parameters.get(`${PARAMETERS.feedSecrets}/${storeName(source)}`)
  const replaced = stored === value ? undefined : stored
  const parameters = feedSecretParameters(source, value, replaced, nowSeconds())
  for (const [name, text] of Object.entries(parameters)) await context.parameters.put(name, text)
  await context.parameters.writeIndex(PARAMETERS.feedSecrets)
  const overlap = replaced === undefined ? '' : ' For a day they are also signed with the previous secret.'
  return {
    data: { source, url: feed.http, ...(!stdin && { secret: value }) },
    text: stdin
      ? `Stored. Messages to ${feed.http} are signed with it within a minute.${overlap}`
      : `${value}\nThe store "${source}" verifies messages to ${feed.http} with it; they are signed with it within a minute.${overlap}`,
  }
}

/**
 * The secret that signs the messages of an HTTP feed.
 *
 * @param action what needs it
 */
export const feedSecretOf = async (
  { parameters, flags }: Pick<Context, 'parameters' | 'flags'>,
  source: string,
  action: string,
): Promise<string> => {
  const secret = await parameters.get(`${PARAMETERS.feedSecrets}/${storeName(source)}`)
  if (secret !== undefined) return secret
  const remedy = `create it: relay stores secret ${shellWord(source)}${flags}`
  throw cannot(action, 'the store has no secret', remedy)
}

/** Delivers a message that is about no order, and shows what the store's endpoint answers. */
export const testFeed = async (context: Context, source: string) => {
  const { feed } = storeNamed(context, source)
  if (feed === 'sqs')
    throw cannot(`test the feed of "${source}"`, 'it is an SQS queue, which refuses no message')
  const secret = await feedSecretOf(context, source, `test the feed of "${source}"`)
  const event = FEED_TEST
  const delivery = randomUUID()
  const data = { source, external_id: event }
  const body = JSON.stringify({ event, delivery, version: 0, cause: { event, delivery }, data })
  const began = performance.now()
  const deliver = httpDelivery({ http: httpClient(), now: Date.now })
  const failure = await deliver({ url: feed.http, secrets: [secret], event, delivery, body }).then(
    () => undefined,
    messageOf,
  )
  const milliseconds = Math.round(performance.now() - began)
  return {
    data: { source, url: feed.http, delivery, accepted: failure === undefined, failure, milliseconds },
    ok: failure === undefined,
    text: `${failure ?? 'Accepted'} (${feed.http}, ${milliseconds} ms)`,
  }
}

/** `relay stores`: the stores, their keys and their feeds. */
export const storesCommands = ({ program, run }: Cli): void => {
  const stores = program
    .command('stores')
    .description('Manage the keys and feeds of the stores in stores.yml.')
  const ofStore = (name: string, description: string) =>
    stores.command(name).description(description).argument('<source>', 'source of the store')
  stores
    .command('list')
    .description(
      'List the stores with their feeds and queues, the number of waiting messages, and their keys.',
    )
    .option('--errors', `with the last error of each HTTP feed in the log of the last ${ERROR_HOURS} hours`)
    .action(run(listStores))
  ofStore(
    'show',
    "Show a store's feed: its queue with policy, consumers and number of waiting messages, and what its developer needs: code of a consumer or receiver, and the policy of the consumer's role.",
  ).action(run(showStore))
  ofStore('key', "Create a key for the stores' API. It is shown once; only its hash is stored.")
    .option('--read-only', 'a key that can read orders, but not create, pay, refund or withdraw them')
    .action(run(createKey))
  ofStore('revoke', 'Revoke a key.')
    .argument('<id>', 'id of the key, as listed by relay stores list')
    .action(run(revokeKey))
  stores
    .command('index')
    .description(
      'Write the index from which the functions read keys and secrets, in case parameters were changed by hand.',
    )
    .action(run(writeIndexes))
  ofStore(
    'secret',
    'Create the secret that signs the messages of an HTTP feed, or replace it. It is shown once; the previous one remains in use for a day.',
  )
    .option('--stdin', 'read the secret from standard input, or prompt for it, instead of creating one')
    .action(run(setSecret))
  ofStore(
    'test',
    `Send a signed message with the event ${FEED_TEST} to an HTTP feed, and show what it answers. The exit code is 1 unless it is 2xx.`,
  ).action(run(testFeed))
  ofStore(
    'resend',
    'Publish the present state of orders again, with the next version of each, after a store has lost its data. Repeating it is safe; when interrupted, it says how to continue.',
  )
    .option(
      '--since <when>',
      'the orders changed since: 2h, 7d, or a date; either this or --order is required',
      since,
    )
    .addOption(ORDER)
    .option('--after <external_id>', 'continue after this order')
    .option('--rate <number>', 'orders per second', positive, RESEND_RATE)
    .action(run(resendOrders))
}
