import { createHash, timingSafeEqual } from 'node:crypto'
import { PARAMETERS, storeName } from '../platform/names.ts'
import type { ParameterCache, Parameters } from '../platform/parameters.ts'
import type { Store } from '../platform/stores.ts'

const hashOf = (key: string) => createHash('sha256').update(key).digest()

const READ_ONLY = '-read-only'

/**
 * The Parameter Store entry for a store's key: its SHA-256, never the key itself. Its name contains the beginning of
 * the hash, so that a store can have several keys and revoke one, and the scope.
 *
 * @param secretsPath such as `/order-relay/production`
 */
export const storeKeyParameter = (secretsPath: string, source: string, key: string, readOnly = false) => {
  const hash = hashOf(key).toString('hex')
  const id = hash.slice(0, 12) + (readOnly ? READ_ONLY : '')
  return {
    Name: `${secretsPath}/${PARAMETERS.storeKeys}/${storeName(source)}/${id}`,
    Type: 'SecureString',
    Value: hash,
  } as const
}

/** What a bearer key allows: the orders of its source, to read or to change. */
type Access = { source: string; readOnly: boolean }

/** The access of a bearer key; undefined when the key, or its store in stores.yml, is unknown. */
export type AccessOfKey = (key: string) => Promise<Access | undefined>

/**
 * Looks keys up among the stored hashes, by `<name of the store>/<key id>`. Compares every hash in constant time and
 * never stops early, so the time taken reveals nothing about them. A new key works immediately: an unknown key causes
 * the hashes to be read again, at most once a minute. A revoked key stops working within a minute.
 */
export const storeKeys = (cache: ParameterCache, stores: readonly Store[]): AccessOfKey => {
  const sources = new Map(stores.map(({ source }) => [storeName(source), source]))
  return key => {
    const presented = hashOf(key)
    return cache.find((stored: Parameters) => {
      let found: Access | undefined
      for (const [name, hex] of Object.entries(stored)) {
        const hash = Buffer.from(hex, 'hex')
        if (hash.length !== presented.length || !timingSafeEqual(hash, presented)) continue
        const source = sources.get(name.split('/')[0] ?? '')
        if (source !== undefined) found ??= { source, readOnly: name.endsWith(READ_ONLY) }
      }
      return found
    })
  }
}

/** The key of an `Authorization: Bearer` header (spec: Authentication). */
export const bearerKey = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
