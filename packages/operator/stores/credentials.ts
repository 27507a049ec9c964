import { randomBytes } from 'node:crypto'
import { storeKeyParameter } from '@order-relay/lib/api/keys.ts'
import { feedSecretParameters } from '@order-relay/lib/feeds/secrets.ts'
import { feedSecretName, PARAMETERS, storeName } from '@order-relay/lib/platform/names.ts'
import { newFeedSecret } from '@order-relay/lib/platform/registrations.ts'
import { ORDERS_PATH, REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { count, lines, shellWord } from '../core/output.ts'
import { readSecret } from '../core/terminal.ts'
import { nowSeconds } from '../core/webhook.ts'

/** The stored keys of the stores' API, with the name of their store. */
export const storeKeysOf = async ({ parameters }: Context) =>
  (await parameters.below(PARAMETERS.storeKeys)).map(({ name, modified }) => {
    const [store = '', id = ''] = name.split('/')
    return { store, id, since: modified }
  })

/** The folders that the functions read from an index. */
export const INDEXED = [PARAMETERS.storeKeys, PARAMETERS.feedSecrets] as const

/** Names of the stores whose HTTP feed has a secret. */
export const storesWithSecret = async ({ parameters }: Context): Promise<ReadonlySet<string>> =>
  new Set((await parameters.below(PARAMETERS.feedSecrets)).map(({ name }) => name))

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
      `${apiUrl}${ORDERS_PATH} as "Authorization: Bearer <key>".`,
      readOnly && 'It allows reading orders only.',
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
  if (feed.http === undefined) {
    const remedy = `the store gets one when it registers its URL: PUT ${REGISTRATION_PATH}`
    throw cannot(`set a secret for "${source}"`, 'the store registers its own URL', remedy)
  }
  const value = stdin
    ? await readSecret(context.terminal, `the secret of the store "${source}"`)
    : newFeedSecret()
  const stored = await context.parameters.get(feedSecretName(source))
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
 * @param action the action that needs it
 */
export const feedSecretOf = async (
  { parameters, flags }: Pick<Context, 'parameters' | 'flags'>,
  source: string,
  action: string,
): Promise<string> => {
  const secret = await parameters.get(feedSecretName(source))
  if (secret !== undefined) return secret
  const remedy = `create it: relay stores secret ${shellWord(source)}${flags}`
  throw cannot(action, 'the store has no secret', remedy)
}
