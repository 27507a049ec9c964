import { randomBytes } from 'node:crypto'
import {
  isExpired,
  type KeyKind,
  keyUseItem,
  storedKey,
  storeKeyParameter,
} from '@order-relay/lib/api/keys.ts'
import { feedSecretParameters } from '@order-relay/lib/feeds/secrets.ts'
import { DAY, HOUR, unixSeconds } from '@order-relay/lib/platform/environment.ts'
import { feedSecretName, PARAMETERS, storeName, TABLES } from '@order-relay/lib/platform/names.ts'
import { NEW_VALUE_INTERVAL_MS } from '@order-relay/lib/platform/parameters.ts'
import { newFeedSecret } from '@order-relay/lib/platform/registrations.ts'
import { ORDERS_PATH, REGISTRATION_PATH } from '@order-relay/lib/protocol/order.ts'
import { type Context, storeNamed } from '../core/context.ts'
import { cannot } from '../core/errors.ts'
import { count, lines, shellWord } from '../core/output.ts'
import { readSecret } from '../core/terminal.ts'
import { nowSeconds } from '../core/webhook.ts'
import { feedSecretsOf } from '../model/feed-secrets.ts'

/** The stored keys of the stores' API, with the name of their store. */
export const storeKeysOf = async ({ parameters }: Context) =>
  (await parameters.below(PARAMETERS.storeKeys)).map(({ name: parameter, value, modified }) => {
    const { hash: _, expires, ...key } = storedKey(parameter, value)
    const expired = isExpired(expires, nowSeconds())
    return {
      ...key,
      since: modified,
      expires: expires === undefined ? undefined : new Date(expires * 1000),
      expired,
    }
  })

export type StoredKey = Awaited<ReturnType<typeof storeKeysOf>>[number]

/** A key as lists show it. */
export const keyLabel = ({ id, name = id, expired }: StoredKey): string =>
  expired ? `${name} (expired)` : name

type UsedKey = Pick<StoredKey, 'kind' | 'expired'> & { used: Date | undefined }

/** Whether a key was used within a day. Only the hour of its last use is known. */
export const isInUse = ({ used, expired }: UsedKey, now: number) =>
  used !== undefined && !expired && Number(used) + HOUR * 1000 > now - DAY * 1000

/** Whether a store would lose its access without a key: the key is in use, and no other full key is. Pure. */
export const isOnlyInUse = <Key extends UsedKey>(keys: readonly Key[], key: Key, now: number): boolean =>
  isInUse(key, now) && !keys.some(each => each !== key && each.kind === 'full' && isInUse(each, now))

/** Adds to each key the hour in which it was last used. */
export const withUse = ({ dynamodb, nameOf }: Context, keys: readonly StoredKey[]) =>
  Promise.all(
    keys.map(async key => {
      const TableName = nameOf(TABLES.deliveries)
      const { Item } = await dynamodb.getItem({ TableName, Key: keyUseItem(key.id) })
      const hour = Item?.used_at?.S
      return { ...key, used: hour === undefined ? undefined : new Date(`${hour}:00Z`) }
    }),
  )

/** The keys of one store, with the hour in which each was last used, and whether the store's access depends on it. */
export const keysWithUse = async (context: Context, source: string) => {
  const keys = (await storeKeysOf(context)).filter(({ store }) => store === storeName(source))
  const used = await withUse(context, keys)
  // The API refuses the keys of a removed store.
  const isServed = context.stores().some(store => storeName(store.source) === storeName(source))
  return used.map(key => ({ ...key, only_in_use: isServed && isOnlyInUse(used, key, Date.now()) }))
}

/** The folders that the functions read from an index. */
export const INDEXED = [PARAMETERS.storeKeys, PARAMETERS.feedSecrets] as const

/** After a request with an unknown key, the API does not look up another unknown key for this time, in seconds. */
export const KEY_DELAY_SECONDS = NEW_VALUE_INTERVAL_MS / 1000

/** Fits on a line of a list. */
const NAME_MAX = 50

type NewKey = { name?: string | undefined; expires?: Date | undefined; kind?: KeyKind | undefined }

const ALLOWS = {
  full: false,
  'read-only': 'It allows reading orders only.',
  'create-only': 'It allows creating orders only, without a payment.',
} as const

