import { createHash, timingSafeEqual } from 'node:crypto'
import { PARAMETERS, storeName } from '../platform/names.ts'
import type { ParameterCache, Parameters } from '../platform/parameters.ts'
import type { Store } from '../platform/stores.ts'

const hashOf = (key: string) => createHash('sha256').update(key).digest()

/**
 * The Parameter Store entry for a store's key: its SHA-256, never the key itself. The entry is named by the
 * beginning of the hash, so that a store can have several keys, and one can be revoked.
 *
 * @param secretsPath such as `/order-relay/production`
 */
export const storeKeyParameter = (secretsPath: string, source: string, key: string) => {
  const hash = hashOf(key).toString('hex')
  return {
    Name: `${secretsPath}/${PARAMETERS.storeKeys}/${storeName(source)}/${hash.slice(0, 12)}`,
    Type: 'SecureString',
    Value: hash,
  } as const
}

/** The source a bearer key belongs to; undefined when the key, or its store in stores.yml, is unknown. */
export type SourceOfKey = (key: string) => Promise<string | undefined>

/**
 * Looks keys up among the stored hashes, by `<name of the store>/<key id>`. Compares every hash in constant time and
 * never stops early, so the time taken reveals nothing about them. A new key works immediately: an unknown
 * one makes the hashes be read again, at most once a minute. A revoked key stops working within a minute.
 */
export const storeKeys = (cache: ParameterCache, stores: readonly Store[]): SourceOfKey => {
  const sources = new Map(stores.map(({ source }) => [storeName(source), source]))
  return key => {
    const presented = hashOf(key)
    return cache.find((stored: Parameters) => {
      let found: string | undefined
      for (const [name, hex] of Object.entries(stored)) {
        const hash = Buffer.from(hex, 'hex')
        if (hash.length === presented.length && timingSafeEqual(hash, presented))
          found ??= sources.get(name.split('/')[0] ?? '')
      }
      return found
    })
  }
}

/** The key of an `Authorization: Bearer` header (spec: Authentication). */
export const bearerKey = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
