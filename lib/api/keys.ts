import { createHash, timingSafeEqual } from 'node:crypto'
import { cached, type Load, REFRESH_EVERY_MS } from '../secrets.ts'

const hashOf = (key: string) => createHash('sha256').update(key).digest()

/** Where the hashes of stores' keys are, below the path of the secrets. */
export const STORE_KEYS = 'store-keys'

/**
 * The Parameter Store entry for a store's key: its SHA-256, never the key itself. The entry is named by the
 * beginning of the hash, so that a store can have several keys, and one can be taken away.
 *
 * @param secretsPath such as `/order-relay/production`
 */
export const storeKeyParameter = (secretsPath: string, source: string, key: string) => {
  const hash = hashOf(key).toString('hex')
  return {
    Name: `${secretsPath}/${STORE_KEYS}/${source}/${hash.slice(0, 12)}`,
    Type: 'SecureString',
    Value: hash,
  } as const
}

/** The source that a bearer key belongs to; undefined when the key is not known. */
export type SourceOfKey = (key: string) => Promise<string | undefined>

/**
 * Looks keys up among the stored hashes, by `<source>/<key id>`. Every hash is compared in constant time and
 * none is skipped, so the time taken tells nothing of them. A new key works at once, for an unknown one makes
 * the hashes be read again, at most once a minute; a key taken away stops working within five minutes.
 */
export const storeKeys = (load: Load, now: () => number = Date.now): SourceOfKey => {
  const hashes = cached(load, now)
  let refreshedAt = Number.NEGATIVE_INFINITY

  const find = (key: string, stored: Readonly<Record<string, string>>) => {
    const presented = hashOf(key)
    let found: string | undefined
    for (const [name, hex] of Object.entries(stored)) {
      const hash = Buffer.from(hex, 'hex')
      if (hash.length === presented.length && timingSafeEqual(hash, presented)) found ??= name.split('/')[0]
    }
    return found
  }

  return async key => {
    const source = find(key, await hashes.get())
    if (source !== undefined || now() - refreshedAt < REFRESH_EVERY_MS) return source
    refreshedAt = now()
    return find(key, await hashes.refresh().catch(() => ({})))
  }
}

/** The key of an `Authorization: Bearer` header (spec: Authentication). */
export const bearerKey = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