export const createKey = async (
  context: Context,
  source: string,
  { name, expires, kind = 'full' }: NewKey,
) => {
  storeNamed(context, source)
  const action = `create a key for "${source}"`
  if (name !== undefined && (name === '' || [...name].length > NAME_MAX || /\p{Cc}/u.test(name)))
    throw cannot(action, `its name is "${name}"`, `use 1 to ${NAME_MAX} characters on one line`)
  if (expires !== undefined && expires.getTime() <= Date.now())
    throw cannot(action, `its expiry, ${expires.toISOString()}, is in the past`)
  const keys = (await storeKeysOf(context)).filter(({ store }) => store === storeName(source))
  if (name !== undefined && keys.some(key => name === key.name || name === key.id))
    throw cannot(action, `it has a key "${name}"`, 'choose another name, or revoke that key first')
  const key = randomBytes(32).toString('base64url')
  const { Name, Value } = storeKeyParameter(context.secretsPath, source, key, {
    kind,
    name,
    expires: expires && unixSeconds(expires.getTime()),
  })
  const parameter = Name.slice(context.secretsPath.length + 1)
  await context.parameters.put(parameter, Value)
  await context.parameters.writeIndex(PARAMETERS.storeKeys)
  const id = parameter.split('/').at(-1)
  const { apiUrl } = await context.stack()
  return {
    data: { source, id, key, name, kind, expires, api: apiUrl, delay: KEY_DELAY_SECONDS },
    text: key,
    about: lines(
      `This key is shown only once; its hash is stored as ${id}. The store "${source}" sends it to`,
      `${apiUrl}${ORDERS_PATH} as "Authorization: Bearer <key>".`,
      `It works within ${KEY_DELAY_SECONDS} seconds.`,
      ALLOWS[kind],
      expires !== undefined && `It expires at ${expires.toISOString()}.`,
    ),
  }
}

const isNamed =
  (given: string) =>
  ({ id, name }: Pick<StoredKey, 'id' | 'name'>) =>
    id === given || name === given

export const revokeKey = async (context: Context, source: string, given: string) => {
  const keys = (await storeKeysOf(context)).filter(({ store }) => store === storeName(source))
  const key = keys.find(isNamed(given))
  if (key === undefined) {
    const found = keys.length === 0 ? 'no keys' : keys.map(({ id, name = id }) => `"${name}"`).join(', ')
    throw cannot(`revoke the key "${given}"`, `the store "${source}" has ${found}`)
  }
  const parameter = `${storeName(source)}/${key.id}`
  await context.parameters.writeIndex(PARAMETERS.storeKeys, parameter)
  await context.parameters.remove(`${PARAMETERS.storeKeys}/${parameter}`)
  return {
    data: { source, revoked: key.id, keys: keys.length - 1 },
    text: `Revoked; the key stops working within a minute. The store "${source}" has ${count(keys.length - 1, 'key')} left.`,
  }
}

/**
 * Revokes a key. Revoking the only key in use requires confirmation.
 *
 * @param confirm asks for confirmation of the action by the name or id of the key
 */
export const revokeConfirmed = async (
  context: Context,
  source: string,
  given: string,
  confirm: (action: string, name: string) => unknown,
) => {
  const key = (await keysWithUse(context, source)).find(isNamed(given))
  if (key?.only_in_use) await confirm(`revoke the only key in use of "${source}"`, key.name ?? key.id)
  return revokeKey(context, source, given)
}

export const writeIndexes = async ({ parameters }: Context) => {
  for (const folder of INDEXED) await parameters.writeIndex(folder)
  return { data: { indexed: INDEXED }, text: 'The index of keys and secrets is written.' }
}

type SecretOptions = { stdin?: boolean }

/**
 * Creates or replaces the secret of an HTTP feed. Replacing it while its previous secret also signs requires confirmation.
 *
 * @param confirm asks for confirmation of the action by the name of the store
 */
export const setSecret = async (
  context: Context,
  source: string,
  { stdin = false }: SecretOptions,
  confirm: (action: string, name: string) => unknown,
) => {
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
  const signing = stored === undefined ? [] : await feedSecretsOf(context, source, 'set a secret')
  if (replaced !== undefined && signing.length > 1) {
    const effect = 'the previous one was replaced within the last day, and would no longer sign the messages'
    await confirm(`replace the secret of "${source}" (${effect})`, source)
  }
  const parameters = feedSecretParameters(source, value, replaced, nowSeconds())
  for (const [name, text] of Object.entries(parameters)) await context.parameters.put(name, text)
  await context.parameters.writeIndex(PARAMETERS.feedSecrets)
  const [soon, more] =
    replaced === undefined
      ? ['15 seconds', ` Then retry those that wait: relay feeds retry ${shellWord(source)}${context.flags}`]
      : ['a minute', ' For a day they are also signed with the previous secret.']
  const data = { source, url: feed.http, ...(!stdin && { secret: value }) }
  if (stdin)
    return { data, text: `Stored. Messages to ${feed.http} are signed with it within ${soon}.${more}` }
  return {
    data,
    text: value,
    about: `The store "${source}" verifies messages to ${feed.http} with this secret; they are signed with it within ${soon}.${more}`,
  }
}
