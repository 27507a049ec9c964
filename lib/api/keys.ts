import { createHash, timingSafeEqual } from 'node:crypto'
import type { DynamoDB } from '../platform/clients.ts'
import { setIfLater } from '../platform/dynamodb.ts'
import { DAY, type Runtime, unixSeconds } from '../platform/environment.ts'
import { PARAMETERS, storeName } from '../platform/names.ts'
import {
  NEW_VALUE_INTERVAL_MS,
  type ParameterCache,
  type Parameters,
  untilText,
} from '../platform/parameters.ts'
import type { Store } from '../platform/stores.ts'

const hashOf = (key: string) => createHash('sha256').update(key).digest()

/** The only action that a kind of key allows; a full key allows all. */
const ONLY = { full: undefined, 'read-only': 'read', 'create-only': 'create' } as const

export type KeyKind = keyof typeof ONLY

export const KEY_KINDS = Object.keys(ONLY) as readonly KeyKind[]

type KeyOptions = {
  /** @default full */
  kind?: KeyKind | undefined
  /** Unix time in seconds. */
  expires?: number | undefined
  /** For people, on one line. */
  name?: string | undefined
}

/**
 * The Parameter Store entry for a store's key: its SHA-256, never the key itself. Its name contains the beginning of
 * the hash, so that a store can have several keys and revoke one, and the kind. The display name is on a second
 * line, which the index of keys omits.
 *
 * @param secretsPath such as `/order-relay/production`
 */
export const storeKeyParameter = (
  secretsPath: string,
  source: string,
  key: string,
  { kind = 'full', expires, name }: KeyOptions = {},
) => {
  const hash = hashOf(key).toString('hex')
  const id = hash.slice(0, 12) + (kind === 'full' ? '' : `-${kind}`)
  const entry = expires === undefined ? hash : untilText(hash, expires)
  return {
    Name: `${secretsPath}/${PARAMETERS.storeKeys}/${storeName(source)}/${id}`,
    Type: 'SecureString',
    Value: name === undefined ? entry : `${entry}\n${name}`,
  } as const
}

/** A key in Parameter Store, from the name of its parameter below `store-keys`, and its value. */
export const storedKey = (parameter: string, text: string) => {
  const [store = '', id = ''] = parameter.split('/')
  const [entry = '', name] = text.split('\n')
  const [hash = '', until] = entry.split(' until ')
  const kind = KEY_KINDS.find(each => id.endsWith(`-${each}`)) ?? 'full'
  const expires = until === undefined ? undefined : Number(until)
  return { store, id, kind, name, hash, expires }
}

/** Whether a key with this expiry has expired; `now` in unix seconds. An unreadable expiry counts as past. */
export const isExpired = (expires: number | undefined, now: number): boolean =>
  expires !== undefined && !(expires > now)

/** What a bearer key allows: access to the orders of its source (promise P11), with all actions or only one. */
export type Access = {
  source: string
  id: string
  kind: KeyKind
  only: (typeof ONLY)[KeyKind]
  expired: boolean
}

/** The access of a bearer key; undefined when the key, or its store in stores.yml, is unknown. */
export type AccessOfKey = (key: string) => Promise<Access | undefined>

/**
 * Looks keys up among the stored hashes, by `<name of the store>/<key id>`. Compares every hash in constant time and
 * never stops early, so the time taken reveals nothing about them. A request with an unknown key causes the hashes to be read
 * again, at most every 15 seconds: a new key therefore works within 15 seconds. A revoked key stops working within a minute.
 */
export const storeKeys = (
  cache: ParameterCache,
  stores: readonly Store[],
  now: Runtime['now'],
): AccessOfKey => {
  const sources = new Map(stores.map(({ source }) => [storeName(source), source]))
  return key => {
    const presented = hashOf(key)
    return cache.find((stored: Parameters) => {
      let found: Access | undefined
      for (const [parameter, text] of Object.entries(stored)) {
        const { store, id, kind, hash: hex, expires } = storedKey(parameter, text)
        const hash = Buffer.from(hex, 'hex')
        if (hash.length !== presented.length || !timingSafeEqual(hash, presented)) continue
        const source = sources.get(store)
        const expired = isExpired(expires, unixSeconds(now()))
        if (source !== undefined) found ??= { source, id, kind, only: ONLY[kind], expired }
      }
      return found
    }, NEW_VALUE_INTERVAL_MS)
  }
}

/** How long the time of a key's last use is kept. */
const USE_KEPT = 400 * DAY

/** The item of the deliveries table with the last use of a key: `used_at`, an hour such as `2026-03-21T09`. */
export const keyUseItem = (id: string) => ({ delivery: { S: `key ${id}` } })

/** Records the hour of a key's last use, once an hour in each environment of the function. Never rejects. */
export const keyUses = (
  dynamodb: DynamoDB,
  table: string,
  { now, onError }: Pick<Runtime, 'now'> & { onError: (error: unknown) => void },
) => {
  const recorded = new Map<string, string>()
  return async (id: string): Promise<void> => {
    const hour = new Date(now()).toISOString().slice(0, 'YYYY-MM-DDTHH'.length)
    if (recorded.get(id) === hour) return
    recorded.set(id, hour)
    const expires = unixSeconds(now()) + USE_KEPT
    await setIfLater(dynamodb, table, keyUseItem(id), { name: 'used_at', value: hour, expires }).catch(
      onError,
    )
  }
}

/** The key of an `Authorization: Bearer` header (spec: Authentication). */
export const bearerKey = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
